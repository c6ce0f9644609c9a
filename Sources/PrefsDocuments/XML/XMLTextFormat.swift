import Foundation
public import PrefsPropertyLists

extension FileFormat {
    /// An XML property list that people edit, such as a launchd job, an Info.plist or a configuration profile.
    ///
    /// ```swift
    /// import PrefsDocuments
    ///
    /// let store = PrefsStore.propertyList(url: url, format: .xml, layout: .flat)
    /// ```
    ///
    /// A write changes the text of the values that it changes, and nothing else: comments, order, indentation, line ends
    /// and encoding stay as they are. A new key comes after the others in the style of its neighbors, or in its place if
    /// the keys are sorted. A file that a person has left malformed stays where it is, until it is corrected; a write is
    /// rejected with ``PrefsError/damaged(_:)``, which has line and column. The last good copy has the text, too. Dates
    /// are rounded down to the second. See <doc:FilesThatPeopleEdit>.
    ///
    /// If one store on a file has this format, all stores on the file in this process keep its text. Without such a store,
    /// an existing XML file stays XML, but a write lays out its text anew. A binary file stays binary, and so does the
    /// domain of a `UserDefaults` object.
    public static var xml: FileFormat { FileFormat(XMLTextFormat.coder) }
}

/// The format `FileFormat.xml`.
final class XMLTextFormat: FileFormatCoder {
    fileprivate static let coder = XMLTextFormat()

    private let xml = FileFormat.plainXML.coder

    var name: String { xml.name }
    var isForPeople: Bool { true }

    func recognizes(_ bytes: UnsafeRawBufferPointer) -> Bool { xml.recognizes(bytes) }

    func value(in bytes: UnsafeRawBufferPointer) throws(PropertyListFault) -> (value: StoredValue, loss: String?) {
        try xml.value(in: bytes)
    }

    func storable(_ content: [String: StoredValue]) -> [String: StoredValue] { xml.storable(content) }

    func bytes(
        from value: StoredValue, replacing former: StoredValue?, written: Data?
    ) throws(PropertyListFailure) -> FileBytes {
        guard let former, let written else { return try xml.bytes(from: value, replacing: former, written: nil) }
        do {
            let bytes = try Self.bytes(changing: written, from: former, to: value)
            // The shortest value takes seven bytes, so that most texts need not be read.
            if bytes.count / 7 > PropertyListLimits.fileNodes, (try? bytes.joined.withUnsafeBytes(xml.value)) == nil {
                throw PropertyListFailure(
                    path: "", topLevelKey: "", reason: "more than \(PropertyListLimits.fileNodes) values")
            }
            return bytes
        } catch {
            throw error as? PropertyListFailure
                ?? PropertyListFailure(path: "", topLevelKey: "", reason: "was changed during the attempt")
        }
    }

    /// Changes the text in UTF-8, and returns it in its own encoding.
    private static func bytes(
        changing text: Data, from former: StoredValue, to new: StoredValue
    ) throws -> FileBytes {
        let (encoding, mark) = try text.withBytes(XMLDocumentText.encoding)
        let transcoded = try text.withBytes(XMLDocumentText.transcoded).map { Data($0) }
        let bytes = try ChangedText.bytes(of: transcoded ?? text, in: { XMLSyntax($0) }, from: former, to: new)
        if case .utf8 = encoding, transcoded == nil { return bytes }
        // No tool takes a text that had ASCII only for one that is not UTF-8.
        let isASCII = encoding == .latin1 && text.allSatisfy { $0 < 0x80 }
        return FileBytes(
            (transcoded == nil ? Data() : text.prefix(mark)) + encoded(bytes.joined, as: isASCII ? .ascii : encoding))
    }

    /// A character that the encoding does not have becomes a reference. Only new texts have one.
    private static func encoded(_ text: Data, as encoding: XMLDocumentText.Encoding) -> Data {
        switch encoding {
        case .utf8: return text
        case .utf16(let isBigEndian):
            var data = Data(capacity: 2 * text.count)
            for unit in String(decoding: text, as: UTF8.self).utf16 {
                let (high, low) = (UInt8(unit >> 8), UInt8(truncatingIfNeeded: unit))
                data.append(contentsOf: isBigEndian ? [high, low] : [low, high])
            }
            return data
        case .ascii, .latin1:
            let most: UInt32 = if case .latin1 = encoding { 0xFF } else { 0x7F }
            var data = Data(capacity: text.count)
            for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
                if scalar.value <= most {
                    data.append(UInt8(scalar.value))
                } else {
                    data.append(contentsOf: "&#\(scalar.value);".utf8)
                }
            }
            return data
        }
    }
}
