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

    /// The accepted form of the values in the file when it was last read; before the first read, in a new file.
    var form: ValueForm {
        state.withLock { state in
            if let snapshot = state.snapshot { return snapshot.form }
            return state.mirror == nil ? state.otherFormats.last?.form ?? .exact : .exact
        }
    }

    /// Whether writes of this process replace a malformed file that is not ours. Its bytes are quarantined.
    package func replaceForeignFile(_ isAllowed: Bool = true) {
        state.withLock { $0.replacesForeignFile = isAllowed }
    }

    var replacesForeignFile: Bool {
        state.withLock { $0.replacesForeignFile }
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
