/// The format of a property-list file: `PropertyListFileStore(url: url, format: .xml)`.
public enum PropertyListFormat: String, Sendable, Hashable, CaseIterable {
    /// Compact and exact: dates keep their fraction. The default for a new file.
    case binary
    /// Readable in a text editor. Dates are rounded down to the second.
    case xml
}
