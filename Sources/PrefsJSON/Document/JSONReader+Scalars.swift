import Foundation
import PrefsPropertyLists

extension JSONReader {
    // MARK: - Texts

    /// A text from its opening quote to its closing one.
    mutating func readText() throws(PropertyListFault) -> String {
        let start = position
        position += 1
        skipPlainText()
        // Most texts have no escapes, so that their bytes need not be collected.
        if current == UInt8(ascii: "\"") {
            position += 1
            return try text(of: UnsafeRawBufferPointer(rebasing: bytes[(start + 1)..<(position - 1)]), at: start)
        }
        var content = Array(bytes[(start + 1)..<position])
        while true {
            guard let byte = current else { throw flaw("the string is not closed") }
            guard byte >= 0x20 else { throw flaw("a control character in a string must be escaped with a \\") }
            if byte == UInt8(ascii: "\"") { break }
            try readEscape(into: &content)
            let run = position
            skipPlainText()
            content += bytes[run..<position]
        }
        position += 1
        return try Data(content).withBytes { bytes throws(PropertyListFault) in try text(of: bytes, at: start) }
    }

    /// Moves to the next byte that is not part of a text as it is.
    private mutating func skipPlainText() {
        var end = position
        while end < bytes.count, case let byte = bytes[end], byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"),
            byte >= 0x20
        {
            end += 1
        }
        position = end
    }

    private mutating func text(
        of content: UnsafeRawBufferPointer, at start: Int
    ) throws(PropertyListFault) -> String {
        // nil for invalid UTF-8.
        guard let text = texts.map({ $0.text(of: content) }) ?? String(validUTF8: content) else {
            throw flaw("a string that is not UTF-8", at: start)
        }
        try charge(text.encodedBytes)
        return text
    }

    private mutating func readEscape(into content: inout [UInt8]) throws(PropertyListFault) {
        let start = position
        position += 1
        let letter = current
        position += letter == nil ? 0 : 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): content.append(letter ?? 0)
        case UInt8(ascii: "b"): content.append(0x08)
        case UInt8(ascii: "f"): content.append(0x0C)
        case UInt8(ascii: "n"): content.append(0x0A)
        case UInt8(ascii: "r"): content.append(0x0D)
        case UInt8(ascii: "t"): content.append(0x09)
        case UInt8(ascii: "u"): content += String(try readScalar(from: start)).utf8
        default: throw flaw("a \\ in a string does not begin a JSON escape", at: start)
        }
    }

    /// Reads one scalar after a `\u`. Its second half may need another `\u`.
    private mutating func readScalar(from start: Int) throws(PropertyListFault) -> Unicode.Scalar {
        let unit = try readUnit(from: start)
        if let scalar = Unicode.Scalar(unit) { return scalar }
        if UTF16.isLeadSurrogate(unit), current == UInt8(ascii: "\\") {
            position += 1
            if current == UInt8(ascii: "u") {
                position += 1
                let second = try readUnit(from: start)
                if UTF16.isTrailSurrogate(second) { return UTF16.decode(UTF16.EncodedScalar([unit, second])) }
            }
        }
        throw flaw("half a surrogate pair is not a character", at: start)
    }

    private mutating func readUnit(from start: Int) throws(PropertyListFault) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = current, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw flaw("a \\u needs four hexadecimal digits", at: start)
            }
            unit = unit << 4 | UInt16(digit)
            position += 1
        }
        return unit
    }

    // MARK: - Numbers

    /// The most characters of a number. Every double needs fewer digits to differ from its neighbors.
    private static let longestNumber = 1_000

    mutating func readNumber() throws(PropertyListFault) -> StoredValue {
        let start = position
        if current == UInt8(ascii: "-") { position += 1 }
        let whole = position
        try readDigits(of: start)
        if bytes[whole] == UInt8(ascii: "0"), position > whole + 1 {
            throw flaw("a number must not have a leading zero", at: start)
        }
        var isInteger = true
        if current == UInt8(ascii: ".") {
            isInteger = false
            position += 1
            try readDigits(of: start)
        }
        if current == UInt8(ascii: "e") || current == UInt8(ascii: "E") {
            isInteger = false
            position += 1
            if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { position += 1 }
            try readDigits(of: start)
        }
        guard position - start <= Self.longestNumber else {
            throw flaw("a number of more than \(Self.longestNumber) characters", at: start)
        }
        if isInteger, position - whole <= 18 {
            let number = bytes[whole..<position].reduce(0 as Int64) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
            let isOtherwise = limits.keepsSpelling && number == 0 && whole > start
            return isOtherwise ? .decimal("-0") : .integer(whole > start ? -number : number)
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if isInteger {
            if let value = Int64(text) { return StoredValue(value) }
            if let value = UInt64(text) { return StoredValue(value) }
            if !limits.isOfText {
                throw flaw("the integer does not fit in 64 bits; append .0 to make it a double", at: start)
            }
        }
        guard let value = Double(text), value.isFinite || limits.isOfText else {
            throw flaw("a number beyond the range of a double", at: start)
        }
        if limits.keepsSpelling, value.description != text { return .decimal(text) }
        return limits.keepsDigits && Self.mayLoseDigits(text)
            && NumberText.significantDigits(of: text) != NumberText.significantDigits(of: value.description)
            ? .decimal(text) : .real(value)
    }

    /// A Double has every number of 15 digits, except near the ends of its range.
    private static func mayLoseDigits(_ text: String) -> Bool {
        text.utf8.count > 15 || text.utf8.contains { $0 | 0x20 == UInt8(ascii: "e") }
    }

    private mutating func readDigits(of start: Int) throws(PropertyListFault) {
        let first = position
        while let byte = current, Self.digits.contains(byte) { position += 1 }
        if position == first { throw flaw("expected a digit") }
    }
}
