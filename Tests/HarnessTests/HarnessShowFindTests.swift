import Foundation
import Testing

/// `show KEY` and `find WORD`, on the test set and on any file.
@Suite(.waits) final class HarnessShowFindTests: HarnessSuite {
    private var file: String { home.path("d.json") }

    override init() throws {
        try super.init()
        try home.storeSampleValues()
        let text = #"{"a": {"b": {"c": 1, "d": ["One", {"x": 2}]}, "none": {}}, "e.f": "two words", "g": [1]}"#
        try home.write(text, to: "d.json")
    }

    // MARK: - show

    /// The lines of a table below its head.
    private func rows(_ words: [String], head: [String]) throws -> [String] {
        let printed = try prefs(["show"] + words)
        #expect(printed.code == 0 && printed.errors == "", "\(printed)")
        let lines = printed.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        #expect(lines.starts(with: head + [""]))
        return Array(lines.dropFirst(head.count + 1).dropLast())
    }

    @Test func showOfKeysHasTheirRows() throws {
        let head = [
            "root   PrefsTestSet", "store  UserDefaults suite \"\(HarnessHome.suite)\"",
            "file   \(home.suiteFile.path(percentEncoded: false))",
        ]
        let int = ["KEY  STORED AS      TYPE  SOURCE  VALUE", "int  Integer Value  Int   stored  10"]
        #expect(try rows(["Integer Value"], head: head) == int)
        try prefs("unset", "int")
        // The rows are in the order of the class. A part has the row of its key.
        #expect(
            try rows(["array[1]", "int"], head: head) == [
                "KEY    STORED AS      TYPE      SOURCE   VALUE", "int    Integer Value  Int       default  10",
                #"array  Array Value    [String]  stored   ["One","Two","Three","Four","Five"]"#,
            ])
        let printed = try prefs("show", "int", "string", "--json")
        #expect(printed == Printed("{\n  \"Integer Value\": 10,\n  \"String Value\": \"Sample String\"\n}\n"))
    }

    /// As `git config --show-origin`.
    @Test func sourcesSayWhereEachValueComesFrom() throws {
        try prefs("unset", "string")
        let path = home.suiteFile.path(percentEncoded: false)
        let layer = try home.write(#"{"PrefsTestSet": {"String Value": "low"}}"#, to: "low.json").path
        let words = ["show", "int", "string", "date", "--json", "--sources", "--layer", layer, "--layers", "P_"]
        let expected: NSDictionary = [
            "Date Value": [
                "layer": "environment", "source": "layer", "type": "Date", "value": ["$date": "2026-11-01T00:00:00Z"],
            ],
            "Integer Value": ["file": path, "source": "stored", "type": "Int", "value": 10],
            "String Value": ["layer": layer, "source": "layer", "type": "String", "value": "low"],
        ]
        let shown = try prefs(words, ["P_DATE_VALUE": "2026-11-01"])
        #expect(try shown.object() as NSDictionary == expected && shown.errors == "" && shown.code == 0)
        try prefs("unset", "int")
        #expect(try prefs("show", "int", "--json", "--sources").output.contains(#""source": "default""#))
        let other: NSDictionary = ["g": ["file": file, "source": "stored", "type": "array", "value": [1]]]
        #expect(try prefs("show", "-f", file, "g", "--json", "--sources").object() as NSDictionary == other)
        #expect(try prefs("show", "--sources").code == 64)
    }

    @Test func showOfPathsHasTheValuesThere() throws {
        func rows(_ words: String...) throws -> [String] {
            try self.rows(["-f", file] + words, head: ["store  JSON file", "file   \(file)"])
        }
        #expect(
            try rows() == [
                "KEY     TYPE        VALUE", "a.b.c   integer     1", #"a.b.d   array       ["One",{"x":2}]"#,
                "a.none  dictionary  {}", #"e\.f    string      two words"#, "g       array       [1]",
            ])
        #expect(try rows("g", "a.b.c") == ["KEY    TYPE     VALUE", "g      array    [1]", "a.b.c  integer  1"])
        #expect(
            try rows("a.b.d[-1].x", "e.f").dropFirst() == [
                "a.b.d[-1].x  integer  2", #"e\.f         string   two words"#,
            ])
        #expect(
            try prefs("show", "-f", file, "a.b.c", "a.none", "g[0]", "--json")
                == Printed(
                    "{\n  \"a\": {\n    \"b\": {\n      \"c\": 1\n    },\n    \"none\": {}\n  },\n  \"g\": [\n    1\n  ]\n}\n"
                ))
    }

    @Test func showOfWhatIsMissingIsAnError() throws {
        for (words, message) in [
            (["intt"], "no key `intt`; did you mean `int`?"), (["int", "array[5]"], "`array[5]` is not set"),
            (["dictionary.Ones"], "`dictionary.Ones` is not set; did you mean `One`?"),
            (["-f", file, "a.b.x"], "`a.b.x` is not set"), (["-f", file, "nope"], "`nope` is not set"),
            (["-f", file, "a.nome"], "`a.nome` is not set; did you mean `none`?"),
            (["-f", file, "g", "g[1]"], "`g[1]` is not set"),
            (["-f", file, "a..b"], "expected a key or a path such as a.b[0]"),
        ] {
            for options in [[], ["--json"]] {
                let printed = try prefs(["show"] + words + options)
                #expect(printed.code == 1 && printed.output == "", "\(printed)")
                if options.isEmpty { #expect(printed.errors.hasPrefix("prefs: \(message)"), "\(printed)") }
            }
        }
    }

    /// The program reads the default, and so do `get` and `show`. In JSON, a text may stand for a date.
    @Test func whatDoesNotFitIsShownBesideTheDefault() throws {
        let stored = ["PrefsTestSet": ["Date Value": "2026-01-01", "Integer Value": "5"]]
        let file = ["-f", try home.write(stored, to: "d.plist").path, "--root", "PrefsTestSet"]
        let json = ["-f", try home.write(JSONEncoder().encode(stored), to: "s.json").path, "--root", "PrefsTestSet"]
        let int = "int   Integer Value  Int   default  10  (stored: 5: expected Int, found a string)"
        let note = "prefs: Integer Value: expected Int, found a string; the program reads the default\n"
        let date = "date  Date Value     Date  "
        let mismatch = "(stored: 2026-01-01: expected Date, found a string)"
        for (place, value, row) in [
            (file, "2001-01-01T00:00:00Z", "default  2001-01-01T00:00:00Z  \(mismatch)"),
            (json, "2026-01-01T00:00:00Z", "stored   2026-01-01T00:00:00Z"),
        ] {
            #expect(try prefs(["get", "date"] + place).output == value + "\n")
            #expect(try prefs(["get", "int"] + place) == Printed("10\n", errors: note))
            let rows = try prefs(["show", "int", "date"] + place).output.split(separator: "\n").suffix(2)
            #expect(rows == [int[...], (date + row)[...]])
        }
        let other = "prefs: Date Value: expected Date, found a string; the program reads the default\n"
        #expect(try prefs(["get", "int", "date"] + file).errors == note + other)
        #expect(try prefs(["get", "date", "--stored"] + file) == Printed("2026-01-01\n"))
    }

    // MARK: - find

    @Test(arguments: [
        // A key, by either name, a word of the help, and values, whole and in parts.
        ("INTEGER", ["Integer Value: 10"]), ("int", ["Integer Value: 10"]), ("whole number", ["Integer Value: 10"]),
        ("sample", ["String Value: Sample String"]),
        ("three", ["Array Value[2]: Three", "Dictionary Value.Three: Third"]),
        ("sec", ["Dictionary Value.Two: Second"]), ("2001-", ["Date Value: 2001-01-01T00:00:00Z"]),
    ])
    func findSearchesTheTestSet(word: String, lines: [String]) throws {
        #expect(try prefs("find", word) == Printed(lines.map { $0 + "\n" }.joined()))
    }

    @Test func findSearchesTheDefaultsToo() throws {
        try prefs("unset", "date")
        #expect(try prefs("find", "2001-") == Printed("Date Value: 2001-01-01T00:00:00Z\n"))
        let printed = try prefs("find", "2001-", "--json")
        #expect(printed == Printed(#"[{"path":["Date Value"],"value":{"$date": "2001-01-01T00:00:00Z"}}]"# + "\n"))
    }

    @Test func findSearchesAFile() throws {
        for (word, lines) in [
            ("one", ["a.b.d[0]: One", "a.none: {}"]), ("x", ["a.b.d[1].x: 2"]), ("WORDS", [#"e\.f: two words"#]),
            ("B", [#"a.b: {"c":1,"d":["One",{"x":2}]}"#]), ("1", ["a.b.c: 1", "g[0]: 1"]),
        ] {
            #expect(try prefs("find", "-f", file, word) == Printed(lines.map { $0 + "\n" }.joined()))
        }
        #expect(
            try prefs("find", "-f", file, "one", "--json")
                == Printed(
                    "[{\"path\":[\"a\",\"b\",\"d\",0],\"value\":\"One\"},\n{\"path\":[\"a\",\"none\"],\"value\":{}}]\n")
        )
        let printed = try prefs("find", "-f", HarnessHome.suite, "first")
        #expect(printed == Printed("PrefsTestSet.Dictionary Value.One: First\n"))
    }

    @Test func findOfNothingIsAnError() throws {
        for words in [["nowhere"], ["-f", file, "nowhere"]] {
            #expect(try prefs(["find"] + words) == .failure("no key and no value contains it"))
            let json = Printed(errors: "{\"error\":\"no key and no value contains it\"}\n", code: 1)
            #expect(try prefs(["find"] + words + ["--json"]) == json)
        }
        let missing = home.path("missing.json")
        #expect(try prefs("find", "-f", missing, "x") == .failure("JSON file not found: \(missing)"))
    }
}
