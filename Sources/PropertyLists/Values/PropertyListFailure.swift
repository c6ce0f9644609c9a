/// Why one value cannot be stored, and where in the hierarchy it stands.
///
/// Mirrors the coding path of `EncodingError`. A value type, safe to pass between threads.
public struct PropertyListFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// Where the offender stands: the top-level key, then `.key` and `[index]` steps, as in `Dictionary Value.a[3]`.
    public let path: String
    /// The key of the root under which the offender stands: the first step of `path`.
    public let topLevelKey: String
    /// What is wrong, as a clause without a full stop: `a closure cannot be stored in a property list`. It names
    /// types and limits, never the value.
    public let reason: String

    package init(path: String, topLevelKey: String, reason: String) {
        self.path = path
        self.topLevelKey = topLevelKey
        self.reason = reason
    }

    /// `path: reason`, on one line. A long path is shortened, and its control and format characters are escaped.
    public var description: String { "\(ShownText.path(path)): \(reason)" }
}
