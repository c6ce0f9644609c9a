import Foundation

/// The text of an element: references, CDATA sections and the bytes between them.
extension XMLScanner {
    /// The text up to the next tag, with references expanded, CDATA sections joined and comments left out.
    package mutating func readText() throws(PropertyListFault) -> String {
        // Most texts have no other parts, so that their bytes need not be collected.
        if let text = readPlainText() { return text }
        var text: [UInt8] = []
        while let byte = current {
            switch byte {
            case UInt8(ascii: "<"):
                let start = position
                if try skipSection() {
                    try append((start + 9)..<(position - 3), to: &text)
                } else if try !skipIgnored() {
                    return String(decoding: text, as: UTF8.self)
                }
            case UInt8(ascii: "&"):
                try readReference(into: &text)
            default:
                let start = position
                position = endOfPlainText()
                try append(start..<position, to: &text)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Moves behind a text that ends with an end tag; nil for a text of several parts, and for bytes that are not UTF-8.
    private mutating func readPlainText() -> String? {
        let end = endOfPlainText()
        guard end + 1 < bytes.count, bytes[end] == UInt8(ascii: "<"), bytes[end + 1] == UInt8(ascii: "/") else {
            return nil
        }
        let content = UnsafeRawBufferPointer(rebasing: bytes[position..<end])
        guard let text = texts.map({ $0.text(of: content) }) ?? String(validUTF8: content) else { return nil }
        position = end
        return text
    }

    private func endOfPlainText() -> Int {
        var end = position
        while end < bytes.count, bytes[end] != UInt8(ascii: "<"), bytes[end] != UInt8(ascii: "&") { end += 1 }
        return end
    }

    private func append(_ range: Range<Int>, to text: inout [UInt8]) throws(PropertyListFault) {
        let piece = UnsafeRawBufferPointer(rebasing: bytes[range])
        if let flaw = Self.firstInvalidUTF8(in: piece) {
            throw failure("a byte that is not UTF-8", at: range.lowerBound + flaw)
        }
        text.append(contentsOf: piece)
    }

    private mutating func readReference(into text: inout [UInt8]) throws(PropertyListFault) {
        let start = position
        position += 1
        let content = position
        while let byte = current, byte != UInt8(ascii: ";"), position - content < 40 { position += 1 }
        guard current == UInt8(ascii: ";") else {
            throw isAtEnd
                ? end("a reference", from: start)
                : failure("& does not begin a reference (&amp; stands for &)", at: start)
        }
        let name = String(decoding: bytes[content..<position], as: UTF8.self)
        position += 1
        if name.utf8.first == UInt8(ascii: "#") {
            guard let scalar = Self.scalar(ofReference: name.dropFirst()) else {
                throw failure("a reference to a character that does not exist", at: start)
            }
            text.append(contentsOf: String(scalar).utf8)
        } else if let byte = Self.entities[name] {
            text.append(byte)
        } else {
            throw failure("an entity other than &lt; &gt; &amp; &quot; &apos;", at: start)
        }
    }

    private static let entities: [String: UInt8] = [
        "lt": UInt8(ascii: "<"), "gt": UInt8(ascii: ">"), "amp": UInt8(ascii: "&"), "quot": UInt8(ascii: "\""),
        "apos": UInt8(ascii: "'"),
    ]

    private static func scalar(ofReference digits: Substring) -> UnicodeScalar? {
        let isHexadecimal = digits.utf8.first == UInt8(ascii: "x")
        let digits = isHexadecimal ? digits.dropFirst() : digits
        // Rejects a sign, which UInt32 would accept.
        guard digits.utf8.first != UInt8(ascii: "+"), digits.utf8.first != UInt8(ascii: "-") else { return nil }
        return UInt32(digits, radix: isHexadecimal ? 16 : 10).flatMap(UnicodeScalar.init)
    }

    /// The offset of the first byte that is not part of valid UTF-8.
    private static func firstInvalidUTF8(in bytes: UnsafeRawBufferPointer) -> Int? {
        guard let start = bytes.firstIndex(where: { $0 >= 0x80 }) else { return nil }
        var iterator = bytes[start...].makeIterator()
        var parser = Unicode.UTF8.ForwardParser()
        var offset = start
        while true {
            switch parser.parseScalar(from: &iterator) {
            case .valid(let scalar): offset += scalar.count
            case .error: return offset
            case .emptyInput: return nil
            }
        }
    }
}
