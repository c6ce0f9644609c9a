import Foundation

/// The texts of numbers, dates and data in an XML property list. Nothing here depends on the locale.
enum XMLPropertyListScalar {
    /// The expected content of an element that does not parse. The text itself may be a secret, so it is never quoted.
    static func reason(_ element: StaticString) -> String {
        switch "\(element)" {
        case "integer": "<integer> does not hold a whole number of 64 bits"
        case "real": "<real> does not hold a number"
        case "date": "<date> does not hold a time such as 2026-11-22T08:30:00Z"
        default:
            """
            <data> does not hold base64, which has letters, digits, + and / only; other readers skip other characters, \
            and read fewer bytes
            """
        }
    }

    /// Removes the blanks of XML at both ends.
    static func trimmed(_ text: String) -> String {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }
        let bytes = text.utf8
        guard let start = bytes.firstIndex(where: { !isBlank($0) }), let end = bytes.lastIndex(where: { !isBlank($0) })
        else { return "" }
        if start == bytes.startIndex, bytes.index(after: end) == bytes.endIndex { return text }
        return String(text[start...end])
    }

    /// An integer: decimal, or hexadecimal after `0x`, with an optional sign; nil for other text, and for a number of
    /// more than 64 bits.
    ///
    /// Before and after the sign, every character that Foundation takes for a blank is skipped.
    static func integer(_ text: String) -> StoredValue? {
        var scalars = text.unicodeScalars.drop(while: isBlankOfFoundation)
        let sign = scalars.first == "-" ? "-" : ""
        if scalars.first == "-" || scalars.first == "+" {
            scalars = scalars.dropFirst().drop(while: isBlankOfFoundation)
        }
        var digits = Substring(scalars).utf8
        var radix = 10
        if digits.starts(with: "0x".utf8) || digits.starts(with: "0X".utf8) {
            digits = digits.dropFirst(2)
            radix = 16
        }
        guard !digits.isEmpty, digits.allSatisfy({ isDigit($0, radix) }) else { return nil }
        let number = sign + String(Substring(digits))
        if let value = Int64(number, radix: radix) { return StoredValue(value) }
        if let value = UInt64(number, radix: radix) { return StoredValue(value) }
        return nil
    }

    private static func isBlankOfFoundation(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0...0x20, 0x7F, 0x2000...0x200B, 0x205F, 0x3000: true
        default: false
        }
    }

    /// Whether Foundation skips the scalar before a real number.
    private static func isBlankBeforeReal(_ scalar: Unicode.Scalar) -> Bool {
        isBlankOfFoundation(scalar) || (0x80...0xA0).contains(scalar.value) || scalar == "\u{FEFF}"
    }

    private static func isDigit(_ byte: UInt8, _ radix: Int) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"): radix == 16
        default: false
        }
    }

    /// A decimal number, `nan`, `inf` or `infinity`, with an optional sign; nil for other text.
    ///
    /// Foundation writes a decimal comma, or an Arabic one, in a program that has set such a locale. Both are read.
    /// Before the number, every character that Foundation takes for a blank is skipped.
    static func real(_ text: String) -> StoredValue? {
        // Compares scalars, which takes linear time for every text.
        var bytes: [UInt8] = []
        for scalar in text.unicodeScalars.drop(while: isBlankBeforeReal) {
            switch scalar {
            case ",", "\u{66B}": bytes.append(UInt8(ascii: "."))
            case _ where scalar.isASCII: bytes.append(UInt8(scalar.value))
            default: return nil
            }
        }
        let hasSign = bytes.first == UInt8(ascii: "-") || bytes.first == UInt8(ascii: "+")
        let unsigned = bytes.dropFirst(hasSign ? 1 : 0)
        let isNumber =
            unsigned.contains { isDigit($0, 10) }
            && unsigned.allSatisfy { isDigit($0, 10) || [0x2B, 0x2D, 0x2E, 0x45, 0x65].contains($0) }
        let word = unsigned.count <= 8 ? String(decoding: unsigned, as: UTF8.self).lowercased() : ""
        guard isNumber || ["nan", "inf", "infinity"].contains(word) else { return nil }
        return Double(String(decoding: bytes, as: UTF8.self)).map { StoredValue($0) }
    }

    /// A date: `YYYY-MM-DDThh:mm:ssZ`. As Foundation writes it, the year has a minus before year 0 and more digits
    /// after year 9999; as libplist writes it, fewer digits before year 1000. nil for other text and for times that do
    /// not exist.
    static func date(_ text: String) -> StoredValue? {
        let bytes = Array(text.utf8)
        let form = Array("-00-00T00:00:00Z".utf8)
        guard bytes.count > form.count, bytes.count <= form.count + 11 else { return nil }
        let rest = Array(bytes[(bytes.count - form.count)...])
        let isInForm = zip(rest, form).allSatisfy { $1 == UInt8(ascii: "0") ? isDigit($0, 10) : $0 == $1 }
        func number(_ start: Int) -> Int64 { Int64(rest[start] - 0x30) * 10 + Int64(rest[start + 1] - 0x30) }
        let yearBytes = bytes.dropLast(form.count)
        let digits = yearBytes.first == UInt8(ascii: "-") ? yearBytes.dropFirst() : yearBytes
        guard isInForm, !digits.isEmpty, digits.allSatisfy({ isDigit($0, 10) }),
            let year = Int32(String(decoding: yearBytes, as: UTF8.self)),
            let time = UTCTime(
                year: Int64(year), month: number(1), day: number(4), hour: number(7), minute: number(10),
                second: number(13))
        else { return nil }
        return .date(Date(timeIntervalSince1970: TimeInterval(time.secondsSince1970)))
    }

    /// Data: base64 of RFC 4648 with any blanks; nil for other text, and for bits after the last byte, which readers
    /// interpret differently.
    static func data(_ text: String) -> StoredValue? {
        let digits = text.utf8.filter { $0 != 0x20 && !(9...13).contains($0) }
        guard let data = Data(base64Encoded: Data(digits)) else { return nil }
        let rest = data.suffix(data.count % 3)
        return rest.isEmpty || rest.base64EncodedData().elementsEqual(digits.suffix(4)) ? .data(data) : nil
    }
}
