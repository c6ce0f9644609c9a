/// Why a value cannot be written in a format, and where it stands.
struct EncodingFailure: Error {
    /// From the top: `Root.key[3]`; empty for the whole.
    let path: String
    /// The first key of the path; empty for the whole.
    var topLevelKey = ""
    /// A clause without a full stop. It never holds the value.
    let reason: String
}

extension EncodingFailure: CustomStringConvertible {
    var description: String { path.isEmpty ? reason : "\(ShownText.path(path)): \(reason)" }
}
