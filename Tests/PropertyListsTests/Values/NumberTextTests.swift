import Testing

@testable import PrefsPropertyLists

/// The texts of numbers, and the numbers of a Float.
@Suite struct NumberTextTests {
    @Test(
        arguments: [
            ("0", true, true), ("-0", true, true), ("12.50e+3", true, true), ("1E9", true, true), ("1e-9", true, true),
            ("+1", true, false), ("007", true, false), ("-01.5", true, false), ("0.5", true, true), ("00", true, false),
            ("", false, false), ("-", false, false), (".5", false, false), ("5.", false, false), ("1e", false, false),
            ("1e+", false, false), ("1.e3", false, false), ("1 ", false, false), (" 1", false, false),
            ("--1", false, false), ("0x1", false, false), ("1,5", false, false), ("\u{661}", false, false),
            ("1e3.5", false, false), ("NaN", false, false),
        ])
    func numbers(_ text: String, isNumber: Bool, isStrictNumber: Bool) {
        #expect(NumberText.isNumber(text) == isNumber)
        #expect(NumberText.isNumber(text, isStrict: true) == isStrictNumber)
    }

    /// Whether it has neither a fraction nor an exponent, and its digits without the zeros around them.
    @Test(
        arguments: [
            ("0", true, ""), ("00", true, ""), ("-0", true, ""), ("7", true, "7"), ("070", true, "7"),
            ("-70", true, "7"),
            ("+707", true, "707"), ("1.5", false, "15"), ("0.050", false, "5"), ("10.0", false, "1"),
            ("1e5", false, "1"),
            ("1E5", false, "1"), ("1e+5", false, "1"), ("12E-50", false, "12"), ("1.25E3", false, "125"),
            ("1.25e3", false, "125"), ("0E7", false, ""), ("0e7", false, ""),
        ])
    func digits(_ text: String, isWhole: Bool, digits: String) {
        #expect(NumberText.isWhole(text) == isWhole)
        #expect(String(decoding: NumberText.significantDigits(of: text), as: UTF8.self) == digits)
    }

    private static let floats: [(StoredValue, Float?)] = [
        (.integer(0x1_000_000), 0x1p24), (.integer(0x1_000_001), nil), (.integer(.max), nil), (.integer(.min), -0x1p63),
        (.unsigned(1 << 63), 0x1p63), (.unsigned(.max), nil), (.real(0.1), 0.1), (.real(0.1000000000000001), nil),
        (.real(1e300), nil), (.real(-.infinity), -.infinity), (.bool(true), nil), (.string("1"), nil),
    ]

    /// A Float has the numbers of 24 bits, in each form of a stored number, and no others near them.
    @Test func numbersThatAFloatHas() {
        for (value, expected) in Self.floats { #expect(value.float == expected, "\(value)") }
    }
}
