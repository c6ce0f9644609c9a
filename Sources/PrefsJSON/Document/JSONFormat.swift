import Foundation
public import PrefsPropertyLists

extension FileFormat {
    /// JSON, for files that people edit and keep in version control. Exact: a new file has the bytes of
    /// `exported(as: .json)`, with keys sorted and each value on its own line. In an existing file, a write changes the
    /// text of the values that it changes, and nothing else.
    ///
    /// Other programs that expect a property list, such as `UserDefaults`, do not read it. Therefore stores on a file
    /// read and write JSON only if one of them in this process was created with this format, and the file of a
    /// `UserDefaults` domain never becomes JSON.
    public static var json: FileFormat { FileFormat(JSONFormat.coder) }
}

extension [FileFormat] {
    /// The formats of a file that may be JSON.
    package static var all: [FileFormat] { propertyLists + [.json] }
}

extension FileFormat {
    /// JSON of which nothing is known but its text: a key gets no `$` where a reader would find a form.
    package static let plainJSON = FileFormat(JSONFormat(isPlain: true))

    /// JSON where a property list is as likely: what does not begin as an object is described as no property list.
    package static let jsonBesideLists = FileFormat(JSONFormat(isBesideLists: true))

    package var isJSON: Bool { name == FileFormat.json.name }
}

/// The format `FileFormat.json`.
final class JSONFormat: FileFormatCoder {
    fileprivate static let coder = JSONFormat()

    /// Whether only what begins as an object is JSON, so that other text is described as no property list.
    private let isBesideLists: Bool
    /// Whether keys are written as they are. For values that are a person's text.
    private let isPlain: Bool
    let name = "json"
    let fileExtension = "json"

    init(isBesideLists: Bool = false, isPlain: Bool = false) {
        (self.isBesideLists, self.isPlain) = (isBesideLists, isPlain)
    }

    var form: ValueForm { .jsonFile }

    /// After the formats of property lists, an error describes what is wrong with the JSON.
    func recognizes(_ bytes: UnsafeRawBufferPointer) -> Bool {
        if !isBesideLists { return true }
        let text = bytes.dropFirst(bytes.starts(with: JSONReader.byteOrderMark) ? JSONReader.byteOrderMark.count : 0)
        let first = text.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "/")
    }

    func value(in bytes: UnsafeRawBufferPointer) throws(PropertyListFault) -> (value: StoredValue, loss: String?) {
        (try JSONReader.value(of: bytes, limits: .file), nil)
    }

    var isForPeople: Bool { true }

    func bytes(
        from value: StoredValue, replacing former: StoredValue?, written: Data?
    ) throws(PropertyListFailure) -> FileBytes {
        guard let former, let written else { return FileBytes(try JSONWriter.data(ofFile: value, isPlain: isPlain)) }
        do {
            return try JSONText.bytes(changing: written, from: former, to: value, isPlain: isPlain)
        } catch {
            throw error as? PropertyListFailure
                ?? PropertyListFailure(path: "", topLevelKey: "", reason: "was changed during the attempt")
        }
    }
}
