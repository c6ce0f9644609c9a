import Foundation
import PersistentPreferences
import PrefsPropertyLists

/// The file of a settings type and the file of its initial values. Both stay open for the next access.
final class SettingsFiles: Sendable {
    let file: PropertyListDocument
    /// The document with the values with which a load has created the file.
    let initial: PropertyListDocument

    private static let open = Locked([URL: SettingsFiles]())
    /// The most files that are kept open. Each holds two descriptors.
    private static let capacity = 32

    static func at(_ url: URL, format: FileFormat) throws(PrefsError) -> SettingsFiles {
        if let files = open.withLock({ $0[url] }) { return files }
        let files = try SettingsFiles(url, format)
        open.withLock {
            if $0.count >= capacity { $0 = [:] }
            $0[url] = files
        }
        return files
    }

    // MARK: - First accesses

    /// The files whose values were loaded or saved. After that, a value may hold a user's edits instead of the initial
    /// values.
    private static let used = Locked(Set<URL>())

    static func markUsed(_ url: URL) { used.withLock { _ = $0.insert(url) } }

    static func isUsed(_ url: URL) -> Bool { used.withLock { $0.contains(url) } }

    private init(_ url: URL, _ format: FileFormat) throws(PrefsError) {
        file = try PropertyListDocument(url: url, format: format)
        initial = try PropertyListDocument(url: url.appendingPathExtension("init"), format: format)
    }
}
