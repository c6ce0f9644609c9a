import Foundation
package import PrefsPropertyLists

/// Settings shared by the stores on this file.
extension PropertyListFile {
    package func setMirror(_ mirror: Mirror) {
        state.withLock { state in
            // Reads again, because the mirror decides whether a malformed file is ours, and which formats are read.
            if state.mirror == nil, state.snapshot?.fault != nil || !state.otherFormats.isEmpty {
                state.snapshot = nil
            }
            state.mirror = mirror
        }
    }

    /// Sets the format of the file if a write creates it. The file may then be in this format, too.
    package func setFormatOfNewFile(_ format: FileFormat) {
        state.withLock { state in
            state.formatOfNewFile = format
            guard ![FileFormat].propertyLists.contains(format), !state.otherFormats.contains(format) else { return }
            state.otherFormats.append(format)
            // Reads a malformed file again, because it may be in this format.
            if state.snapshot?.fault != nil { state.snapshot = nil }
        }
    }

    /// The formats that are read: property lists, and the formats of the stores on the file, because other programs
    /// expect a property list unless a store says otherwise. The file of a UserDefaults domain is always a property list.
    var formats: [FileFormat] {
        state.withLock { $0.mirror == nil ? .propertyLists + $0.otherFormats : .propertyLists }
    }

    /// The format of a commit that replaces a state.
    func format(replacing base: Snapshot) -> FileFormat {
        state.withLock { state in
            let format = base.format ?? state.formatOfNewFile
            return state.mirror != nil && state.otherFormats.contains(format) ? .binary : format
        }
    }

    /// The accepted form of the values in a state. A write of a missing file makes a file of the format of a new one.
    @inline(__always)
    func form(of snapshot: Snapshot) -> ValueForm {
        snapshot.form ?? format(replacing: snapshot).form
    }

    /// The accepted form of the values in the file when it was last read; before the first read, in a new file.
    var form: ValueForm {
        if let cached { return form(of: cached) }
        return state.withLock { $0.mirror == nil ? $0.otherFormats.last?.form ?? .exact : .exact }
    }

    /// Sets whether a write quarantines what a person has left malformed, or is rejected. If the stores on the file
    /// differ, it is rejected.
    package func setQuarantinesMistakes(_ quarantines: Bool) {
        state.withLock { state in
            let former = state.quarantinesMistakes
            state.quarantinesMistakes = quarantines && former != false
            // Reads a malformed file again, because the rule decides what kind of fault it is.
            if former != state.quarantinesMistakes, state.snapshot?.fault != nil { state.snapshot = nil }
        }
    }

    var quarantinesMistakes: Bool {
        state.withLock { $0.quarantinesMistakes == true }
    }

    /// Whether writes of this process replace a malformed file that is not ours, or that a person has left malformed. Its
    /// bytes are quarantined.
    package func replaceForeignFile() {
        state.withLock { $0.replacesForeignFile = true }
    }

    /// Runs the body, in which writes of this process also replace a malformed file.
    ///
    /// - Parameter isForeign: whether a file that is not ours is replaced, too.
    package func replacingMalformedFile<R>(isForeign: Bool = false, _ body: () throws -> R) rethrows -> R {
        state.withLock { $0.replacements[isForeign, default: 0] += 1 }
        defer { state.withLock { $0.replacements[isForeign, default: 1] -= 1 } }
        return try body()
    }

    /// Whether a write may quarantine and replace a malformed file.
    func replaces(_ kind: Snapshot.Fault.Kind) -> Bool {
        state.withLock { state in
            switch kind {
            case .damage: true
            case .mistake: state.replacesForeignFile || state.replacements.values.contains { $0 > 0 }
            case .foreign: state.replacesForeignFile || state.replacements[true, default: 0] > 0
            }
        }
    }

    package func setProtection(_ protection: FileProtection) {
        state.withLock { $0.protection = protection }
    }

    var newFileProtection: FileProtection? {
        state.withLock { $0.protection }
    }

    var currentMirror: Mirror? {
        state.withLock { $0.mirror }
    }
}
