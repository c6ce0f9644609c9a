/// The format of a file of preferences: `PropertyListFileStore(url: url, format: .xml)`.
public enum PropertyListFormat: String, Sendable, Hashable, CaseIterable {
    /// A binary property list. Compact and exact: dates keep their fraction. The default for a new file.
    case binary
    /// An XML property list, readable in a text editor. Dates are rounded down to the second.
    case xml
    /// JSON, for files that people edit and keep in version control. Exact: the file has the bytes of
    /// `exported(as: .json)`, with keys sorted and each value on its own line.
    ///
    /// Other programs that expect a property list, such as `UserDefaults`, do not read it. Therefore stores on a file
    /// read and write JSON only if one of them in this process was created with this format, and the file of a
    /// `UserDefaults` domain never becomes JSON.
    case json
}
