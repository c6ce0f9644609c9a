@testable import PrefsSupport
import Foundation
import PersistentPreferences
import Testing

/// Contract 4: the stored value is a deep copy in canonical form, and exactly equal to the given value.
@Suite struct CanonicalValueTests {
    private let prefs = AnyPrefs(["Dictionary Value"], store: .memory())

    @Test(arguments: Sample.all) func isStoredExactly(_ sample: Sample) throws {
        let places: [(value: Any, form: String)] = [
            (sample.value(), sample.form),
            (["fine", sample.value()], "['fine', \(sample.form)]"),
            (["k": [sample.value()]], "{'k': [\(sample.form)]}"),
            (NSArray(object: sample.value()), "[\(sample.form)]"),
            (NSDictionary(object: sample.value(), forKey: "k" as NSString), "{'k': \(sample.form)}"),
        ]
        for place in places {
            prefs["Dictionary Value"] = place.value
            #expect(prefs.outcome == "ok")
            let stored = try #require(prefs["Dictionary Value"])
            #expect(exactForm(stored) == place.form)
            // Storing the value that was read is not a change.
            prefs["Dictionary Value"] = stored
            #expect(exactForm(prefs.values) == "{'Dictionary Value': \(place.form)}")
        }
    }

    @Test(arguments: Sample.keys) func keysAreStoredExactly(_ key: String) {
        prefs["Dictionary Value"] = [key: 1, "other": 2]
        #expect(prefs.outcome == "ok")
        #expect(
            prefs["Dictionary Value"].map(exactForm)
                == exactForm([key: NSNumber(1), "other": NSNumber(2)] as [String: Any]))
        prefs["Dictionary Value"] = [AnyHashable(key): [NSString(string: key): true]]
        #expect(
            prefs["Dictionary Value"].map(exactForm) == exactForm([key: [key: true] as [String: Any]] as [String: Any]))
    }
}

/// A value that is accepted, and its stored form.
struct Sample: @unchecked Sendable, CustomTestStringConvertible {
    let value: () -> Any
    let form: String

    var testDescription: String { "\(type(of: value())) \(form.prefix(40))" }

    init(_ form: String, _ value: @escaping @autoclosure () -> Any) {
        self.value = value
        self.form = form
    }

    static let all = numbers + texts + others

    static let keys = [
        "", " ", ".", "/", "a.b[0]", "\u{FEFF}key", "\u{0}", "\u{1}\u{7F}", "\r\n", "<&>\"'", "e\u{301}", "\u{E9}",
        "\u{1F600}", "CF$UID", String(repeating: "k", count: 1_000_000),
    ]

    private static let numbers: [Sample] = [
        Sample("1", 1), Sample("-1", Int8(-1)), Sample("-2", Int16(-2)), Sample("-3", Int32(-3)),
        Sample("-4", Int64(-4)), Sample("5", UInt(5)), Sample("6", UInt8(6)), Sample("7", UInt16(7)),
        Sample("8", UInt32(8)), Sample("9", UInt64(9)), Sample("9223372036854775807", Int.max),
        Sample("-9223372036854775808", Int.min), Sample("9223372036854775808", UInt64(1) << 63),
        Sample("18446744073709551615", UInt64.max), Sample("18446744073709551615", UInt.max),
        Sample("1.0 (3ff0000000000000)", 1.0), Sample("0.0 (0)", 0.0), Sample("-0.0 (8000000000000000)", -0.0),
        Sample("-0.0 (8000000000000000)", NSNumber(value: -0.0)), Sample("0.1 (3fb999999999999a)", 0.1),
        Sample("0.10000000149011612 (3fb99999a0000000)", Float(0.1)),
        Sample("0.10000000149011612 (3fb99999a0000000)", NSNumber(value: Float(0.1))),
        Sample("nan", Double.nan), Sample("nan", -Double.nan), Sample("nan", Float.nan),
        Sample("inf (7ff0000000000000)", Double.infinity), Sample("-inf (fff0000000000000)", -Float.infinity),
        Sample("5e-324 (1)", Double.leastNonzeroMagnitude),
        Sample("1.7976931348623157e+308 (7fefffffffffffff)", Double.greatestFiniteMagnitude),
        Sample("true", true), Sample("false", false), Sample("true", NSNumber(value: true)),
        Sample("1", NSNumber(value: 1)), Sample("1", NSNumber(value: Int8(1))), Sample("0", NSNumber(value: Int8(0))),
        Sample("200", NSNumber(value: UInt8(200))), Sample("18446744073709551615", NSNumber(value: UInt64.max)),
        Sample("1.0 (3ff0000000000000)", NSNumber(value: 1.0)),
    ]

    private static let texts: [Sample] = [
        Sample("'a'", "a"), Sample("''", ""), Sample("'a'", NSString(string: "a")),
        Sample("'a'", NSMutableString(string: "a")), Sample("'a'", UnitsText([0x61])),
        Sample("'\\u{FEFF}\\u{FEFF}a'", "\u{FEFF}\u{FEFF}a"),
        Sample("'\\0\\u{01}\\u{7F}'", "\u{0}\u{1}\u{7F}"), Sample("'\\r\\n'", "\r\n"),
        Sample("'\\u{00E9}'", "\u{E9}"), Sample("'e\\u{0301}'", "e\u{301}"), Sample("'\\u{0001F600}'", "\u{1F600}"),
        Sample("'\\u{FFFE}\\u{FFFF}'", "\u{FFFE}\u{FFFF}"),
    ]

    private static let others: [Sample] = [
        Sample("data AQI=", Data([1, 2])), Sample("data ", Data()), Sample("data AQI=", NSData(data: Data([1, 2]))),
        Sample("data Ag==", Data([1, 2, 3])[1..<2]), Sample("data AQ==", NSMutableData(data: Data([1]))),
        Sample("date 0.1 (3fb999999999999a)", Date(timeIntervalSinceReferenceDate: 0.1)),
        Sample("date -0.1 (bfb999999999999a)", NSDate(timeIntervalSinceReferenceDate: -0.1)),
        Sample("date 6e+16 (436aa535d3d0c000)", Date(timeIntervalSinceReferenceDate: 6e16)),
        Sample("date -63114076800.0 (c22d63c8c5000000)", Date.distantPast),
        Sample("[]", [Int]()), Sample("[]", NSArray()), Sample("{}", [String: Int]()), Sample("{}", NSDictionary()),
        Sample("{}", [Int: Int]()), Sample("[1, 'a', true]", [1, "a", true] as [Any]),
        Sample("[1, 2]", NSMutableArray(array: [1, 2])), Sample("[1, 2]", [1, 2] as [Int?]),
        Sample("{'a': 1}", ["a": 1] as [AnyHashable: Any]), Sample("{'a': 1}", ["a": 1] as [NSString: NSNumber]),
        Sample("{'CF$UID': '5'}", ["CF$UID": "5"]), Sample("{'CF$UID': true}", ["CF$UID": true]),
        Sample("{'CF$UID': 5, 'x': 1}", ["CF$UID": 5, "x": 1]),
        Sample("1", Int?.some(1) as Any), Sample("'a'", String??.some("a") as Any), Sample("1", AnyHashable(1)),
        Sample("true", AnyHashable(true)), Sample("['a']", AnyHashable(["a"])),
        Sample("[1]", [AnyHashable(1)]), Sample("[[1]]", [[1] as [Int?]] as [[Int?]?]),
    ]
}
