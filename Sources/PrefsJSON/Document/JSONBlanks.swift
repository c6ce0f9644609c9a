/// The blanks and comments between the parts of a JSON text. People write comments (`//`, `/* */`).
enum JSONBlanks {
    static func skip(_ position: inout Int, in bytes: UnsafeRawBufferPointer) {
        while position < bytes.count {
            let byte = bytes[position]
            if byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
                position += 1
            } else if byte != UInt8(ascii: "/") || !skipsComment(&position, in: bytes) {
                return
            }
        }
    }

    /// Skips a comment, which ends with the text if it does not end before; false if there is none. The end of a line
    /// is not a part of the comment.
    static func skipsComment(_ position: inout Int, in bytes: UnsafeRawBufferPointer) -> Bool {
        let start = bytes[position...].prefix(2)
        if start.elementsEqual("//".utf8) {
            while position < bytes.count, bytes[position] != UInt8(ascii: "\n") { position += 1 }
            if position < bytes.count, bytes[position - 1] == UInt8(ascii: "\r") { position -= 1 }
            return true
        }
        guard start.elementsEqual("/*".utf8) else { return false }
        position += 2
        while position < bytes.count {
            if bytes[position] == UInt8(ascii: "*"), bytes[position...].starts(with: "*/".utf8) {
                position += 2
                return true
            }
            position += 1
        }
        return true
    }
}
