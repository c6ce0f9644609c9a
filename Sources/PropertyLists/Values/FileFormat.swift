package import Foundation

/// The format of a file of preferences.
///
/// ```swift
/// let store = PropertyListFileStore(url: url, format: .xml)
/// ```
///
/// A value of this type recognizes, reads and writes the bytes of its format. Two formats are equal if they have the
/// same name. Another module may add a format. Any thread.
public struct FileFormat: Sendable, Hashable, CustomStringConvertible {
    /// A binary property list. Compact and exact: dates keep their fraction. The default for a new file.
    public static var binary: FileFormat { FileFormat(BinaryFormat()) }
    /// An XML property list, readable in a text editor. Dates are rounded down to the second.
    public static var xml: FileFormat { FileFormat(XMLFormat()) }

    package let coder: any FileFormatCoder

    package init(_ coder: some FileFormatCoder) {
        self.coder = coder
    }

    /// The name, such as `binary`.
    public var description: String { coder.name }

    /// Whether both formats have the same name.
    public static func == (left: FileFormat, right: FileFormat) -> Bool { left.coder.name == right.coder.name }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(coder.name) }

    /// The accepted form of the values in a file of the format.
    package var form: ValueForm { coder.form }
}

/// The work of a file format. Another target may add a format.
package protocol FileFormatCoder: Sendable {
    var name: String { get }
    /// The extension of a new file, without a dot.
    var fileExtension: String { get }
    /// The accepted form of the values.
    var form: ValueForm { get }
    /// Whether people write such files. `data` then changes the text of the replaced file, which may have comments and a
    /// form of its own, and a malformed file is a person's mistake.
    var isForPeople: Bool { get }
    /// Whether bytes are in the format, or are damaged bytes of the format.
    func recognizes(_ bytes: UnsafeRawBufferPointer) -> Bool
    /// Reads bytes that were recognized.
    ///
    /// - Returns: the value, and why writing it back would lose an entry; nil if nothing would be lost.
    func value(in bytes: UnsafeRawBufferPointer) throws(DecodingFailure) -> (value: StoredValue, loss: String?)
    /// The content that a read will return after a write of this content.
    func storable(_ content: [String: StoredValue]) -> [String: StoredValue]
    /// As `PropertyListCoder.encode`.
    func data(
        from value: StoredValue, replacing former: StoredValue?, written: Data?
    ) throws(EncodingFailure) -> Data
}

extension FileFormatCoder {
    package var fileExtension: String { "plist" }
    package var form: ValueForm { .exact }
    package var isForPeople: Bool { false }
    package func storable(_ content: [String: StoredValue]) -> [String: StoredValue] { content }
}

extension [FileFormat] {
    /// The formats that the file of any store may have.
    package static var propertyLists: [FileFormat] { [.binary, .xml] }

    /// The first format that recognizes bytes, which may be damaged; nil if no format does.
    package func recognizing(_ bytes: UnsafeRawBufferPointer) -> FileFormat? {
        first { $0.coder.recognizes(bytes) }
    }
}
