import Foundation

/// Reads the parts of an XML 1.0 document, one after the other, and each byte once: tags, text, comments, processing
/// instructions and the document type. The document type is skipped and never followed.
///
/// It is as lenient as Foundation: it accepts control characters, `--` in a comment, `]]>` in text, and a raw carriage
/// return, which it keeps. It knows the five predefined entities and character references.
package struct XMLScanner {
    package let bytes: UnsafeRawBufferPointer
    package var position = 0
    /// nil if texts are not kept.
    let texts: RecentTexts?

    /// The part between two pieces of text.
    package enum Markup {
        case start(name: Range<Int>, isEmpty: Bool)
        case end(name: Range<Int>)
        case endOfDocument
    }

    package init(_ bytes: UnsafeRawBufferPointer, texts: RecentTexts? = nil) {
        (self.bytes, self.texts) = (bytes, texts)
    }

    // MARK: - Markup

    /// The next tag. Skips blanks, comments and processing instructions before it, and rejects other text.
    package mutating func nextTag() throws(PropertyListFault) -> Markup {
        while true {
            skipBlanks()
            guard let byte = current else { return .endOfDocument }
            guard byte == UInt8(ascii: "<") else { throw failure("text outside of a value") }
            if try !skipIgnored() { return try readTag() }
        }
    }

    /// Skips what is before the first element: a document type may stand between comments and instructions.
    package mutating func skipProlog() throws(PropertyListFault) {
        while true {
            skipBlanks()
            if try skipDocumentType() { return }
            if try !skipIgnored() { return }
        }
    }

    /// Skips a document type with its internal subset. Ignores its declarations.
    private mutating func skipDocumentType() throws(PropertyListFault) -> Bool {
        guard take("<!DOCTYPE") else { return false }
        let start = position
        var isInSubset = false
        while let byte = current {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                position += 1
                guard skip(through: [byte]) else { throw end("a document type", from: start) }
            case UInt8(ascii: "<") where isInSubset:
                if try !skipIgnored() { position += 1 }
            case UInt8(ascii: "["):
                isInSubset = true
                position += 1
            case UInt8(ascii: "]"):
                isInSubset = false
                position += 1
            case UInt8(ascii: ">"):
                position += 1
                if !isInSubset { return true }
            default:
                position += 1
            }
        }
        throw end("a document type", from: start)
    }

    /// Skips a comment or a processing instruction; false if none begins here.
    package mutating func skipIgnored() throws(PropertyListFault) -> Bool {
        let start = position
        if take("<!--") {
            guard skip(through: "-->".utf8) else { throw end("a comment", from: start) }
            return true
        }
        if take("<?") {
            guard skip(through: "?>".utf8) else { throw end("a processing instruction", from: start) }
            return true
        }
        return false
    }

    /// Skips a CDATA section; false if none begins here.
    package mutating func skipSection() throws(PropertyListFault) -> Bool {
        let start = position
        guard take("<![CDATA[") else { return false }
        guard skip(through: "]]>".utf8) else { throw end("a CDATA section", from: start) }
        return true
    }

    /// A start or end tag. Attributes must be well-formed, and are ignored.
    private mutating func readTag() throws(PropertyListFault) -> Markup {
        let start = position
        position += 1
        let isEnd = takeByte("/")
        let name = readName()
        guard !name.isEmpty else {
            throw failure(isAtEnd ? "ends inside a tag" : "< does not begin a tag here", at: start)
        }
        while true {
            let hadBlank = skipBlanks()
            if takeByte(">") { return isEnd ? .end(name: name) : .start(name: name, isEmpty: false) }
            if !isEnd, take("/>") { return .start(name: name, isEmpty: true) }
            guard !isAtEnd else { throw end("a tag", from: start) }
            guard hadBlank, !isEnd, try readAttribute() else {
                throw failure("the tag <\(text(name))> is not well-formed", at: start)
            }
        }
    }

    private mutating func readAttribute() throws(PropertyListFault) -> Bool {
        let start = position
        guard !readName().isEmpty else { return false }
        skipBlanks()
        guard takeByte("=") else { return false }
        skipBlanks()
        guard let quote = current, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { return false }
        position += 1
        guard skip(through: [quote]) else { throw end("a tag", from: start) }
        return true
    }

    private mutating func readName() -> Range<Int> {
        let start = position
        while let byte = current, Self.isNameByte(byte) { position += 1 }
        return start..<position
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
            UInt8(ascii: ":"), 0x80...:
            true
        default: false
        }
    }

    // MARK: - Bytes

    /// The current byte; nil at the end.
    var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    var isAtEnd: Bool { position >= bytes.count }

    func text(_ range: Range<Int>) -> String {
        String(decoding: bytes[range].prefix(40), as: UTF8.self)
    }

    package func isName(_ range: Range<Int>, _ name: StaticString) -> Bool {
        range.count == name.utf8CodeUnitCount && hasWord(name, at: range.lowerBound)
    }

    @discardableResult package mutating func skipBlanks() -> Bool {
        let start = position
        while let byte = current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
        return position > start
    }

    private mutating func takeByte(_ byte: UnicodeScalar) -> Bool {
        guard current == UInt8(ascii: byte) else { return false }
        position += 1
        return true
    }

    mutating func take(_ word: StaticString) -> Bool {
        guard hasWord(word, at: position) else { return false }
        position += word.utf8CodeUnitCount
        return true
    }

    private func hasWord(_ word: StaticString, at start: Int) -> Bool {
        let count = word.utf8CodeUnitCount
        guard let bytes = bytes.baseAddress, start + count <= self.bytes.count else { return false }
        return memcmp(bytes + start, word.utf8Start, count) == 0
    }

    /// Moves after the next occurrence of a mark.
    mutating func skip(through mark: some Collection<UInt8>) -> Bool {
        guard let first = mark.first else { return true }
        while position + mark.count <= bytes.count {
            if bytes[position] == first, bytes[position..<(position + mark.count)].elementsEqual(mark) {
                position += mark.count
                return true
            }
            position += 1
        }
        position = bytes.count
        return false
    }

    // MARK: - Failures

    /// The failure for a malformed document, at the offset or at the current position.
    func failure(_ reason: String, at offset: Int? = nil) -> PropertyListFault {
        let (line, column) = place(of: offset ?? position)
        return PropertyListFault(reason: reason, line: line, column: column)
    }

    /// The failure for a document that may be valid and exceeds a limit, at the offset or at the current position.
    func unsupported(_ reason: String, at offset: Int? = nil) -> PropertyListFault {
        failure(reason, at: offset).unsupported
    }

    func line(at offset: Int) -> Int { place(of: offset).line }

    private func place(of offset: Int) -> (line: Int, column: Int) {
        var (line, column) = (1, 1)
        var former: UInt8 = 0
        for byte in bytes[..<offset] {
            if byte == 0x0A || byte == 0x0D {
                if byte == 0x0D || former != 0x0D { line += 1 }
                column = 1
            } else if byte & 0xC0 != 0x80 {
                column += 1
            }
            former = byte
        }
        return (line, column)
    }

    func end(_ part: String, from start: Int) -> PropertyListFault { failure("ends inside \(part)", at: start) }
}
