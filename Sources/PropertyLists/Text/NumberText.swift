/// The text of a decimal number: digits, with a sign, a fraction and an exponent if there are any, as in `-12.50e+3`.
package enum NumberText {
    /// Whether a text is a number.
    ///
    /// - Parameter isStrict: whether a plus sign before it, or additional zeros, make it no number (RFC 8259, section 6).
    package static func isNumber(_ text: String, isStrict: Bool = false) -> Bool {
        var rest = text.utf8[...]
        func drop(_ bytes: String) -> Bool {
            guard let first = rest.first, bytes.utf8.contains(first) else { return false }
            rest = rest.dropFirst()
            return true
        }
        func dropDigits() -> Int {
            let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.count
            rest = rest.dropFirst(digits)
            return digits
        }
        _ = drop(isStrict ? "-" : "+-")
        let isZero = rest.first == UInt8(ascii: "0")
        let whole = dropDigits()
        if whole == 0 || isStrict && isZero && whole > 1 { return false }
        if drop("."), dropDigits() == 0 { return false }
        if drop("eE") {
            _ = drop("+-")
            if dropDigits() == 0 { return false }
        }
        return rest.isEmpty
    }

    /// Whether the text of a number has neither a fraction nor an exponent.
    package static func isWhole(_ text: String) -> Bool { !text.utf8.contains { ".eE".utf8.contains($0) } }

    /// The digits of a number, without its sign, its exponent, and the zeros around them.
    package static func significantDigits(of text: String) -> ArraySlice<UInt8> {
        let zero = UInt8(ascii: "0")
        let digits = text.utf8.prefix { $0 | 0x20 != UInt8(ascii: "e") }.filter { $0 >= zero }
        guard let last = digits.lastIndex(where: { $0 != zero }) else { return [] }
        return digits[...last].drop { $0 == zero }
    }
}
