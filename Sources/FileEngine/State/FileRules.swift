import Foundation
package import PrefsPropertyLists

/// What the stores on a file ask of it: one value for all stores of a process.
package struct FileRules: Sendable {
    /// Other code that writes the file and must stay in agreement. A file with a mirror belongs to a UserDefaults
    /// domain, so it is never "not ours".
    package struct DefaultsMirror: Sendable {
        /// Called under the cross-process lock, before the file is read for a change. Not called for a damaged file,
        /// which the other code would overwrite.
        let willChange: @Sendable () -> Void
        /// Called under the cross-process lock, after the file was replaced.
        let didChange: @Sendable () -> Void
        /// Gives the mirror the content of the file, after either call.
        let note: @Sendable (DomainContent?) -> Void

        package init(
            willChange: @escaping @Sendable () -> Void, didChange: @escaping @Sendable () -> Void,
            note: @escaping @Sendable (DomainContent?) -> Void
        ) {
            self.willChange = willChange
            self.didChange = didChange
            self.note = note
        }
    }

    package var mirror: DefaultsMirror?
    package var protection: FileProtection?
    /// The format of the file if a write creates it. The file may then be in this format, too.
    package var formatOfNewFile = FileFormat.binary {
        didSet {
            if !formatOfNewFile.isPropertyList || formatOfNewFile.coder.isForPeople { add(formatOfNewFile) }
        }
    }
    /// The formats of stores on the file that are not property lists, or that keep the text of one.
    private var otherFormats: [FileFormat] = []
    /// The number of those who ask that writes replace what a person has left malformed, and a file that is not ours.
    /// Its bytes are quarantined.
    package var replacesMistakes = 0
    package var replacesForeign = 0
    /// Whether a write quarantines what a person has left malformed, or is rejected. nil if no store has said so.
    private var quarantines: Bool?

    /// Adds a format in which the file may be. For a property list, this coder takes the place of the usual one, and keeps
    /// the text.
    package mutating func add(_ format: FileFormat) {
        if !otherFormats.contains(where: { $0.name == format.name }) { otherFormats.append(format) }
    }

    /// If the stores on the file differ, the write is rejected.
    package var quarantinesMistakes: Bool {
        get { quarantines == true }
        set { quarantines = newValue && quarantines != false }
    }

    /// The formats that are read: property lists, and the formats of the stores on the file, because other programs
    /// expect a property list unless a store says otherwise. The file of a UserDefaults domain is always a property list.
    var formats: [FileFormat] {
        if otherFormats.isEmpty { return .propertyLists }
        let lists = [FileFormat].propertyLists.map { list in otherFormats.first { $0.name == list.name } ?? list }
        return mirror == nil ? lists + otherFormats.filter { !$0.isPropertyList } : lists
    }

    /// The format of a commit that replaces a state.
    func format(replacing base: FileState) -> FileFormat {
        let format = base.format ?? formatOfNewFile
        return mirror != nil && !format.isPropertyList ? .binary : format
    }

    /// The format whose forms of values a new file has; nil for the exact ones.
    var formatOfValues: FileFormat? { mirror == nil ? otherFormats.last : nil }

    /// Whether a file is read alike under other rules, which also decide what kind of fault it has.
    func read(like other: FileRules) -> Bool {
        formats.map(\.name) == other.formats.map(\.name) && keepsText(like: other) && quarantines == other.quarantines
            && (mirror == nil) == (other.mirror == nil)
    }

    /// Whether the same formats keep their text.
    func keepsText(like other: FileRules) -> Bool {
        formats.map(\.coder.isForPeople) == other.formats.map(\.coder.isForPeople)
    }
}

extension FileFormat {
    fileprivate var isPropertyList: Bool { [FileFormat].propertyLists.contains { $0.name == name } }
}
