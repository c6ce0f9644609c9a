import Foundation

/// What a server sends.
protocol EtcdReply {
    init(_ json: ReplyJSON) throws
}

/// The JSON of a reply. In it, a missing member is zero, and so is null.
///
/// Foundation's decoder would take a third of the processor time of an update.
enum ReplyJSON {
    /// The bytes are not a reply of etcd.
    struct Malformed: Error {}

    case object([(name: String, value: ReplyJSON)])
    case list([ReplyJSON])
    /// With its quotes and escapes; a part of the reply, not a copy.
    case string(Data, isEscaped: Bool)
    /// A number, true, false or null.
    case word(Data)

    /// - Throws: `Malformed`.
    init(_ data: Data) throws {
        self = try ReplyParser.value(of: data)
    }

    private subscript(name: String) -> ReplyJSON? {
        get throws {
            guard case .object(let members) = self else { throw Malformed() }
            guard let member = members.first(where: { $0.name == name }) else { return nil }
            if case .word(let word) = member.value, word.first == UInt8(ascii: "n") { return nil }
            return member.value
        }
    }

    // MARK: - Members

    func reply<Reply: EtcdReply>(_ name: String) throws -> Reply? { try self[name].map { try Reply($0) } }

    func replies<Reply: EtcdReply>(_ name: String) throws -> [Reply] {
        guard let value = try self[name] else { return [] }
        guard case .list(let elements) = value else { throw Malformed() }
        return try elements.map { try Reply($0) }
    }

    /// A number, which the gateway writes as a string if it has 64 bits. The next revision is computed, so the largest is none.
    func number(_ name: String) throws -> Int64 {
        let digits: Data
        switch try self[name] {
        case nil: return 0
        case .string(let text, _): digits = text.dropFirst().dropLast()
        case .word(let word): digits = word
        case .object, .list: throw Malformed()
        }
        guard let value = Int64(String(decoding: digits, as: UTF8.self)), value < .max else { throw Malformed() }
        return value
    }

    func flag(_ name: String) throws -> Bool {
        guard let value = try self[name] else { return false }
        guard case .word(let word) = value, let flag = Bool(String(decoding: word, as: UTF8.self)) else {
            throw Malformed()
        }
        return flag
    }

    /// Bytes, which stand in the reply as base64.
    func bytes(_ name: String) throws -> Data? {
        guard let value = try self[name] else { return nil }
        guard case .string(let text, _) = value, let bytes = Data(base64Encoded: text.dropFirst().dropLast()) else {
            throw Malformed()
        }
        return bytes
    }

    func text(_ name: String) throws -> String? { try self[name].map { try $0.text } }

    fileprivate var text: String {
        get throws {
            guard case .string(let text, let isEscaped) = self else { throw Malformed() }
            if isEscaped { return try JSONDecoder().decode(String.self, from: text) }
            return String(decoding: text.dropFirst().dropLast(), as: UTF8.self)
        }
    }
}

/// Finds the values in the JSON of a reply, in time linear in its bytes.
private struct ReplyParser {
    private let data: Data
    private let bytes: UnsafeRawBufferPointer
    private var position = 0
    /// No reply of etcd is nested deeper.
    private static let mostLevels = 16

    static func value(of data: Data) throws -> ReplyJSON {
        try data.withUnsafeBytes { bytes in
            var parser = ReplyParser(data: data, bytes: bytes)
            let value = try parser.readValue(levels: mostLevels)
            guard parser.next == nil else { throw ReplyJSON.Malformed() }
            return value
        }
    }

    private mutating func readValue(levels: Int) throws -> ReplyJSON {
        guard levels > 0 else { throw ReplyJSON.Malformed() }
        switch next {
        case UInt8(ascii: "{"):
            var members: [(name: String, value: ReplyJSON)] = []
            try readElements(until: "}") { parser in
                let name = try parser.readString().text
                try parser.take(":")
                members.append((name, try parser.readValue(levels: levels - 1)))
            }
            return .object(members)
        case UInt8(ascii: "["):
            var elements: [ReplyJSON] = []
            try readElements(until: "]") { elements.append(try $0.readValue(levels: levels - 1)) }
            return .list(elements)
        case UInt8(ascii: "\""): return try readString()
        default:
            let start = position
            while position < bytes.count, !",]} \n\r\t".utf8.contains(bytes[position]) { position += 1 }
            guard position > start else { throw ReplyJSON.Malformed() }
            return .word(part(start..<position))
        }
    }

    private mutating func readElements(
        until end: Unicode.Scalar, _ readElement: (inout ReplyParser) throws -> Void
    ) throws {
        position += 1
        if next == UInt8(ascii: end) { return try take(end) }
        while true {
            try readElement(&self)
            if next == UInt8(ascii: end) { return try take(end) }
            try take(",")
        }
    }

    private mutating func readString() throws -> ReplyJSON {
        try take("\"")
        let start = position - 1
        var isEscaped = false
        var quote = first("\"", before: bytes.count)
        while let end = quote {
            guard let escape = first("\\", before: end) else {
                position = end + 1
                return .string(part(start..<position), isEscaped: isEscaped)
            }
            isEscaped = true
            position = escape + 2
            // The quote was escaped.
            if position > end { quote = first("\"", before: bytes.count) }
        }
        throw ReplyJSON.Malformed()
    }

    /// Where the mark comes next.
    private func first(_ mark: Unicode.Scalar, before end: Int) -> Int? {
        guard let base = bytes.baseAddress, position < end else { return nil }
        let found = memchr(base + position, Int32(mark.value), end - position)
        return found.map { UnsafeRawPointer($0) - base }
    }

    private func part(_ range: Range<Int>) -> Data {
        data[data.startIndex + range.lowerBound..<data.startIndex + range.upperBound]
    }

    /// The next byte that is not a blank; nil at the end.
    private var next: UInt8? {
        mutating get {
            while position < bytes.count, " \n\r\t".utf8.contains(bytes[position]) { position += 1 }
            return position < bytes.count ? bytes[position] : nil
        }
    }

    private mutating func take(_ mark: Unicode.Scalar) throws {
        guard next == UInt8(ascii: mark) else { throw ReplyJSON.Malformed() }
        position += 1
    }
}
