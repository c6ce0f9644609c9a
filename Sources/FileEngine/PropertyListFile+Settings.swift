import Foundation
package import PrefsPropertyLists

/// Settings shared by the stores on this file.
extension PropertyListFile {
    package func setMirror(_ mirror: Mirror) {
        state.withLock { state in
            // Reads again, because the mirror decides whether a malformed file is ours, and whether JSON is read.
            if state.mirror == nil, state.snapshot?.fault != nil || state.snapshot?.format == .json {
                state.snapshot = nil
            }
            state.mirror = mirror
        }
    }

    package func setFormatOfNewFile(_ format: PropertyListFormat) {
        state.withLock { state in
            state.formatOfNewFile = format
            guard format == .json, !state.isJSONExpected else { return }
            state.isJSONExpected = true
            // Reads a malformed file again, because it may be JSON.
            if state.snapshot?.fault != nil { state.snapshot = nil }
        }
    }

    /// Whether JSON is read. True only if a store asks for it, because other programs expect a property list. Never
    /// true for the file of a UserDefaults domain.
    var readsJSON: Bool {
        state.withLock { $0.isJSONExpected && $0.mirror == nil }
    }

    /// The format of a commit that replaces a state.
    func format(replacing base: Snapshot) -> PropertyListFormat {
        state.withLock { state in
            let format = base.format ?? state.formatOfNewFile
            return format == .json && state.mirror != nil ? .binary : format
        }
    }

    /// Lets writes of this process replace a malformed file that is not ours. Its bytes are quarantined.
    package func replaceForeignFile() {
        state.withLock { $0.replacesForeignFile = true }
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
