package import Foundation
package import PersistentPreferences
package import PrefsPropertyLists

/// Writes the JSON of ``ExportFormat/json``. JSONSerialization would lose 1.0, −0.0, infinite numbers and large
/// integers.
package struct JSONWriter {
    /// Whether references of keyed archives and foreign objects are written as well, for people to see. No import reads
    /// them.
    private var showsAll = false
    /// The blanks between the parts.
    private var layout = Layout(lineEnd: Array("\n".utf8), step: Array("  ".utf8), colon: Array(": ".utf8))

    /// The blanks of a text.
    struct Layout {
        /// The end of a line, and the indentation of the outermost value; nil if all is on one line.
        let lineEnd: [UInt8]?
        /// One step of indentation.
        let step: [UInt8]
        /// What is between a key and its value.
        let colon: [UInt8]
        /// What follows a comma on one line.
        var space = Array(" ".utf8)

        /// All on one line, without spaces.
        static let compact = Layout(lineEnd: nil, step: [], colon: Array(":".utf8), space: [])
    }
    /// Whether keys are written without an additional `$`.
    private var isPlain = false
    /// Whether the outermost dictionary is that of a file, which is a dictionary whatever its keys are.
    private var isOfFile = false
    /// The number of values that the reader will count.
    private var nodes = 0
    private var bytes: [UInt8] = []

    /// - Throws: `PrefsError.valuesNotPlistCompatible` for objects of other programs.
    package static func data(
        of value: StoredValue, showsAll: Bool = false
    ) throws(PrefsError) -> Data {
        var writer = Self()
        writer.showsAll = showsAll
        if writer.write(value, depth: 0) { return writer.data }
        var failures: [PropertyListFailure] = []
        for (key, value) in value.dictionary ?? ["value": value] {
            do { try PropertyListVetter.check(value) } catch { failures += error.failures(forKey: key) }
        }
        throw .unsupportedValues(failures)
    }

    /// One value on one line, for display.
    package static func line(of value: StoredValue) -> String {
        var writer = Self()
        (writer.layout, writer.showsAll) = (.compact, true)
        _ = writer.write(value, depth: 0)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// A JSON document that is not an export, such as a schema. Its dictionaries are written as they are; exported
    /// values in it are made by `JSONForm.exported`.
    package static func data(ofDocument document: [String: StoredValue]) -> Data {
        var writer = Self()
        writer.isPlain = true
        _ = writer.write(.dictionary(document), depth: 0)
        return writer.data
    }

    /// The bytes of a file.
    ///
    /// - Parameter limits: the limits of the reader, which would reject more values.
    static func data(
        ofFile value: StoredValue, isPlain: Bool = false, limits: JSONReader.Limits = .file
    ) throws(PropertyListFailure) -> Data {
        var writer = Self()
        (writer.isOfFile, writer.isPlain) = (true, isPlain)
        try writer.writePart(value)
        guard writer.nodes <= limits.nodes else {
            throw PropertyListFailure(path: "", topLevelKey: "", reason: "more than \(limits.nodes) values")
        }
        return writer.data
    }

    /// The text of a value inside of another text.
    ///
    /// - Parameter isOfFile: whether it is the outermost value of a file.
    static func bytes(
        of value: StoredValue, layout: Layout, isOfFile: Bool, isPlain: Bool
    ) throws(PropertyListFailure) -> [UInt8] {
        var writer = Self()
        (writer.layout, writer.isOfFile, writer.isPlain) = (layout, isOfFile, isPlain)
        try writer.writePart(value)
        return writer.bytes
    }

    private mutating func writePart(_ value: StoredValue) throws(PropertyListFailure) {
        guard write(value, depth: 0) else {
            throw PropertyListFailure(path: "", topLevelKey: "", reason: "holds a value that cannot be stored in JSON")
        }
    }

    private var data: Data { Data(bytes + "\n".utf8) }

    /// - Returns: false if something cannot be written: a foreign object or a reference of a keyed archive, unless they
    ///   are shown. The text is incomplete then.
    private mutating func write(_ value: StoredValue, depth: Int) -> Bool {
        nodes += 1
        switch value {
        case .string(let text): write(text)
        case .bool(let bool): bytes += (bool ? "true" : "false").utf8
        case .integer(let number): bytes += number.description.utf8
        case .unsigned(let number): bytes += number.description.utf8
        case .real(let number):
            if let name = JSONForm.name(of: number) {
                writeForm(JSONForm.double, .string(name))
            } else {
                // Swift's description is the shortest, and always has a fraction or an exponent.
                bytes += number.description.utf8
            }
        case .decimal(let text): bytes += text.utf8
        case .array(let elements):
            return writeItems(elements, "[", "]", depth: depth) { $0.write($1, depth: depth + 1) }
        case .dictionary(let members):
            let isMarked = !isPlain && !(isOfFile && depth == 0) && JSONForm.isMistakable(members)
            return writeItems(members.sortedByBytes, "{", "}", depth: depth) { writer, member in
                writer.write(isMarked ? "$" + member.key : member.key)
                writer.bytes += writer.layout.colon
                return writer.write(member.value, depth: depth + 1)
            }
        case .date(let date): writeForm(JSONForm.date, JSONForm.content(of: date))
        case .data(let data): writeForm(JSONForm.data, .string(data.base64EncodedString()))
        case .null: bytes += "null".utf8
        case .foreign:
            guard showsAll else { return false }
            write("object")
        case .uid(let uid):
            guard showsAll else { return false }
            writeForm(KeyedArchiveUID.key, StoredValue(uid.value))
        }
        return true
    }

    private mutating func writeItems<Items: Collection>(
        _ items: Items, _ open: String, _ close: String, depth: Int,
        writeItem: (inout JSONWriter, Items.Element) -> Bool
    ) -> Bool {
        bytes += open.utf8
        var isFirst = true
        for item in items {
            if !isFirst {
                bytes.append(UInt8(ascii: ","))
                if layout.lineEnd == nil { bytes += layout.space }
            }
            isFirst = false
            startLine(depth + 1)
            guard writeItem(&self, item) else { return false }
        }
        if !isFirst { startLine(depth) }
        bytes += close.utf8
        return true
    }

    private mutating func startLine(_ depth: Int) {
        guard let lineEnd = layout.lineEnd else { return }
        bytes += lineEnd
        for _ in 0..<depth { bytes += layout.step }
    }

    /// The reader counts the object and its content.
    private mutating func writeForm(_ key: String, _ content: StoredValue) {
        bytes += "{\"\(key)\"".utf8
        bytes += layout.colon
        _ = write(content, depth: 0)
        bytes += "}".utf8
    }

    private mutating func write(_ text: String) {
        JSONEscape.append(text, to: &bytes)
    }
}
