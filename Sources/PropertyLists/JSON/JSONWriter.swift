package import Foundation

/// Writes the JSON of ``ExportFormat/json``. JSONSerialization would lose 1.0, −0.0, the infinite and large integers.
package struct JSONWriter {
    /// Whether references of keyed archives are written as well, for people to see. No import reads them.
    private var showsUIDs = false
    /// Whether all is on one line, without spaces.
    private var isCompact = false
    /// Whether dictionaries are JSON as it is, and only an `ExportedValue` has the forms of an export.
    private var isPlain = false
    /// How many values the reader will count.
    private var nodes = 0
    private var bytes: [UInt8] = []

    /// - Throws: what the vetter says of objects of other programs.
    package static func data(of value: Any, showsUIDs: Bool = false) throws(PropertyListVetter.Refusal) -> Data {
        var writer = Self()
        writer.showsUIDs = showsUIDs
        guard writer.write(value, depth: 0) else {
            throw PropertyListVetter.Refusal(
                failures: (value as? [String: Any] ?? ["value": value]).flatMap { key, value in
                    if case .failure(let refusal) = PropertyListVetter.canonical(value, forKey: key) {
                        return refusal.failures
                    }
                    return []
                })
        }
        writer.bytes.append(UInt8(ascii: "\n"))
        return Data(writer.bytes)
    }

    /// One value on one line, for people.
    package static func line(of value: Any) -> String {
        var writer = Self()
        (writer.isCompact, writer.showsUIDs) = (true, true)
        return writer.write(value, depth: 0) ? String(decoding: writer.bytes, as: UTF8.self) : "\(value)"
    }

    /// A JSON document that is not an export. What is an export in it is an `ExportedValue`.
    package static func data(ofDocument document: [String: Any]) -> Data {
        var writer = Self()
        writer.isPlain = true
        guard writer.write(document, depth: 0) else { preconditionFailure("the document holds no canonical value") }
        writer.bytes.append(UInt8(ascii: "\n"))
        return Data(writer.bytes)
    }

    /// The bytes of a file.
    ///
    /// - Parameter limits: those of the reader, which would reject more values.
    static func data(ofFile value: Any, limits: JSONReader.Limits = .file) throws(EncodingFailure) -> Data {
        var writer = Self()
        guard writer.write(value, depth: 0) else {
            throw EncodingFailure(path: "", reason: "holds a value that cannot be stored in JSON")
        }
        guard writer.nodes <= limits.nodes else {
            throw EncodingFailure(path: "", reason: "more than \(limits.nodes) values")
        }
        writer.bytes.append(UInt8(ascii: "\n"))
        return Data(writer.bytes)
    }

    /// - Returns: false if the value is not a property-list value.
    private mutating func write(_ value: Any, depth: Int) -> Bool {
        nodes += 1
        if isPlain, let exported = value as? ExportedValue {
            isPlain = false
            defer { isPlain = true }
            return write(exported.value, depth: depth)
        }
        switch CanonicalForm(value) {
        case .text(let text):
            write(text)
        case .bool(let bool):
            write(.bool(bool))
        case .number(let number):
            write(CanonicalNumber(number))
        case .list(let elements):
            return writeItems(elements, "[", "]", depth: depth) { $0.write($1, depth: depth + 1) }
        case .dictionary(let dictionary):
            let isMarked = !isPlain && dictionary.count == 1 && dictionary.keys.allSatisfy(JSONForm.isMarked)
            let members = dictionary.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            return writeItems(members, "{", "}", depth: depth) { writer, member in
                writer.write(isMarked ? "$" + member.key : member.key)
                writer.bytes += (writer.isCompact ? ":" : ": ").utf8
                return writer.write(member.value, depth: depth + 1)
            }
        case .date(let date):
            let interval = date.timeIntervalSinceReferenceDate
            writeForm(JSONForm.date) { writer in
                if let text = JSONDate.text(of: interval) {
                    writer.write(text)
                } else {
                    writer.write(CanonicalNumber(interval))
                }
            }
        case .data(let data):
            writeForm(JSONForm.data) { $0.write(data.base64EncodedString()) }
        case .uid(let uid):
            guard showsUIDs else { return false }
            writeForm(KeyedArchiveUID.key) { $0.write(CanonicalNumber(uid.value)) }
        case .foreign:
            return false
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
            if !isFirst { bytes.append(UInt8(ascii: ",")) }
            isFirst = false
            startLine(depth + 1)
            guard writeItem(&self, item) else { return false }
        }
        if !isFirst { startLine(depth) }
        bytes += close.utf8
        return true
    }

    private mutating func startLine(_ depth: Int) {
        if isCompact { return }
        bytes.append(UInt8(ascii: "\n"))
        bytes += repeatElement(UInt8(ascii: " "), count: depth * 2)
    }

    private mutating func writeForm(_ key: String, _ writeContent: (inout JSONWriter) -> Void) {
        // The reader counts the object and its content.
        nodes += 1
        bytes += "{\"\(key)\":\(isCompact ? "" : " ")".utf8
        writeContent(&self)
        bytes += "}".utf8
    }

    private mutating func write(_ number: CanonicalNumber) {
        switch number {
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .integer(let value): bytes += value.description.utf8
        case .unsigned(let value): bytes += value.description.utf8
        case .double(let bits):
            let value = Double(bitPattern: bits)
            if value.isFinite {
                // Swift's own is the shortest, with a fraction or an exponent always.
                bytes += value.description.utf8
            } else if let form = JSONForm.nonfinite.first(where: { CanonicalNumber($0.value) == number }) {
                writeForm(JSONForm.double) { $0.write(form.name) }
            }
        }
    }

    private mutating func write(_ text: String) {
        JSONEscape.append(text, to: &bytes)
    }
}

/// A value in the form of an export, in a JSON document of another kind.
package struct ExportedValue {
    package let value: Any

    /// - Parameter value: in canonical form.
    package init(_ value: Any) { self.value = value }
}
