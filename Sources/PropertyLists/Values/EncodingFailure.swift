/// The reason why a value cannot be written in a format, and its place.
package struct EncodingFailure: Error {
    /// The path from the top: `Root.key[3]`; empty for the top level.
    package let path: String
    /// The first key of the path; empty for the whole.
    package var topLevelKey: String
    /// The reason, as a clause without a full stop. It never contains the value.
    package let reason: String

    package init(path: String, topLevelKey: String = "", reason: String) {
        (self.path, self.topLevelKey, self.reason) = (path, topLevelKey, reason)
    }
}

extension EncodingFailure: CustomStringConvertible {
    package var description: String { path.isEmpty ? reason : "\(ShownText.path(path)): \(reason)" }
}
