import Foundation

/// Reads an XML property list: strict, in linear time, on a stack of constant depth, independent of the locale.
///
/// Source: Apple's PropertyList-1.0 document type over XML 1.0. It accepts what Foundation, Python's plistlib and
/// libplist write and what people write by hand: comments, CDATA, processing instructions, a document type, UTF-8 and
/// UTF-16, blanks around numbers, dates and data, empty elements. Elements of other names, text between elements, and
/// values that do not parse are failures with line and column.
package struct XMLPropertyListReader {
    var scanner: XMLScanner
    /// The arrays and dictionaries around the position. The offset of a key is that of its tag.
    private var containers = ContainerStack()
    private var nodes = 0
    private var loss: String?

    /// Whether bytes begin like XML: with `<` after a byte order mark and blanks, in UTF-8 or UTF-16.
    package static func isXML(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let marks: [[UInt8]] = [[0xEF, 0xBB, 0xBF], [0xFF, 0xFE], [0xFE, 0xFF]]
        let mark = marks.first { bytes.starts(with: $0) }
        // The zeros belong to blanks and `<` in UTF-16.
        return bytes.dropFirst(mark?.count ?? 0).first { !(9...13).contains($0) && $0 != 0x20 && $0 != 0 }
            == UInt8(ascii: "<")
    }

    /// - Returns: the value, and why writing it back would lose something; nil if nothing would be lost.
    static func value(
        in bytes: UnsafeRawBufferPointer
    ) throws(PropertyListFault) -> (value: StoredValue, loss: String?) {
        guard let text = try XMLDocumentText.transcoded(bytes) else { return try read(bytes) }
        return try Data(text).withBytes { text throws(PropertyListFault) in try read(text) }
    }

    private static func read(_ bytes: UnsafeRawBufferPointer) throws(PropertyListFault) -> (
        value: StoredValue, loss: String?
    ) {
        var reader = Self(scanner: XMLScanner(bytes, texts: RecentTexts(of: bytes)))
        do throws(PropertyListFault) {
            let value = try reader.readDocument()
            return (value, reader.loss)
        } catch {
            throw reader.repetition() ?? error
        }
    }

    // MARK: - Document

    private mutating func readDocument() throws(PropertyListFault) -> StoredValue {
        try scanner.skipProlog()
        let start = scanner.position
        guard case .start(let name, let isEmpty) = try scanner.nextTag() else {
            throw scanner.failure("holds no value", at: start)
        }
        let value: StoredValue
        if scanner.isName(name, "plist") {
            guard !isEmpty, case .start(let name, let isEmpty) = try scanner.nextTag() else {
                throw scanner.failure("<plist> holds no value", at: start)
            }
            value = try readValue(name, isEmpty)
            try expectEnd("plist")
        } else if Self.elements.contains(where: { scanner.isName(name, $0) }) {
            // Foundation and plistlib read a value without <plist> around it.
            value = try readValue(name, isEmpty)
        } else {
            throw scanner.failure(
                "is XML, but its root element is <\(scanner.text(name))>, not <plist>", at: name.lowerBound - 1)
        }
        guard case .endOfDocument = try scanner.nextTag() else {
            throw scanner.failure("another element follows the value")
        }
        return value
    }

    private static let elements: [StaticString] = [
        "dict", "array", "string", "integer", "real", "true", "false", "date", "data",
    ]

    // MARK: - Values

    /// The value whose start tag was read. Containers are kept on a stack of our own.
    private mutating func readValue(_ name: Range<Int>, _ isEmpty: Bool) throws(PropertyListFault) -> StoredValue {
        var tag = (name: name, isEmpty: isEmpty)
        while true {
            var value = try readScalarOrBegin(tag.name, tag.isEmpty)
            // Each round closes a container or finds the next value.
            while true {
                if let complete = value {
                    guard containers.count > 0 else { return complete }
                    containers.add(complete)
                }
                if let next = try nextValueTag() {
                    tag = next
                    break
                }
                value = try endContainer()
            }
        }
    }

    /// The start tag of the next value in the innermost container, after its key; nil at the container's end.
    private mutating func nextValueTag() throws(PropertyListFault) -> (name: Range<Int>, isEmpty: Bool)? {
        let container: StaticString = containers.isInDictionary ? "dict" : "array"
        while true {
            let start = scanner.position
            switch try scanner.nextTag() {
            case .endOfDocument: throw scanner.failure("<\(container)> is not closed", at: containers.start)
            case .end(let name):
                guard scanner.isName(name, container) else { throw mismatch("\(container)", name) }
                guard !containers.isBehindKey else { throw scanner.failure("a key without a value", at: start) }
                return nil
            case .start(let name, let isEmpty):
                guard containers.isInDictionary else { return (name, isEmpty) }
                let isKey = scanner.isName(name, "key")
                if containers.isBehindKey {
                    guard !isKey else { throw scanner.failure("a key without a value", at: start) }
                    return (name, isEmpty)
                }
                guard isKey else {
                    throw scanner.failure("expected <key>, found <\(scanner.text(name))>", at: name.lowerBound - 1)
                }
                try countNode()
                let key = isEmpty ? "" : try content(of: "key")
                guard StreamSafeText.isSafe(key) else {
                    throw scanner.unsupported(StreamSafeText.reason, at: name.lowerBound - 1)
                }
                containers.add(key, at: name.lowerBound - 1)
            }
        }
    }

    /// The failure for a key that occurs twice before the position.
    private mutating func repetition() -> PropertyListFault? {
        guard let repeated = containers.repeatedKey(allowsSpellings: true) else { return nil }
        // The document has not ended there.
        scanner.position = repeated.second
        let (key, line) = (DictionaryCollector.quoted(repeated.key), scanner.line(at: repeated.first))
        return scanner.failure("the key \(key) occurs twice, first in line \(line)")
    }

    private mutating func endContainer() throws(PropertyListFault) -> StoredValue {
        let start = containers.start
        guard let ended = containers.end(allowsSpellings: true) else {
            // The caller says which.
            throw scanner.failure("a key occurs twice")
        }
        loss = loss ?? ended.loss
        guard let members = ended.value.dictionary, members.count == 1, let value = members[KeyedArchiveUID.key],
            value.isNumber
        else { return ended.value }
        // Foundation accepts every number and truncates it to 32 bits.
        guard case .integer(let value) = value, let value = UInt32(exactly: value) else {
            throw scanner.failure(
                "a dictionary with the lone key CF$UID whose number is not one of a keyed archive", at: start)
        }
        return .uid(KeyedArchiveUID(value: UInt64(value)))
    }

    /// Reads a scalar; nil if a container has begun.
    private mutating func readScalarOrBegin(
        _ name: Range<Int>, _ isEmpty: Bool
    ) throws(PropertyListFault) -> StoredValue? {
        let start = name.lowerBound - 1
        guard containers.count <= PropertyListLimits.fileDepth else {
            throw scanner.unsupported("nested deeper than \(PropertyListLimits.fileDepth) levels", at: start)
        }
        try countNode()
        if scanner.isName(name, "dict") || scanner.isName(name, "array") {
            let isDictionary = scanner.isName(name, "dict")
            if isEmpty { return isDictionary ? .dictionary([:]) : .array([]) }
            containers.begin(isDictionary: isDictionary, at: start)
            return nil
        }
        if scanner.isName(name, "string") {
            return .string(isEmpty ? "" : try content(of: "string"))
        }
        if scanner.isName(name, "true") { return try readBoolean("true", isEmpty, at: start) }
        if scanner.isName(name, "false") { return try readBoolean("false", isEmpty, at: start) }
        if scanner.isName(name, "data") {
            return try scalar("data", isEmpty, at: start) { XMLPropertyListScalar.data($0) }
        }
        if scanner.isName(name, "integer") {
            return try scalar("integer", isEmpty, at: start) { XMLPropertyListScalar.integer($0) }
        }
        if scanner.isName(name, "real") {
            return try scalar("real", isEmpty, at: start) { XMLPropertyListScalar.real($0) }
        }
        if scanner.isName(name, "date") {
            return try scalar("date", isEmpty, at: start) { XMLPropertyListScalar.date($0) }
        }
        throw scanner.failure("<\(scanner.text(name))> is not an element of a property list", at: start)
    }

    private mutating func countNode() throws(PropertyListFault) {
        nodes += 1
        guard nodes <= PropertyListLimits.fileNodes else {
            throw scanner.unsupported("has more than \(PropertyListLimits.fileNodes) values")
        }
    }
}

// MARK: - Scalars

extension XMLPropertyListReader {
    mutating func readBoolean(
        _ name: StaticString, _ isEmpty: Bool, at start: Int
    ) throws(PropertyListFault) -> StoredValue {
        if !isEmpty {
            let text = try content(of: name)
            guard text.utf8.allSatisfy({ $0 == 0x20 || (9...13).contains($0) }) else {
                throw scanner.failure("<\(name)> has content", at: start)
            }
        }
        return .bool(name.utf8CodeUnitCount == 4)
    }

    mutating func scalar(
        _ name: StaticString, _ isEmpty: Bool, at start: Int,
        _ parse: (String) -> StoredValue?
    ) throws(PropertyListFault) -> StoredValue {
        let text = isEmpty ? "" : try content(of: name)
        guard let value = parse(XMLPropertyListScalar.trimmed(text)) else {
            throw scanner.failure(XMLPropertyListScalar.reason(name), at: start)
        }
        return value
    }

    /// The text of an element whose start tag was read. The element must hold only text.
    mutating func content(of name: StaticString) throws(PropertyListFault) -> String {
        let text = try scanner.readText()
        try expectEnd(name)
        return text
    }

    mutating func expectEnd(_ name: StaticString) throws(PropertyListFault) {
        let start = scanner.position
        switch try scanner.nextTag() {
        case .end(let found) where scanner.isName(found, name): return
        case .end(let found): throw mismatch("\(name)", found)
        case .start(let found, _):
            throw scanner.failure("expected </\(name)>, found <\(scanner.text(found))>", at: found.lowerBound - 1)
        case .endOfDocument: throw scanner.failure("<\(name)> is not closed", at: start)
        }
    }

    func mismatch(_ name: String, _ found: Range<Int>) -> PropertyListFault {
        scanner.failure("expected </\(name)>, found </\(scanner.text(found))>", at: found.lowerBound - 2)
    }
}
