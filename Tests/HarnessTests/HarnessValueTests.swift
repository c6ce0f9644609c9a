import Foundation
import PersistentPreferences
import PrefsTestSet
import Testing
import TestSupport

@testable import PrefsTool
import PrefsLayers

/// Parsing and printing of values.
@Suite(.waits) final class HarnessValueTests: HarnessSuite {
    /// What is printed, and what stands after two dashes. `TextTableTests` has what texts stand for.
    private static let values: [(key: String, words: [String], line: String)] = [
        ("int", ["--", "-5"], "-5"), ("string", [""], ""), ("string", [#"a\nb"#], #"a\nb"#),
        ("string", ["--", "--json"], "--json"), ("string", ["--", "--"], "--"),
        ("string", ["héllo 世界 👩‍👩‍👧 e\u{301}"], "héllo 世界 👩‍👩‍👧 e\u{301}"),
        ("string", ["one\ntwo\n"], "one\ntwo\n"), ("string", ["x\u{FEFF}"], "x\u{FEFF}"),
        ("array", ["a,b,c"], #"["a","b","c"]"#), ("array", [#"["a\nb","a/b","世"]"#], #"["a\nb","a/b","世"]"#),
        ("dictionary", ["b=2,a=1"], #"{"a":"1","b":"2"}"#), ("dictionary", ["CF$UID=1"], #"{"CF$UID":"1"}"#),
        ("date", ["2026-11-20"], "2026-11-20T00:00:00Z"),
        ("date", ["2026-11-20T08:30:00.25Z"], "2026-11-20T08:30:00.250Z"),
        ("date", ["2026-11-20T08:30:00.0Z"], "2026-11-20T08:30:00Z"),
        ("date", ["2026-11-20T08:30:00.001Z"], "2026-11-20T08:30:00.001Z"),
        ("date", ["9999-12-31T23:59:59.999Z"], "9999-12-31T23:59:59.999Z"),
        ("date", ["1965-01-31T23:59:59.999Z"], "1965-01-31T23:59:59.999Z"),
        ("date", ["2026-12-31T23:59:59.9996Z"], "2027-01-01T00:00:00Z"),
    ]

    @Test(arguments: values) func valuesArePrintedAndReadAgain(key: String, words: [String], line: String) throws {
        #expect(try prefs(["set", key] + words) == Printed())
        #expect(try prefs("get", key) == Printed(line + "\n"))
        // The printed text is parsed to the same value.
        let prefs = PrefsTestSet(store: InMemoryStore())
        let name = try #require(PrefsKey.all(of: prefs).first { $0.shortName == key }).name
        let stored = try #require(try prefs.storedValue(ofText: line, forKey: name))
        #expect(ValueText.line(stored) == line)
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
        let rows = try prefs().output.split(separator: "\n").dropFirst(5).prefix(2)
        #expect(
            rows == [
                #"string      String Value      String            stored   one\ntwo\tthree\u{d}\u{1b}[2J\u{7f}\u{2028}end  "#,
                #"array       Array Value       [String]          stored   ["世界","👩‍👩‍👧"]"#,
            ])
    }

    @Test func valuesOfOtherTypesArePrintedAsJSON() throws {
        let stored: [String: Any] = [
            "Integer Value": true, "String Value": 1.5, "Array Value": [0, 1, UInt64.max, Double.infinity] as [Any],
            "Dictionary Value": ["d": Date(timeIntervalSinceReferenceDate: 0.25), "b": Data([1])] as [String: Any],
            "Date Value": -0.5,
        ]
        try home.write(["PrefsTestSet": stored], to: "x.plist")
        func line(_ key: String) throws -> String {
            try prefs("get", key, "--stored", "--json", in: home.path("x.plist")).output
        }
        #expect(try line("int") == "true\n")
        #expect(try line("string") == "1.5\n")
        #expect(try line("array") == "[\n  0,\n  1,\n  18446744073709551615,\n  {\"$double\": \"inf\"}\n]\n")
        let date = "2001-01-01T00:00:00.25Z"
        #expect(try line("dictionary") == "{\n  \"b\": {\"$data\": \"AQ==\"},\n  \"d\": {\"$date\": \"\(date)\"}\n}\n")
        #expect(try line("date") == "-0.5\n")
    }
}
