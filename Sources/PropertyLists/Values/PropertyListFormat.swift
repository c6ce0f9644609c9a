/// How a property list is written to a file.
public enum PropertyListFormat: String, Sendable, Hashable, CaseIterable {
    /// Exact and compact: dates keep their fraction. The default for a new file.
    case binary
    /// Readable in an editor; dates are rounded down to the second.
    case xml
}
