package import Foundation

extension URL {
    /// Sets the time of the last change. In whole seconds: Foundation on Linux rounds the last half microsecond of a
    /// second up to a number that the system rejects.
    package func setModified(secondsFromNow seconds: Int) throws {
        let now = Date().timeIntervalSince1970.rounded(.down)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: now + Double(seconds))],
            ofItemAtPath: path(percentEncoded: false))
    }
}
