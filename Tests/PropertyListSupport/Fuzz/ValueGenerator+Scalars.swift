import Foundation

extension ValueGenerator {
    // MARK: - Numbers

    mutating func number() -> GeneratedValue {
        let kind = choices.byte()
        switch kind % 20 {
        case 0: return integer(choices.number(Int8.self), NSNumber.init(value:))
        case 1: return integer(choices.number(Int16.self), NSNumber.init(value:))
        case 2: return integer(choices.number(Int32.self), NSNumber.init(value:))
        case 3: return integer(choices.number(Int64.self), NSNumber.init(value:))
        case 4: return integer(choices.number(Int.self), NSNumber.init(value:))
        case 5: return integer(choices.number(UInt8.self), NSNumber.init(value:))
        case 6: return integer(choices.number(UInt16.self), NSNumber.init(value:))
        case 7: return integer(choices.number(UInt32.self), NSNumber.init(value:))
        case 8: return integer(choices.number(UInt64.self), NSNumber.init(value:))
        case 9: return integer(choices.number(UInt.self), NSNumber.init(value:))
        case 10: return integer(choices.element(of: [Int64.min, -1, 0, 1, Int64.max]), NSNumber.init(value:))
        case 11:
            return integer(
                choices.element(of: [UInt64.max, UInt64.max - 1, 1 << 63, 1 << 63 - 1]), NSNumber.init(value:))
        case 12:
            let value = Float(bitPattern: choices.number())
            return GeneratedValue(value: value, expected: NSNumber(value: Double(value)))
        case 13:
            let value = Float(bitPattern: choices.number())
            return GeneratedValue(value: NSNumber(value: value), expected: NSNumber(value: Double(value)))
        case 14: return real(Double(bitPattern: choices.number()), isObject: false)
        case 15: return real(Double(bitPattern: choices.number()), isObject: true)
        case 16, 17: return real(choices.element(of: Self.reals), isObject: kind % 20 == 17)
        case 18: return GeneratedValue(value: kind & 32 == 0, expected: kind & 32 == 0)
        default: return GeneratedValue(value: NSNumber(value: kind & 32 == 0), expected: kind & 32 == 0)
        }
    }

    private static let reals: [Double] = [
        0, -0.0, 1, 0.1, -2.5, 1e22, 1e-5, .nan, -.nan, .signalingNaN, .infinity, -.infinity, .leastNonzeroMagnitude,
        .greatestFiniteMagnitude, 9_007_199_254_740_992, 1.0.nextUp,
    ]

    /// The number itself or, depending on the next byte, an object.
    private mutating func integer<Number: FixedWidthInteger>(
        _ value: Number, _ object: (Number) -> NSNumber
    ) -> GeneratedValue {
        let expected = Int64(exactly: value).map { NSNumber(value: $0) } ?? NSNumber(value: UInt64(value))
        let given: Any = choices.byte() & 1 == 1 ? object(value) : value
        return GeneratedValue(value: given, expected: expected)
    }

    private func real(_ value: Double, isObject: Bool) -> GeneratedValue {
        GeneratedValue(value: isObject ? NSNumber(value: value) : value, expected: NSNumber(value: value))
    }

    // MARK: - Texts

    /// A text, often an odd one.
    mutating func word() -> String {
        let kind = choices.byte()
        if kind & 0x80 == 0 { return Self.words[Int(kind) % Self.words.count] }
        return String(decoding: choices.bytes(Int(kind & 0x3F)), as: UTF8.self)
    }

    private static let words = [
        "a", "b", "c", "", "CF$UID", "\u{FEFF}", "\u{FEFF}a", "a\u{FEFF}", "\u{0}", "\u{0}a", "e\u{301}", "\u{E9}",
        "<&>\"'", "]]>", "<!--", "&amp;", "\r\n", "\r", " a ", "\u{1}\u{7F}", "\u{85}\u{2028}", "\u{FFFD}",
        "\u{FFFE}\u{FFFF}", "\u{1F600}", "\u{10FFFF}", "$null", "\u{212B}", "\u{C5}", "\u{1100}\u{1161}", "a.b[0]",
        String(repeating: "x", count: 300), String(repeating: "\u{E9}", count: 300),
    ]

    mutating func text() -> GeneratedValue {
        let kind = choices.byte()
        if kind % 4 == 3 { return units() }
        let word = word()
        let cost = 9 + word.utf16.count * 2
        guard kind % 4 > 0 else { return GeneratedValue(value: word, expected: word, cost: cost) }
        guard kind % 4 == 2 else { return GeneratedValue(value: NSString(string: word), expected: word, cost: cost) }
        let text = NSMutableString(string: word)
        changeable.append { text.setString("changed") }
        return GeneratedValue(value: text, expected: word, cost: cost)
    }

    /// A text of any UTF-16, also with unpaired surrogates.
    private mutating func units() -> GeneratedValue {
        let units = (0..<(choices.byte() % 8)).map { _ in choices.number(UInt16.self) }
        let text = String(decoding: units, as: UTF16.self)
        return GeneratedValue(
            value: UnitsText(units), expected: Array(text.utf16) == units ? text : nil, cost: 9 + units.count * 2)
    }

    // MARK: - Other scalars

    mutating func scalar() -> GeneratedValue {
        switch choices.byte() % 8 {
        case 0: return GeneratedValue(value: true, expected: true)
        case 1: return integer(choices.byte(), NSNumber.init(value:))
        case 2: return text()
        case 3: return date(Double(bitPattern: choices.number()), isObject: choices.byte() & 1 == 1)
        case 4, 5: return date(choices.element(of: Self.intervals), isObject: choices.byte() & 1 == 1)
        case 6: return data()
        default: return number()
        }
    }

    private static let intervals: [Double] = [
        0, 0.5, -0.5, -0.0, 1e-300, 86_399.999, -63_114_076_800, -63_114_076_801, 252_423_993_600, -978_307_200,
        6e16, -6e16, 6e16.nextUp, 6.8e16, 1e18, 1e300, .nan, .infinity, -.infinity, 5.9e16, 4_102_444_799.9,
    ]

    private func date(_ interval: Double, isObject: Bool) -> GeneratedValue {
        let date = Date(timeIntervalSinceReferenceDate: interval)
        let isStorable = interval.isFinite && abs(interval) <= 6e16
        let value: Any = isObject ? NSDate(timeIntervalSinceReferenceDate: interval) : date
        return GeneratedValue(value: value, expected: isStorable ? date : nil)
    }

    private mutating func data() -> GeneratedValue {
        let kind = choices.byte()
        let content = Data(choices.bytes(Int(kind >> 2)))
        let cost = 9 + content.count
        switch kind & 3 {
        case 0: return GeneratedValue(value: content, expected: content, cost: cost)
        case 1: return GeneratedValue(value: NSData(data: content), expected: content, cost: cost)
        case 2:
            let data = NSMutableData(data: content)
            changeable.append { data.resetBytes(in: NSRange(location: 0, length: data.length)) }
            return GeneratedValue(value: data, expected: content, cost: cost)
        default:
            let slice = (Data([1, 2]) + content + Data([3])).dropFirst(2).dropLast()
            return GeneratedValue(value: slice, expected: content, cost: cost)
        }
    }
}
