package import Foundation

/// The format of a file of preferences.
///
/// ```swift
/// let store = PrefsStore.propertyList(url: url, format: .binary)
/// ```
///
/// ``binary`` is the only format of the product `PersistentPreferences`. Other products add formats, such as `xml` of
/// `PrefsDocuments`. Any thread.
public struct FileFormat: Sendable {
    package let coder: any FileFormatCoder

    package init(_ coder: some FileFormatCoder) {
        self.coder = coder
    }

    /// The name, such as `binary`. Formats are compared by it: an XML text and an XML file that a write lays out anew are
    /// the same format.
    package var name: String { coder.name }

    package var isXML: Bool { name == FileFormat.plainXML.name }
}

extension FileFormat? {
    /// The accepted form of the values in a file of the format; the exact one without a format.
    package var form: ValueForm { self?.coder.form ?? .exact }
}

/// The work of a file format. Another target may add a format. A class, because each state of a file has its format.
package protocol FileFormatCoder: AnyObject, Sendable {
    var name: String { get }
    /// The extension of a new file, without a dot.
    var fileExtension: String { get }
    /// The accepted form of the values.
    var form: ValueForm { get }
    /// Whether people write such files. `bytes` then changes the text of the replaced file, which may have comments and a
    /// form of its own, and a malformed file is a person's mistake.
    var isForPeople: Bool { get }
    /// Whether bytes are in the format, or are damaged bytes of the format.
    func recognizes(_ bytes: UnsafeRawBufferPointer) -> Bool
    /// Reads bytes that were recognized.
    ///
    /// - Returns: the value, and why writing it back would lose an entry; nil if nothing would be lost.
    func value(in bytes: UnsafeRawBufferPointer) throws(PropertyListFault) -> (value: StoredValue, loss: String?)
    /// The content that a read will return after a write of this content.
    func storable(_ content: [String: StoredValue]) -> [String: StoredValue]
    /// Returns the bytes of a file with a value. The failure may have no path, because one value of many is at fault.
    ///
    /// - Parameters:
    ///   - former: the value of the replaced file, in the same format. Values that readers of XML read differently are
    ///     kept if they are in it.
    ///   - written: the bytes of the former value, if people write the format: all stays that does not change.
    func bytes(
        from value: StoredValue, replacing former: StoredValue?, written: Data?
    ) throws(PropertyListFailure) -> FileBytes
}

extension FileFormatCoder {
    package var fileExtension: String { "plist" }
    package var form: ValueForm { .exact }
    package var isForPeople: Bool { false }
    package func storable(_ content: [String: StoredValue]) -> [String: StoredValue] { content }
}

extension [FileFormat] {
    /// The first format that recognizes bytes, which may be damaged; nil if no format does.
    package func recognizing(_ bytes: UnsafeRawBufferPointer) -> FileFormat? {
        first { $0.coder.recognizes(bytes) }
    }
}
