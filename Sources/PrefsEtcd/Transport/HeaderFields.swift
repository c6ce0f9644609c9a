import Foundation

/// Reads a block of header fields (HPACK, RFC 7541), without a table of its own: the settings of the connection ask for none.
struct HeaderDecoder {
    private var rest: ArraySlice<UInt8>
    /// Bytes of names and values that a block may expand to.
    private static let mostBytes = 64 << 10

    init(_ block: ArraySlice<UInt8>) {
        rest = block
    }

    /// The fields. The names of fields that nobody asks for are empty.
    static func fields(of block: ArraySlice<UInt8>) throws(EtcdFailure) -> [(name: String, value: String)] {
        var decoder = HeaderDecoder(block)
        var fields: [(name: String, value: String)] = []
        var size = 0
        while let byte = decoder.rest.first {
            if byte & 0xE0 == 0x20 {
                // Another size of the table.
                guard fields.isEmpty, try decoder.integer(prefix: 5) == 0 else { throw Self.malformed }
                continue
            }
            let field = try decoder.field(byte)
            // As much as the table of a field takes, so that a block of many small fields is limited, too.
            size += field.name.utf8.count + field.value.utf8.count + 32
            guard size <= mostBytes else { throw .tooLong("the header", size, mostBytes) }
            fields.append(field)
        }
        return fields
    }

    private mutating func field(_ byte: UInt8) throws(EtcdFailure) -> (name: String, value: String) {
        if byte & 0x80 != 0 { return try Self.known(try integer(prefix: 7)) }
        // With or without a place in the table, or never with one.
        let index = try integer(prefix: byte & 0x40 != 0 ? 6 : 4)
        let name = index == 0 ? try text() : try Self.known(index).name
        return (name, try text())
    }

    private static var malformed: EtcdFailure { EtcdFailure("the header is malformed", .unknown) }

    // MARK: - Values

    private mutating func integer(prefix bits: Int) throws(EtcdFailure) -> Int {
        let most = 1 << bits - 1
        guard let first = rest.popFirst() else { throw Self.malformed }
        var value = Int(first) & most
        if value < most { return value }
        for shift in stride(from: 0, through: 21, by: 7) {
            guard let byte = rest.popFirst() else { throw Self.malformed }
            value += Int(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return value }
        }
        throw Self.malformed
    }

    private mutating func text() throws(EtcdFailure) -> String {
        guard let first = rest.first else { throw Self.malformed }
        let length = try integer(prefix: 7)
        guard length <= rest.count else { throw Self.malformed }
        let bytes = rest.prefix(length)
        rest = rest.dropFirst(length)
        return String(decoding: first & 0x80 == 0 ? Array(bytes) : try Self.unpacked(bytes), as: UTF8.self)
    }

    // MARK: - The static table (RFC 7541, Appendix A)

    private static let statuses = ["200", "204", "206", "304", "400", "404", "500"]

    /// Of its 61 fields, a reply of gRPC has no use for others than these.
    private static func known(_ index: Int) throws(EtcdFailure) -> (name: String, value: String) {
        switch index {
        case 8...14: return (":status", statuses[index - 8])
        case 31: return ("content-type", "")
        case 1...61: return ("", "")
        default: throw malformed
        }
    }

    // MARK: - Huffman (RFC 7541, Appendix B)

    /// The number of bits of each byte's code, from "a" for 5 on; the last one is the end of a text. Codes of one length follow each other in
    /// the order of the bytes, so the lengths are all that is needed.
    private static let lengths = Array(
        ("isxxxxxxxtzxxzxxxxxxxxzxxxxxxxxxbffhibdgffdgdbbbaaabbbbbbbcdkbhfibccccccccccccccccccccccdcdioijb"
            + "kabababbbaccbbbabcbaabccccckgjixprpprrrsrssssststtrstssssqrsrsstrqprrssqsrrtqrssqqrqsrssprrrsrrs"
            + "vvporsruvvvwwvtuoqvwwvwtqqvvxwwwptpqrqqsrruuttvsvwvvwwwwwxwwwwwvz").utf8.map { Int($0) - 92 })
    private static let longest = 30

    /// For each length, its first code, and the bytes whose codes have it.
    private static let codes: [(first: Int, bytes: [Int])] = {
        var codes: [(first: Int, bytes: [Int])] = [(0, [])]
        for length in 1...longest {
            let first = (codes[length - 1].first + codes[length - 1].bytes.count) << 1
            codes.append((first, lengths.indices.filter { lengths[$0] == length }))
        }
        return codes
    }()

    private static func unpacked(_ packed: ArraySlice<UInt8>) throws(EtcdFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        var (code, length, isPadding) = (0, 0, true)
        for byte in packed {
            for shift in (0..<8).reversed() {
                let bit = Int(byte >> shift) & 1
                if length == 0 { isPadding = true }
                (code, length, isPadding) = (code << 1 | bit, length + 1, isPadding && bit == 1)
                let candidates = codes[length]
                guard code - candidates.first < candidates.bytes.count else {
                    guard length < longest else { throw malformed }
                    continue
                }
                // The code of the end is not sent.
                guard let found = UInt8(exactly: candidates.bytes[code - candidates.first]) else { throw malformed }
                bytes.append(found)
                (code, length) = (0, 0)
            }
        }
        // What is left of the last byte is a beginning of the end.
        guard length == 0 || length < 8 && isPadding else { throw malformed }
        return bytes
    }
}

// MARK: - Writing

/// Writes a block of header fields (HPACK, RFC 7541): only what needs no table.
struct HeaderEncoder {
    /// The method and the scheme, and then what all calls have.
    private(set) var bytes: [UInt8] = [0x83, 0x86]

    mutating func add(_ path: String, endpoint: Endpoint) {
        bytes.append(4)
        add(path)
        bytes.append(1)
        add(endpoint.description)
        // The content type.
        bytes += [0x0F, 0x10]
        add("application/grpc")
        add("te", "trailers")
    }

    mutating func add(_ name: String, _ value: String) {
        bytes.append(0)
        add(name)
        add(value)
    }

    private mutating func add(_ text: String) {
        var count = text.utf8.count
        if count < 0x7F {
            bytes.append(UInt8(count))
        } else {
            bytes.append(0x7F)
            count -= 0x7F
            while count >= 0x80 {
                bytes.append(UInt8(count & 0x7F) | 0x80)
                count >>= 7
            }
            bytes.append(UInt8(count))
        }
        bytes += text.utf8
    }
}
