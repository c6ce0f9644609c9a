import Foundation
import PersistentPreferences
import PrefsTestSet
import Testing
import TestSupport

@testable import PrefsTool
import PrefsLayers

/// Parsing and printing of values.
@Suite final class HarnessValueTests: HarnessSuite {
    struct Value: Sendable, CustomTestStringConvertible {
        let key: String
        let words: [String]
        let line: String

        init(_ key: String, _ words: String..., gives line: String) {
            (self.key, self.words, self.line) = (key, words, line)
        }

        var testDescription: String { "\(key) \(words)" }
    }

    /// What is printed, and what stands after two dashes. `TextTableTests` has what texts stand for.
    @Test(arguments: [
        Value("int", "--", "-5", gives: "-5"), Value("string", "", gives: ""),
        Value("string", #"a\nb"#, gives: #"a\nb"#),
        Value("string", "--", "--json", gives: "--json"), Value("string", "--", "-h", gives: "-h"),
        Value("string", "--", "--", gives: "--"), Value("string", "--", "-x", gives: "-x"),
        Value("string", "héllo 世界 👩‍👩‍👧 e\u{301}", gives: "héllo 世界 👩‍👩‍👧 e\u{301}"),
        Value("string", "one\ntwo\n", gives: "one\ntwo\n"), Value("string", "x\u{FEFF}", gives: "x\u{FEFF}"),
        Value("array", "a,b,c", gives: #"["a","b","c"]"#), Value("array", "--", "--a,b", gives: #"["--a","b"]"#),
        Value("array", #"["a\nb","a/b","世"]"#, gives: #"["a\nb","a/b","世"]"#),
        Value("dictionary", "b=2,a=1", gives: #"{"a":"1","b":"2"}"#),
        Value("dictionary", "--", "--k=v", gives: #"{"--k":"v"}"#),
        Value("dictionary", "CF$UID=1", gives: #"{"CF$UID":"1"}"#),
        Value("date", "2026-11-20", gives: "2026-11-20T00:00:00Z"),
        Value("date", "2026-11-20T08:30:00.25Z", gives: "2026-11-20T08:30:00.250Z"),
        Value("date", "2026-11-20T08:30:00.0Z", gives: "2026-11-20T08:30:00Z"),
        Value("date", "2026-11-20T08:30:00.001Z", gives: "2026-11-20T08:30:00.001Z"),
        Value("date", "9999-12-31T23:59:59.999Z", gives: "9999-12-31T23:59:59.999Z"),
        Value("date", "1965-01-31T23:59:59.999Z", gives: "1965-01-31T23:59:59.999Z"),
        Value("date", "2026-12-31T23:59:59.9996Z", gives: "2027-01-01T00:00:00Z"),
    ])
    func valuesArePrintedAndReadAgain(_ value: Value) throws {
        try check(value)
    }

    private func check(_ value: Value) throws {
        #expect(try home.prefs(["set", value.key] + value.words) == Printed())
        #expect(try home.prefs("get", value.key) == Printed(value.line + "\n"))
        // The printed text is parsed to the same value.
        let prefs = PrefsTestSet(store: InMemoryStore())
        let key = try #require(PrefsKey.all(of: prefs).first { $0.shortName == value.key })
        let stored = try #require(try prefs.storedValue(ofText: value.line, forKey: key.name))
        #expect(ValueText.line(stored) == value.line)
    }

    /// A bad text of each kind; the library tests all.
    private static let bad: [(key: String, name: String, value: String, complaint: String)] = [
        ("int", "Integer Value", "abc", #"expected Int, found "abc""#),
        ("int", "Integer Value", "9223372036854775808", #"expected Int, found "9223372036854775808""#),
        ("int", "Integer Value", "1\n2", #"expected Int, found "1\n2""#),
        ("array", "Array Value", "[", "expected Array<String>, found \"[\": invalid JSON"),
        ("dictionary", "Dictionary Value", "k", "expected"),
        (
            "date", "Date Value", "2026-02-30",
            #"expected Date (such as 2026-11-23 or 2026-11-23T10:00:00Z), found "2026-02-30""#
        ),
    ]

    @Test(arguments: bad)
    func aValueThatIsNotOfItsTypeChangesNothing(key: String, name: String, value: String, complaint: String) throws {
        let bytes = try home.writeSuite()
        for key in [key, name] {
            let printed = try prefs("set", "--", key, value)
            #expect(printed.errors.hasPrefix("prefs: \(key): \(complaint)") && printed.code == 1, "\(printed)")
        }
        #expect(try Data(contentsOf: home.suiteFile) == bytes)
    }

    /// A separator and a following combining mark look like one character, but are two scalars.
    @Test func aPartMayBeginWithACombiningMark() throws {
        #expect(try prefs("--root=\u{338}r", "set", "array", "a,\u{301}b") == Printed())
        #expect(try prefs("--root", "\u{338}r", "set", "dictionary", "k=\u{338}v,\u{301}l=w") == Printed())
        #expect(try prefs("get", "array", "--root", "\u{338}r") == Printed("[\"a\",\"\u{301}b\"]\n"))
        let printed = try prefs("get", "dictionary", "--root", "\u{338}r")
        #expect(printed == Printed("{\"k\":\"\u{338}v\",\"\u{301}l\":\"w\"}\n"))
        #expect(try prefs("--\u{301}").errors.hasPrefix("prefs: unknown option `--\u{301}`"))
    }

    @Test func aTableCellIsOneLine() throws {
        try prefs("set", "string", "one\ntwo\tthree\r\u{1B}[2J\u{7F}\u{2028}end  ")
        try prefs("set", "array", "世界,👩‍👩‍👧")
        var shown = DisplayedValues()
        shown.string = #"one\ntwo\tthree\u{d}\u{1b}[2J\u{7f}\u{2028}end  "#
        shown.array = #"["世界","👩‍👩‍👧"]"#
        #expect(try prefs() == Printed(shown.table(suite: HarnessHome.suite, file: home.suiteFile)))
    }

    @Test func valuesOfOtherTypesAreShownAsTheyAreAndMarked() throws {
        let stored: [String: Any] = [
            "Integer Value": "x", "String Value": true, "Array Value": [1, 2.5], "Dictionary Value": ["a": false],
            "Date Value": Data("ab".utf8),
        ]
        let file = try home.write(["PrefsTestSet": stored], to: "x.plist")
        let bytes = try Data(contentsOf: file)
        let shown = try prefs(in: home.path("x.plist"))
        #expect(shown.code == 0)
        for note in ["0  (stored: x: expected Int, found a string)", "{}  (stored: {\"a\":false}: "] {
            #expect(shown.output.contains(note), "\(shown.output)")
        }
        #expect(try prefs("get", "int", in: home.path("x.plist")).output == "0\n")
        #expect(try prefs("get", "int", "--stored", in: home.path("x.plist")) == Printed("x\n"))
        #expect(try prefs("get", "string", "--stored", in: home.path("x.plist")) == Printed("true\n"))
        #expect(try Data(contentsOf: file) == bytes)
    }

    @Test(arguments: [0, 1, -1, 2])
    func smallNumbersAreIntegersAndNoTruthValues(number: Int) throws {
        let file = try home.write(["PrefsTestSet": ["Integer Value": number]], to: "x.plist")
        var shown = DisplayedValues()
        shown.int = "\(number)"
        #expect(try prefs(in: home.path("x.plist")) == Printed(shown.table(file: file)))
    }
}
