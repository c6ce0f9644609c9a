/// Recognizes formats that people mistake for our property lists, so that an error can name them.
enum ForeignFormat {
    /// The reason for an error; nil for an unknown format. Costs linear time.
    static func reason(_ file: UnsafeRawBufferPointer) -> String? {
        let mark = file.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        let bytes = UnsafeRawBufferPointer(rebasing: file[mark...])
        if isJSON(bytes) { return "is JSON, not a property list" }
        if isOpenStep(bytes) { return "is an OpenStep property list; only binary and XML property lists are read" }
        if looksLikeJSON(bytes) { return "looks like JSON, not a property list" }
        return nil
    }

    private static func isJSON(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let first = bytes.first { !isBlank($0) }
        guard first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else { return false }
        return (try? JSONReader.value(of: bytes, limits: .file)) != nil
    }

    /// Whether the bytes begin with an object, a key and a colon. They may be JSON with a trailing comma, a comment or
    /// a typo.
    private static func looksLikeJSON(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var rest = bytes.drop(while: isBlank)
        guard rest.popFirst() == UInt8(ascii: "{") else { return false }
        rest = rest.drop(while: isBlank)
        guard rest.popFirst() == UInt8(ascii: "\"") else { return false }
        rest = rest.drop { $0 != UInt8(ascii: "\"") }.dropFirst()
        return rest.drop(while: isBlank).first == UInt8(ascii: ":")
    }

    /// Whether the bytes are a dictionary or an array in the old format of NeXTSTEP: `{ key = value; }`, `( a, b )`.
    ///
    /// Values are strings, quoted or not, and data in hexadecimal digits. A lone string does not count, because every
    /// word is one.
    private static func isOpenStep(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var scanner = OpenStepScanner(bytes: bytes)
        guard let first = scanner.next(), first == .open("{") || first == .open("(") else { return false }
        /// The next expected part of the innermost container.
        enum Expected { case key, equals, value, end, separator }
        var containers: [(isDictionary: Bool, expected: Expected)] = [
            (first == .open("{"), first == .open("{") ? .key : .value)
        ]
        while let last = containers.indices.last {
            guard let token = scanner.next() else { return false }
            let isDictionary = containers[last].isDictionary
            switch (containers[last].expected, token) {
            case (.key, .string): containers[last].expected = .equals
            case (.equals, .mark("=")): containers[last].expected = .value
            case (.value, .string): containers[last].expected = .separator
            case (.value, .open(let mark)):
                containers[last].expected = .separator
                containers.append((mark == "{", mark == "{" ? .key : .value))
            case (.separator, .mark(";")) where isDictionary: containers[last].expected = .key
            case (.separator, .mark(",")) where !isDictionary: containers[last].expected = .value
            case (.key, .close("}")) where isDictionary, (.value, .close(")")) where !isDictionary,
                (.separator, .close(")")) where !isDictionary:
                containers.removeLast()
            default: return false
            }
        }
        return scanner.next() == nil && scanner.isAtEnd
    }

    static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (9...13).contains(byte) }
}

/// The tokens of an OpenStep property list.
private struct OpenStepScanner {
    enum Token: Equatable {
        case open(UnicodeScalar)
        case close(UnicodeScalar)
        case mark(UnicodeScalar)
        case string
    }

    let bytes: UnsafeRawBufferPointer
    private var position = 0

    init(bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { position >= bytes.count }

    /// The next token; nil at the end, and for bytes that are not a token.
    mutating func next() -> Token? {
        skipBlanksAndComments()
        guard position < bytes.count else { return nil }
        let byte = bytes[position]
        let scalar = UnicodeScalar(byte)
        switch scalar {
        case "{", "(":
            position += 1
            return .open(scalar)
        case "}", ")":
            position += 1
            return .close(scalar)
        case "=", ";", ",":
            position += 1
            return .mark(scalar)
        case "\"", "'", "<":
            return skipQuoted(until: scalar == "<" ? UInt8(ascii: ">") : byte) ? .string : nil
        default:
            let start = position
            while position < bytes.count, Self.isPlain(bytes[position]) { position += 1 }
            return position > start ? .string : nil
        }
    }

    private mutating func skipQuoted(until end: UInt8) -> Bool {
        position += 1
        while position < bytes.count {
            let byte = bytes[position]
            position += byte == UInt8(ascii: "\\") ? 2 : 1
            if byte == end { return true }
        }
        return false
    }

    private mutating func skipBlanksAndComments() {
        while position < bytes.count {
            if ForeignFormat.isBlank(bytes[position]) {
                position += 1
            } else if bytes[position...].starts(with: "//".utf8) {
                while position < bytes.count, bytes[position] != 0x0A { position += 1 }
            } else if bytes[position...].starts(with: "/*".utf8) {
                position += 2
                while position < bytes.count, !bytes[position...].starts(with: "*/".utf8) { position += 1 }
                position += 2
            } else {
                return
            }
        }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch UnicodeScalar(byte) {
        case "a"..."z", "A"..."Z", "0"..."9", "_", "$", "/", ":", ".", "-": true
        default: false
        }
    }
}
