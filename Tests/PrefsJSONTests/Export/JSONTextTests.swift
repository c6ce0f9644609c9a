@testable import PrefsSupport
import Foundation
import PropertyListSupport
import Testing

@testable import PersistentPreferences
@testable import PrefsJSON
@testable import PrefsPropertyLists

/// The bytes of the JSON that is written, and other texts that are read.
@Suite struct JSONTextTests {
    private static let scalars: [(value: any Sendable, json: String)] = [
        (1, "1"), (0, "0"), (-1, "-1"), (Int64.min, "-9223372036854775808"), (UInt64.max, "18446744073709551615"),
        (1.0, "1.0"), (0.0, "0.0"), (-0.0, "-0.0"), (0.1, "0.1"), (1e22, "1e+22"),
        (Double.leastNonzeroMagnitude, "5e-324"),
        (Double.greatestFiniteMagnitude, "1.7976931348623157e+308"), (true, "true"), (false, "false"),
        (Double.nan, #"{"$double": "nan"}"#), (Double.infinity, #"{"$double": "inf"}"#),
        (-Double.infinity, #"{"$double": "-inf"}"#), (Data(), #"{"$data": ""}"#),
        (Data("Hello".utf8), #"{"$data": "SGVsbG8="}"#),
        (date(0), #"{"$date": "2001-01-01T00:00:00Z"}"#), (date(-0.0), #"{"$date": -0.0}"#),
        (date(816_980_563.25), #"{"$date": "2026-11-21T19:02:43.25Z"}"#),
        (date(-0.25), #"{"$date": "2000-12-31T23:59:59.75Z"}"#), (date(-1), #"{"$date": "2000-12-31T23:59:59Z"}"#),
        (date(0.1), #"{"$date": "2001-01-01T00:00:00.1Z"}"#), (date(0.00001), #"{"$date": 1e-05}"#),
        (date(-63_145_526_400), #"{"$date": "0000-01-01T00:00:00Z"}"#),
        (date(-63_145_526_401), #"{"$date": -63145526401.0}"#),
        (date(252_423_993_599), #"{"$date": "9999-12-31T23:59:59Z"}"#),
        (date(252_423_993_600), #"{"$date": 252423993600.0}"#), (date(6e16), #"{"$date": 6e+16}"#),
        ("", #""""#), ("é\u{1F600}/\u{7F}\u{2028}\u{FEFF}", "\"é\u{1F600}/\\u007f\\u2028\u{FEFF}\""),
        ("\"\\\n\r\t\u{8}\u{C}\u{0}\u{1F}", #""\"\\\n\r\t\u0008\u000c\u0000\u001f""#),
        ([Int](), "[]"), ([String: Int](), "{}"), ([1, 2], "[\n    1,\n    2\n  ]"),
        (["b": 1, "a": 2], "{\n    \"a\": 2,\n    \"b\": 1\n  }"), (["$date": 1], "{\n    \"$$date\": 1\n  }"),
        (["$": 1], "{\n    \"$\": 1\n  }"), (["$a": 1, "$b": 2], "{\n    \"$a\": 1,\n    \"$b\": 2\n  }"),
    ]

    /// Most bytes are looked at in eights.
    @Test func aScalarIsEscapedWhereverItStands() {
        let scalars = (0...0xA1).map { UInt32($0) } + [0x2027, 0x2028, 0x2029, 0x202A, 0x20AC, 0x2FFF, 0xFFFD, 0x1F600]
        for scalar in scalars.compactMap(Unicode.Scalar.init) {
            let escape =
                switch scalar {
                case "\"": #"\""#
                case "\\": #"\\"#
                case "\n": #"\n"#
                case "\r": #"\r"#
                case "\t": #"\t"#
                default: JSONEscape.isRequired(scalar) ? JSONEscape.text(of: scalar) : String(scalar)
                }
            for place in 0..<18 {
                let (start, end) = ("0123456789abcdefgh".prefix(place), "ABCDEFGHI".prefix(17 - place))
                #expect(JSONEscape.quoted("\(start)\(scalar)\(end)") == "\"\(start)\(escape)\(end)\"")
                #expect(JSONEscape.quoted("\(start)\(scalar)\(scalar)") == "\"\(start)\(escape)\(escape)\"")
            }
        }
    }

    @Test(arguments: scalars.indices)
    func whatIsWritten(_ index: Int) throws {
        let (value, json) = Self.scalars[index]
        let prefs = AnyPrefs(values: ["a": value], store: .memory())
        let text = "{\n  \"a\": \(json)\n}\n"
        #expect(prefs.exportedText == text)
        #expect(exactForm(try read(text)) == exactForm(prefs.values))
    }

    @Test func keysAreSortedByTheirBytes() {
        let keys = ["b", "a", "B", "10", "9", "", "é", "e\u{301}x", "\u{1F600}", "\u{FFFD}"]
        let prefs = AnyPrefs(
            keys, values: Dictionary(uniqueKeysWithValues: keys.map { ($0, 1) }), store: .memory())
        let written = prefs.exportedText.split(separator: "\n").dropFirst().dropLast().map { line in
            String(line.split(separator: "\"", omittingEmptySubsequences: false)[1])
        }
        #expect(written == ["", "10", "9", "B", "a", "b", "e\u{301}x", "é", "\u{FFFD}", "\u{1F600}"])
    }

    /// Other spellings, and the values that they are read as.
    private static let spellings: [(json: String, value: any Sendable)] = [
        ("-0", 0), ("1E2", 100.0), ("1e-0002", 0.01), ("0.5e+1", 5.0), ("-0e0", -0.0), ("1e-999", 0.0),
        ("9223372036854775808", UInt64(1) << 63), ("1.0000000000000000000000000000000000001", 1.0),
        (#""\u0041\u00e9\ud83d\uDE00\/\b\f\n\r\t""#, "Aé\u{1F600}/\u{8}\u{C}\n\r\t"),
        ("[ ]", [Int]()), ("{\t}", [String: Int]()), (" [1 ,\r\n2] ", [1, 2]),
        (#"{"$date":"2026-11-21T19:02:43.250000000000Z"}"#, date(816_980_563.25)),
        (#"{"$date":816980563}"#, date(816_980_563)), (#"{"$date":0.1}"#, date(0.1)),
        (#"{"$date":"2000-02-29T23:59:59.999999999999999999999Z"}"#, date(-26_438_400)),
        (#"{"\u0024data":"AQID"}"#, Data([1, 2, 3])),
        (#"{"$$date":{"$$$data":1}}"#, ["$date": ["$$data": 1]]), (#"{"$x":1,"a":2}"#, ["$x": 1, "a": 2]),
        (#"{"$date":1,"$data":2}"#, ["$date": 1, "$data": 2]),
        (#"{"name":"$date","list":[true]}"#, ["name": "$date", "list": [true]] as [String: any Sendable]),
    ]

    @Test(arguments: spellings.indices) func whatElseIsRead(_ index: Int) throws {
        let (json, value) = Self.spellings[index]
        let expected = try PropertyListVetter.storedObject(of: value).get()
        for text in ["{\"a\":\(json)}", "\u{FEFF}\n\r\t {\"a\" : \(json) }\n\n"] {
            #expect(exactForm(try read(text)) == exactForm(["a": expected]), "\(text)")
        }
    }

    /// The first of the keys that stand twice is told, and the last value of each counts.
    @Test func theLastOfTwoValuesCounts() throws {
        let text = "{\"a\": [{\"b\": 1,\n\"b\": 2, \"d\": 3}], \"c\": 4, \"e\": {\"f\": 5,\n\"f\": 6},\n\"c\": 7}"
        let lenient = try #require(JSONReader.lenientValue(of: Data(text.utf8)))
        #expect(exactForm(lenient.value) == "{'a': [{'b': 2, 'd': 3}], 'c': 7, 'e': {'f': 6}}")
        #expect(lenient.repeated == "`b` stands in line 1 and in line 2, and the last one counts")
    }

    @Test func aSliceOfOtherBytes() throws {
        let prefs = AnyPrefs(store: .memory())
        #expect(prefs.import(Data("xx{\"a\": 5}yy".utf8)[2..<10], merge: false) == nil)
        #expect(prefs.ints == ["a": 5])
    }

    private func read(_ text: String) throws -> [String: Any] {
        let prefs = AnyPrefs(store: .memory())
        if let error = prefs.import(Data(text.utf8), merge: false) { throw error }
        return prefs.values
    }
}

private func date(_ seconds: Double) -> Date {
    Date(timeIntervalSinceReferenceDate: seconds)
}
