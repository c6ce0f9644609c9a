import Foundation
import PersistentPreferences
import PrefsPropertyLists

/// Values written as property-list text, as in `defaults write`: `{a=1;}`, `(a,b)`, `<48656c6c6f>`, or an XML element.
enum PropertyListText {
    /// The elements of an XML property list. None of the names consists of hexadecimal digits only.
    private static let elements = [
        "<?xml", "<!DOCTYPE", "<plist", "<dict", "<array", "<string", "<integer", "<real", "<true", "<false", "<date",
        "<data",
    ]

    /// The most bytes of a text in braces or parentheses.
    private static let mostBytes = 1 << 20

    /// A text that begins with a brace or a parenthesis must be a property list. Any other text that is not one is a string.
    static func value(of text: String) throws(UsageError) -> StoredValue {
        switch text.unicodeScalars.first {
        case "{", "(":
            guard text.utf8.count <= mostBytes else {
                throw UsageError("the property-list text is longer than \(mostBytes >> 20) MiB")
            }
            var reader = OpenStepReader(text)
            return try reader.value()
        case "<":
            var reader = OpenStepReader(text)
            if let data = try? reader.value() { return data }
            guard elements.contains(where: { text.utf8.starts(with: $0.utf8) }) else { return .string(text) }
            return try xml(text)
        default:
            return .string(text)
        }
    }

    private static func xml(_ text: String) throws(UsageError) -> StoredValue {
        let isDocument = elements.prefix(3).contains { text.utf8.starts(with: $0.utf8) }
        let document = isDocument ? text : "<plist version=\"1.0\">\(text)</plist>"
        do {
            return try PropertyListCoder.decode(Data(document.utf8)).value
        } catch {
            throw UsageError("the XML is not a property list: \(error.reason) (-string stores it as text)")
        }
    }
}

/// Reads one property list in the OpenStep format, strictly: no comments, and every entry of a dictionary ends with a semicolon.
private struct OpenStepReader {
    private let scalars: [Unicode.Scalar]
    private var position = 0

    private static let deepest = 100

    init(_ text: String) {
        scalars = Array(text.unicodeScalars)
    }

    mutating func value() throws(UsageError) -> StoredValue {
        let value = try element(depth: 0)
        skipBlanks()
        if position < scalars.count { throw failure("the end of the text") }
        return value
    }

    private mutating func element(depth: Int) throws(UsageError) -> StoredValue {
        guard depth <= Self.deepest else {
            throw UsageError("the property-list text is nested deeper than \(Self.deepest) levels")
        }
        skipBlanks()
        switch next {
        case "{": return .dictionary(try dictionary(depth: depth))
        case "(": return .array(try array(depth: depth))
        case "<": return .data(try data())
        default: return .string(try string())
        }
    }

    private mutating func dictionary(depth: Int) throws(UsageError) -> [String: StoredValue] {
        try expect("{")
        var result: [String: StoredValue] = [:]
        while !found("}") {
            let start = position
            let key = try string()
            guard StreamSafeText.isSafe(key) else { throw failure("at most 30 combining marks in a row", at: start) }
            try expect("=")
            let value = try element(depth: depth + 1)
            guard result.updateValue(value, forKey: key) == nil else {
                throw UsageError("the key \"\(ShownText.key(key))\" is given twice")
            }
            try expect(";")
        }
        return result
    }

    private mutating func array(depth: Int) throws(UsageError) -> [StoredValue] {
        try expect("(")
        var result: [StoredValue] = []
        while !found(")") {
            result.append(try element(depth: depth + 1))
            if found(")") { break }
            try expect(",")
        }
        return result
    }

    private mutating func data() throws(UsageError) -> Data {
        try expect("<")
        var bytes = Data()
        while !found(">") {
            guard let high = digit() else { throw failure("hexadecimal digits or `>`") }
            guard let low = digit() else { throw failure("an even number of hexadecimal digits") }
            bytes.append(UInt8(high << 4 | low))
        }
        return bytes
    }

    // MARK: - Strings

    private mutating func string() throws(UsageError) -> String {
        skipBlanks()
        guard let quote = next else { throw failure("a value") }
        var text = String.UnicodeScalarView()
        guard quote == "\"" || quote == "'" else {
            while let scalar = next, Self.isPlain(scalar) {
                text.append(scalar)
                position += 1
            }
            if text.isEmpty { throw failure("a value (quote a text that contains more than A-Z a-z 0-9 _ $ / : . -)") }
            return String(text)
        }
        position += 1
        while let scalar = next, scalar != quote {
            position += 1
            text.append(scalar == "\\" ? try escaped() : scalar)
        }
        guard next == quote else { throw failure("a closing \(quote)") }
        position += 1
        return String(text)
    }

    /// What follows a backslash.
    private mutating func escaped() throws(UsageError) -> Unicode.Scalar {
        let start = position
        guard let scalar = next else { throw failure("a character after the backslash") }
        position += 1
        switch scalar {
        case "n": return "\n"
        case "t": return "\t"
        case "r": return "\r"
        case "\\", "\"", "'": return scalar
        case "U", "u":
            var code: UInt32 = 0
            for _ in 0..<4 {
                guard let digit = digit() else { throw failure("four hexadecimal digits after \\\(scalar)") }
                code = code << 4 | digit
            }
            guard let result = Unicode.Scalar(code) else { throw failure("the code of a character", at: start) }
            return result
        default: throw failure("\\n, \\t, \\r, \\\\, \\\", \\' or \\Uxxxx", at: start)
        }
    }

    // MARK: - Scalars

    private var next: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

    private mutating func skipBlanks() {
        while let scalar = next, [" ", "\t", "\n", "\r"].contains(scalar) { position += 1 }
    }

    /// Skips the mark, if it is the next.
    private mutating func found(_ mark: Unicode.Scalar) -> Bool {
        skipBlanks()
        guard next == mark else { return false }
        position += 1
        return true
    }

    private mutating func expect(_ mark: Unicode.Scalar) throws(UsageError) {
        guard found(mark) else { throw failure("`\(mark)`") }
    }

    private mutating func digit() -> UInt32? {
        guard let scalar = next, scalar.isASCII, let digit = Character(scalar).hexDigitValue else { return nil }
        position += 1
        return UInt32(digit)
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_", "$", "/", ":", ".", "-": true
        default: false
        }
    }

    private func failure(_ expected: String, at place: Int? = nil) -> UsageError {
        UsageError(
            "the property-list text is not valid: expected \(expected) at character \((place ?? position) + 1) (-string stores it as text)"
        )
    }
}
