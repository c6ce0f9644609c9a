import Foundation
import PrefsPropertyLists

/// The file of a settings type and the one of its initial values: opened once, and kept for the next access.
final class SettingsFiles: @unchecked Sendable {
    let file: PropertyListDocument
    /// The initial values, kept from the first save.
    let initial: PropertyListDocument

    private static let lock = Lock()
    nonisolated(unsafe) private static var open: [URL: SettingsFiles] = [:]
    /// Each holds two descriptors.
    private static let capacity = 32

    static func at(_ url: URL, format: PropertyListFormat) throws(PrefsError) -> SettingsFiles {
        if let files = lock.withLock({ open[url] }) { return files }
        let files = try SettingsFiles(url, format)
        lock.withLock {
            if open.count >= capacity { open = [:] }
            open[url] = files
        }
        return files
    }

    private init(_ url: URL, _ format: PropertyListFormat) throws(PrefsError) {
        file = try PropertyListDocument(url: url, format: format)
        initial = try PropertyListDocument(url: url.appendingPathExtension("init"), format: format)
    }
}
