import Foundation

// The encoding of messages, protobuf (protobuf.dev/programming-guides/encoding).

/// Writes the fields of a message. A number that is zero, and a text that is empty are left out, as every reader expects.
struct ProtobufWriter {
    private(set) var bytes: [UInt8] = []

    mutating func add(_ field: UInt64, _ number: Int64) {
        if number == 0 { return }
        append(field << 3)
        append(UInt64(bitPattern: number))
    }

    mutating func add(_ field: UInt64, _ flag: Bool) { add(field, flag ? 1 : 0) }

    mutating func add(_ field: UInt64, _ text: some Collection<UInt8>) {
        if !text.isEmpty { add(field, all: text) }
    }

    /// A message, also an empty one.
    mutating func add(_ field: UInt64, _ write: (inout ProtobufWriter) -> Void) {
        var message = ProtobufWriter()
        write(&message)
        add(field, all: message.bytes)
    }

    private mutating func add(_ field: UInt64, all bytes: some Collection<UInt8>) {
        append(field << 3 | 2)
        append(UInt64(bytes.count))
        self.bytes += bytes
    }

    private mutating func append(_ number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}

/// A message of a reply. Fields that it does not know are skipped, and those that are missing are zero.
protocol ProtobufMessage {
    init()
    mutating func set(_ field: UInt64, to value: ProtobufValue) throws(EtcdFailure)
}

extension ProtobufMessage {
    init(protobuf bytes: ArraySlice<UInt8>) throws(EtcdFailure) {
        self.init()
        var reader = ProtobufReader(bytes)
        while let (field, value) = try reader.next() { try set(field, to: value) }
    }
}

enum ProtobufValue {
    case number(UInt64)
    case bytes(ArraySlice<UInt8>)
    /// A number of fixed size, of which etcd has none.
    case other

    static var malformed: EtcdFailure { EtcdFailure("the answer is not one of etcd", .unknown) }

    /// The next revision is computed, so the largest number is none.
    var integer: Int64 {
        get throws(EtcdFailure) {
            guard case .number(let number) = self, number != Int64.max else { throw Self.malformed }
            return Int64(bitPattern: number)
        }
    }

    var flag: Bool { get throws(EtcdFailure) { try integer != 0 } }

    var data: Data { get throws(EtcdFailure) { Data(try content) } }

    var text: String {
        get throws(EtcdFailure) { String(decoding: try content, as: UTF8.self) }
    }

    func message<Message: ProtobufMessage>(_ type: Message.Type = Message.self) throws(EtcdFailure) -> Message {
        try Message(protobuf: content)
    }

    private var content: ArraySlice<UInt8> {
        get throws(EtcdFailure) {
            guard case .bytes(let bytes) = self else { throw Self.malformed }
            return bytes
        }
    }
}

private struct ProtobufReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
    }

    /// nil at the end.
    mutating func next() throws(EtcdFailure) -> (field: UInt64, value: ProtobufValue)? {
        if rest.isEmpty { return nil }
        let tag = try number()
        switch tag & 7 {
        case 0: return (tag >> 3, .number(try number()))
        case 1: _ = try take(8)
        case 2: return (tag >> 3, .bytes(try take(try number())))
        case 5: _ = try take(4)
        default: throw ProtobufValue.malformed
        }
        return (tag >> 3, .other)
    }

    private mutating func number() throws(EtcdFailure) -> UInt64 {
        var number: UInt64 = 0
        for shift in stride(from: 0, through: 63, by: 7) {
            guard let byte = rest.popFirst() else { throw ProtobufValue.malformed }
            number |= UInt64(byte & 0x7F) << UInt64(shift)
            if byte < 0x80 { return number }
        }
        throw ProtobufValue.malformed
    }

    private mutating func take(_ count: UInt64) throws(EtcdFailure) -> ArraySlice<UInt8> {
        guard count <= rest.count else { throw ProtobufValue.malformed }
        defer { rest = rest.dropFirst(Int(count)) }
        return rest.prefix(Int(count))
    }
}
