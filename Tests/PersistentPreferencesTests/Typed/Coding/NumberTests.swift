@testable import PrefsSupport
import Foundation
import Testing

@testable import PersistentPreferences
@testable import PrefsPropertyLists

/// Stored numbers as numbers of other types: they are converted if nothing is lost, and are a mismatch if not.
@Suite struct NumberTests {
    private static let two53 = 9_007_199_254_740_992

    private func read<Value>(_ type: Value.Type = Value.self, _ object: Any) -> Value? {
        try? PrefCoding(rule: type).value(of: StoredValue(of: object))
    }

    /// Reads a number as a member of a Codable type.
    private func member<Value: Codable>(_ type: Value.Type = Value.self, _ object: Any) -> Value? {
        (try? StoredValueDecoder.value([String: Value].self, from: StoredValue(of: ["a": object])))?["a"]
    }

    private static let integers: [(stored: NSNumber, int: Int?)] = [
        (NSNumber(value: Int.max), .max), (NSNumber(value: Int.min), .min), (NSNumber(value: UInt64.max), nil),
        (NSNumber(value: 1 << 63 as UInt64), nil), (NSNumber(value: 4.0), 4), (NSNumber(value: -0.0), 0),
        (NSNumber(value: 4.5), nil), (NSNumber(value: Double.nan), nil), (NSNumber(value: Double.infinity), nil),
        (NSNumber(value: -Double.infinity), nil), (NSNumber(value: 1e300), nil), (NSNumber(value: 0x1p63), nil),
        (NSNumber(value: -0x1p63), .min), (NSNumber(value: 0x1p62), 1 << 62),
        (NSNumber(value: Double.leastNonzeroMagnitude), nil),
        (NSNumber(value: Double(two53)), two53),
    ]

    @Test func numbersAsInt() {
        for (stored, int) in Self.integers {
            #expect(read(Int.self, stored) == int, "\(stored)")
            #expect(member(Int.self, stored) == int, "\(stored)")
            #expect(read(Int64.self, stored) == int.map(Int64.init))
        }
        #expect(read(Int.self, true) == nil && read(Int.self, false) == nil && member(Int.self, true) == nil)
        for other in ["1", Date.distantPast, Data([1]), [1 as NSNumber], ["a": 1 as NSNumber]] as [Any] {
            #expect(read(Int.self, other) == nil)
        }
    }

    @Test func numbersAsSmallAndUnsignedIntegers() {
        #expect(read(Int8.self, NSNumber(value: -128)) == -128 && read(Int8.self, NSNumber(value: 128)) == nil)
        #expect(read(UInt8.self, NSNumber(value: 255.0)) == 255 && read(UInt8.self, NSNumber(value: -1)) == nil)
        #expect(
            read(Int16.self, NSNumber(value: 40_000)) == nil && read(UInt16.self, NSNumber(value: 40_000)) == 40_000)
        #expect(
            read(Int32.self, NSNumber(value: 0x1p31)) == nil && read(UInt32.self, NSNumber(value: 0x1p31)) == 1 << 31)
        #expect(read(UInt64.self, NSNumber(value: UInt64.max)) == .max)
        #expect(
            read(UInt64.self, NSNumber(value: 0x1p64)) == nil && read(UInt64.self, NSNumber(value: 0x1p63)) == 1 << 63)
        #expect(read(UInt.self, NSNumber(value: -0.5)) == nil && read(UInt.self, NSNumber(value: Int.min)) == nil)
    }

    @Test func numbersAsDouble() {
        #expect(read(Double.self, NSNumber(value: 5)) == 5 && member(Double.self, NSNumber(value: 5)) == 5)
        #expect(read(Double.self, NSNumber(value: Self.two53)) == 0x1p53)
        #expect(read(Double.self, NSNumber(value: Self.two53 + 1)) == nil)
        #expect(read(Double.self, NSNumber(value: Self.two53 - 1)) == 0x1p53 - 1)
        #expect(
            read(Double.self, NSNumber(value: Int.max)) == nil && read(Double.self, NSNumber(value: Int.min)) == -0x1p63
        )
        #expect(read(Double.self, NSNumber(value: UInt64.max)) == nil)
        #expect(read(Double.self, true) == nil && read(Double.self, "1") == nil)
        #expect(read(Double.self, NSNumber(value: -0.0))?.sign == .minus)
    }

    @Test func numbersAsFloat() {
        #expect(read(Float.self, NSNumber(value: 0.1)) == 0.1 && member(Float.self, NSNumber(value: 0.1)) == 0.1)
        #expect(read(Float.self, NSNumber(value: Double(Float(0.1)))) == 0.1)
        #expect(read(Float.self, NSNumber(value: Double.pi)) == nil)
        #expect(read(Float.self, NSNumber(value: 3.1415925)) == .pi)
        #expect(read(Float.self, NSNumber(value: 1e300)) == nil && read(Float.self, NSNumber(value: 1e-300)) == nil)
        #expect(read(Float.self, NSNumber(value: Double.infinity)) == .infinity)
        #expect(read(Float.self, NSNumber(value: Double.nan))?.isNaN == true)
        #expect(read(Float.self, NSNumber(value: 16_777_216)) == 16_777_216)
        #expect(read(Float.self, NSNumber(value: 16_777_217)) == nil)
        #expect(read(Float.self, NSNumber(value: -0.0))?.sign == .minus && read(Float.self, false) == nil)
    }

    @Test func numbersAsBool() {
        #expect(read(Bool.self, NSNumber(value: 1)) == true && read(Bool.self, NSNumber(value: 0)) == false)
        #expect(read(Bool.self, true) == true && member(Bool.self, NSNumber(value: 1)) == true)
        #expect(read(Bool.self, NSNumber(value: 2)) == nil && read(Bool.self, NSNumber(value: -1)) == nil)
        #expect(read(Bool.self, NSNumber(value: 1.0)) == nil && read(Bool.self, "true") == nil)
    }

    /// A Decimal is read with all of its digits, or not at all.
    @Test func textsAndNumbersAsDecimal() {
        let posix = Locale(identifier: "en_US_POSIX")
        let readable: [(Any, String)] = [
            (NSNumber(value: 0.1), "0.1"), (NSNumber(value: Int.min), "\(Int.min)"),
            (NSNumber(value: UInt64.max), "\(UInt64.max)"), (NSNumber(value: 1e22), "10000000000000000000000"),
            ("1.50", "1.5"), ("+2e3", "2000"), ("-7E-3", "-0.007"), ("000", "0"), ("1e-128", "1e-128"),
        ]
        for (stored, text) in readable {
            #expect(read(Decimal.self, stored) == Decimal(string: text, locale: posix), "\(text)")
        }
        #expect(read(Decimal.self, NSNumber(value: Double.nan))?.isNaN == true)
        let unreadable: [Any] = [
            NSNumber(value: Double.infinity), NSNumber(value: 1e300), NSNumber(value: Double.leastNonzeroMagnitude),
            true, "", "x", "1x", " 1",
            "1 ", "1,5", "0x1", "1e", ".5", "1.", "--1", "1\u{663}", "\u{663}", "1e999", "1e-999",
            "1e99999999999999999999", "1234567890123456789012345678901234567890123",
            "0.1234567890123456789012345678901234567890123",
            String(repeating: "1", count: 100_000), "$null",
        ]
        for stored in unreadable { #expect(read(Decimal.self, stored) == nil, "\(stored)") }
    }

    private func message<Value: Codable>(_ type: Value.Type, _ object: Any) -> String? {
        do {
            _ = try PrefCoding(rule: type).value(of: StoredValue(of: object))
            return nil
        } catch {
            return PrefsError.mismatch(of: error.failures(forKey: "n")).description
        }
    }

    /// The message says whether the number is too large or has too many digits.
    @Test func aMismatchSaysWhatIsWrongWithTheNumber() {
        let (reals, whole) = ("found a real number", "found an integer")
        let rows: [(String?, String)] = [
            (message(Float.self, 13.404954123), "Float, \(reals) with more digits than a Float has"),
            (message(Float.self, 16_777_217), "Float, \(whole) with more digits than a Float has"),
            (message(Float.self, -1e300), "Float, \(reals) out of its range"),
            (message(Float.self, 1e-300), "Float, \(reals) out of its range"),
            (message(Double.self, Self.two53 + 1), "Double, \(whole) with more digits than a Double has"),
            (message(Decimal.self, 1e300), "Decimal, \(reals) out of its range"),
            (message(Int.self, 4.5), "Int, \(reals)"),
            (message(UInt8.self, 255.5), "UInt8 (0...255), \(reals) out of its range"),
            (message(UInt8.self, -0.5), "UInt8 (0...255), \(reals) out of its range"),
            (message(UInt8.self, 254.5), "UInt8, \(reals)"),
            (message(Int8.self, 300), "Int8 (-128...127), \(whole) out of its range"),
            (message(Int.self, 0x1p63), "Int (\(Int.min)...\(Int.max)), \(reals) out of its range"),
            (message(Int.self, Double.nan), "Int, \(reals)"), (message(Float.self, true), "Float, found a Boolean"),
            (message(String.self, 5), "String, \(whole)"), (message(Date.self, 1e300), "Date, \(reals)"),
        ]
        for (message, expected) in rows { #expect(message == "n: expected \(expected)") }
        let member = #expect(throws: ValueMismatch.self) {
            try StoredValueDecoder.value([String: Float].self, from: StoredValue(of: ["a": 13.404954123]))
        }
        #expect(member?.reason == "expected Float, found a real number with more digits than a Float has")
    }

    private final class LoosePrefs: PersistentPrefs, @unchecked Sendable {
        @Pref var loose: [String: Any] = ["a": 1, "b": [2.5]]
        @Pref(coding: PrefCoding<Int>(encode: { $0 }, decode: { $0 as? Int })) var own = 5
        @Pref var real = 4.0
    }

    /// Numbers of a default are native, stored numbers are NSNumber.
    @Test func aStoredDefaultIsKnown() {
        let prefs = LoosePrefs(store: .memory())
        prefs.loose = prefs.loose
        prefs.own = 5
        prefs["real"] = 4
        #expect(prefs.outcome == "ok" && prefs.$loose.isStored && prefs.$own.isStored && prefs.$real.isStored)
        #expect(prefs.$loose.isDefault && prefs.$own.isDefault && prefs.$real.isDefault)
        prefs.loose["a"] = 1.0
        prefs.own = 6
        #expect(!prefs.$loose.isDefault && !prefs.$own.isDefault && prefs.outcome == "ok")
    }
}
