/// The reason why a value cannot be stored or read, and its path.
///
/// ```swift
/// prefs["recent"] = [{ print("hi") }]
/// for failure in prefs.lastError?.failures ?? [] {
///     print(failure.path, failure.reason)  // recent[0] a closure cannot be stored in a property list
/// }
/// ```
///
/// Mirrors the coding path of `EncodingError`. A value type; may be passed between threads.
public struct PropertyListFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The path of the value: the top-level key, then `.key` and `[index]` steps, as in `Dictionary Value.a[3]`.
    public let path: String
    /// The first step of `path`: a key of the root.
    public let topLevelKey: String
    /// The problem, as a clause without a full stop: `a closure cannot be stored in a property list`. It names types
    /// and limits, and does not quote the value. For a check of yours, it is the text of the check.
    public let reason: String

    /// Creates a failure, for example one that a test expects.
    public init(path: String, topLevelKey: String, reason: String) {
        self.path = path
        self.topLevelKey = topLevelKey
        self.reason = reason
    }

    /// `path: reason`, on one line; the reason alone if the path is empty. A long path is cut at 1,000 Unicode scalars and a long reason at 1,200. Control and
    /// format characters are escaped.
    public var description: String {
        (path.isEmpty ? "" : "\(ShownText.path(path)): ") + ShownText.message(reason)
    }
}
