/// Reads the parts of an XML 1.0 document, one after the other, without looking at any byte twice: tags, text, comments,
/// processing instructions and the document type, which is skipped and never followed.
///
/// Deliberately more lenient than the standard where Foundation is: control characters, `--` in a comment, `]]>` in text, and
/// a raw carriage return, which stays one. Of entities it knows the five predefined ones and character references.
struct XMLScanner {
    let bytes: UnsafeRawBufferPointer
    private(set) var position = 0

    /// What stands between two pieces of text.
    enum Markup {
        case start(name: Range<Int>, isEmpty: Bool)
        case end(name: Range<Int>)
        case endOfDocument
    }

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    // MARK: - Markup

    /// The next tag. Skips blanks, comments and processing instructions before it, and rejects other text.
    mutating func nextTag() throws(DecodingFailure) -> Markup {
        while true {
            skipBlanks()
            guard let byte = current else { return .endOfDocument }
            guard byte == UInt8(ascii: "<") else { throw failure("text outside of a value") }
            if try !skipIgnored() { return try readTag() }
        }
    }

    /// Skips a document type with its internal subset. It holds declarations, of which none is followed.
    mutating func skipDocumentType() throws(DecodingFailure) -> Bool {
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
    mutating func skipIgnored() throws(DecodingFailure) -> Bool {
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

    /// A start or end tag. Attributes have to be well-formed, and are ignored.
    private mutating func readTag() throws(DecodingFailure) -> Markup {
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

    private mutating func readAttribute() throws(DecodingFailure) -> Bool {
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

    // MARK: - Text

    /// The text up to the next tag, with references expanded, CDATA sections joined and comments left out.
    mutating func readText() throws(DecodingFailure) -> [UInt8] {
        var text: [UInt8] = []
        while let byte = current {
            switch byte {
            case UInt8(ascii: "<"):
                let start = position
                if take("<![CDATA[") {
                    let content = position
                    guard skip(through: "]]>".utf8) else { throw end("a CDATA section", from: start) }
                    try append(content..<(position - 3), to: &text)
                } else if try !skipIgnored() {
                    return text
                }
            case UInt8(ascii: "&"):
                try readReference(into: &text)
            default:
                let start = position
                while let byte = current, byte != UInt8(ascii: "<"), byte != UInt8(ascii: "&") { position += 1 }
                try append(start..<position, to: &text)
            }
        }
        return text
    }

    private func append(_ range: Range<Int>, to text: inout [UInt8]) throws(DecodingFailure) {
        let piece = UnsafeRawBufferPointer(rebasing: bytes[range])
        if let flaw = Self.firstInvalidUTF8(in: piece) {
            throw failure("a byte that is not UTF-8", at: range.lowerBound + flaw)
        }
        text.append(contentsOf: piece)
    }

    private mutating func readReference(into text: inout [UInt8]) throws(DecodingFailure) {
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
        // UInt32 would take a sign.
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

    // MARK: - Bytes

    /// nil at the end.
    var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    var isAtEnd: Bool { position >= bytes.count }

    func text(_ range: Range<Int>) -> String {
        String(decoding: bytes[range].prefix(40), as: UTF8.self)
    }

    func isName(_ range: Range<Int>, _ name: StaticString) -> Bool {
        range.count == name.utf8CodeUnitCount
            && name.withUTF8Buffer { bytes[range].elementsEqual($0) }
    }

    @discardableResult mutating func skipBlanks() -> Bool {
        let start = position
        while let byte = current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
        return position > start
    }

    private mutating func takeByte(_ byte: UnicodeScalar) -> Bool {
        guard current == UInt8(ascii: byte) else { return false }
        position += 1
        return true
    }

    private mutating func take(_ word: StaticString) -> Bool {
        let count = word.utf8CodeUnitCount
        guard position + count <= bytes.count,
            word.withUTF8Buffer({ bytes[position..<(position + count)].elementsEqual($0) })
        else { return false }
        position += count
        return true
    }

    /// Goes behind the next occurrence of a mark.
    private mutating func skip(through mark: some Collection<UInt8>) -> Bool {
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

    /// At the beginning of what is wrong; at the position of now if none is given.
    func failure(_ reason: String, at offset: Int? = nil) -> DecodingFailure {
        .malformed(fault(reason, at: offset ?? position))
    }

    /// The same of what may be good, and exceeds a limit.
    func unsupported(_ reason: String, at offset: Int? = nil) -> DecodingFailure {
        .unsupported("\(fault(reason, at: offset ?? position))")
    }

    private func fault(_ reason: String, at offset: Int) -> PropertyListFault {
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
        return PropertyListFault(reason: reason, line: line, column: column, isIncomplete: isAtEnd)
    }

    private func end(_ part: String, from start: Int) -> DecodingFailure {
        failure("ends inside \(part)", at: start)
    }
}
