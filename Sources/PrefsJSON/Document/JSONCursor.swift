/// A position in a JSON text that was read before. Skips its parts without their values.
struct JSONCursor {
    let bytes: UnsafeRawBufferPointer
    var position: Int

    /// The text is not JSON.
    struct Mismatch: Error {}

    init(_ bytes: UnsafeRawBufferPointer, at position: Int = 0) {
        (self.bytes, self.position) = (bytes, position)
    }

    mutating func skipBlanks() { JSONBlanks.skip(&position, in: bytes) }

    private mutating func skipsComment() -> Bool { JSONBlanks.skipsComment(&position, in: bytes) }

    /// The rest of the line if it has comments and nothing else.
    mutating func restOfLine() -> Range<Int> {
        let start = position
        var end = start
        while let byte = current, byte != UInt8(ascii: "\n"), byte != UInt8(ascii: "\r") {
            if byte == UInt8(ascii: "/") {
                guard skipsComment() else { break }
                end = position
            } else if byte == 0x20 || byte == 0x09 {
                position += 1
            } else {
                end = start
                break
            }
        }
        if current == nil || bytes[start..<end].contains(UInt8(ascii: "\n")) { end = start }
        position = end
        return start..<end
    }

    /// The current byte; nil at the end.
    var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    mutating func skipText() throws {
        guard current == UInt8(ascii: "\"") else { throw Mismatch() }
        position += 1
        while let byte = current {
            position += byte == UInt8(ascii: "\\") ? 2 : 1
            if byte == UInt8(ascii: "\"") { return }
        }
        throw Mismatch()
    }

    mutating func skipValue() throws {
        guard let first = current else { throw Mismatch() }
        if first == UInt8(ascii: "\"") { return try skipText() }
        guard first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else {
            let start = position
            while let byte = current, !Self.ends.contains(byte) { position += 1 }
            if position == start { throw Mismatch() }
            return
        }
        var depth = 0
        while let byte = current {
            switch byte {
            case UInt8(ascii: "\""):
                try skipText()
                continue
            case UInt8(ascii: "/"):
                guard skipsComment() else { throw Mismatch() }
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
            position += 1
            if depth == 0 { return }
        }
        throw Mismatch()
    }

    private static let ends = Set(" \n\r\t,:]}/".utf8)
}
