import Foundation
import PrefsJSON
import Testing
import TestSupport

/// `prefs diff` compares two files or domains and exits like diff(1).
@Suite(.waits) final class HarnessDiffTests: HarnessSuite {
    private var old: String { home.path("old.json") }
    private var new: String { home.path("new.json") }

    override init() throws {
        try super.init()
        try home.write(#"{"a": 1, "gone": "x", "b": {"c": [1, 2], "d": {"e.f": true}}}"#, to: "old.json")
        try home.write(#"{"a": 2, "b": {"c": [1], "d": {"e.f": false, "g": 1}}}"#, to: "new.json")
    }

    @Test func whatDiffersIsPrintedWithExitCode1() throws {
        let expected = """
            ~ a: 1 → 2
            - b.c[1]: 2
            ~ b.d.e\\.f: true → false
            + b.d.g: 1
            - gone: x

            """
        #expect(try prefs("diff", old, new) == Printed(expected, code: 1))
        let json = """
            [{"path":["a"],"old":1,"new":2},
            {"path":["b","c",1],"old":2,"new":null},
            {"path":["b","d","e.f"],"old":true,"new":false},
            {"path":["b","d","g"],"old":null,"new":1},
            {"path":["gone"],"old":"x","new":null}]

            """
        #expect(try prefs("diff", old, new, "--json") == Printed(json, code: 1))
    }

    /// Files in each format and a domain with equal values do not differ.
    @Test func equalValuesHaveExitCode0() throws {
        let xml = home.path("old.xml")
        #expect(try prefs("export", "-f", old, "-o", xml) == Printed())
        #expect(try prefs("import", "-f", "com.example.old", old, "--force") == Printed())
        for other in [old, xml, "com.example.old"] {
            #expect(try prefs("diff", old, other) == Printed())
            #expect(try prefs("diff", other, old, "--json") == Printed("[]\n"))
        }
    }

    /// JSON has one type of numbers; property lists have two.
    @Test func theTypesOfNumbersDifferInPropertyListsOnly() throws {
        let json = try home.write(#"{"a": 1.0, "l": [14.0, -0.0], "m": {"x": 0.5}}"#, to: "f.json").path
        let integers = try home.write(#"{"a": 1, "l": [14, -0.0], "m": {"x": 0.5}}"#, to: "i.json").path
        let (floats, list) = (home.path("f.plist"), home.path("i.plist"))
        #expect(try prefs("export", "-f", json, "-o", floats) == Printed())
        #expect(try prefs("export", "-f", integers, "-o", list) == Printed())
        for (left, right) in [(json, integers), (json, list), (integers, floats)] {
            #expect(try prefs("diff", left, right) == Printed())
        }
        #expect(try prefs("diff", list, floats) == Printed("~ a: 1 → 1.0\n~ l[0]: 14 → 14.0\n", code: 1))
        // A property list has the nearest Double of a number.
        let long = try home.write(#"{"x": 0.50000000000000000001}"#, to: "long.json").path
        let half = try home.write(["x": 0.5], to: "half.plist").path
        #expect(try prefs("diff", long, half) == Printed())
        try home.write(#"{"a": 1, "l": [14, 0], "m": {"x": 0.5}}"#, to: "i.json")
        #expect(try prefs("diff", json, integers) == Printed("~ l[1]: -0 → 0\n", code: 1))
    }

    private static let arrays: [(old: String, new: String, lines: String)] = [
        ("[80, 443, 8080]", "[80, 444, 8080]", "~ l[1]: 443 → 444\n"),
        ("[80, 8080]", "[80, 443, 8080]", "+ l[1]: 443\n"), ("[80, 443, 8080]", "[80, 8080]", "- l[1]: 443\n"),
        ("[]", "[1, 2]", "+ l[0]: 1\n+ l[1]: 2\n"), ("[1, 1]", "[1]", "- l[1]: 1\n"),
        ("[1, 2, 9]", "[3, 9]", "~ l[0]: 1 → 3\n- l[1]: 2\n"), ("[1]", "{}", "~ l: [1] → {}\n"),
        ("[9, 1, 1, 2]", "[9, 1, 2]", "- l[2]: 1\n"),
        (
            #"[{"host": "a", "port": 80}, {"host": "b", "port": 80}]"#,
            #"[{"host": "a", "port": 80}, {"host": "b", "port": 81}]"#, "~ l[1].port: 80 → 81\n"
        ),
    ]

    /// A changed port is one line, in a comparison, a dry run and an undo.
    @Test(arguments: arrays) func anArrayIsComparedElementByElement(old: String, new: String, lines: String) throws {
        let file = try home.write("{\"l\": \(old)}", to: "a.json").path
        let other = try home.write("{\"l\": \(new)}", to: "b.json").path
        #expect(try prefs("diff", file, other) == Printed(lines, code: 1))
        let set = ["set", "-f", file, "l", new, "-t", "json"]
        // Only with --force, an array becomes a dictionary.
        #expect(try prefs(set + ["--dry-run"]).output == lines)
        #expect(try prefs(set + ["--dry-run", "--force"]) == Printed(lines))
        #expect(try prefs(set + ["--force"]) == Printed())
        #expect(try prefs("diff", other, file) == Printed())
        #expect(try prefs("diff", file, other, "--json") == Printed("[]\n"))
        #expect(try prefs("undo", "-f", file).output.split(separator: "\n").count == lines.split(separator: "\n").count)
        #expect(try home.text("a.json") == "{\"l\": \(old)}")
    }

    @Test func whatCannotBeReadHasExitCode2() throws {
        let bad = try home.write("{\n\"a\": 1,,}", to: "bad.json").path
        let missing = home.path("missing.json")
        for (word, message) in [
            (bad, "\(bad): line 2, column 8: "), (missing, "\(missing): open: No such file or directory"),
            (home.folder.path, "\(home.folder.path): is a folder"),
            ("Nowhere", "UserDefaults suite \"Nowhere\" not found"), (".x", "\".x\" is not a valid suite name"),
        ] {
            for words in [[word, old], [old, word], [word, word]] {
                let printed = try prefs(["diff"] + words)
                #expect(printed.code == 2 && printed.output == "", "\(printed)")
                #expect(printed.errors.hasPrefix("prefs: \(message)"), "\(printed)")
                let json = try prefs(["diff"] + words + ["--json"])
                #expect(json.code == 2 && json.output == "" && json.errors.hasPrefix("{\"error\":\""), "\(json)")
            }
        }
    }

    @Test func anEmptyTextIsShown() throws {
        let file = try home.write("{\"a\": \"\", \"b\": \"x\"}", to: "d.json").path
        #expect(try prefs("unset", "-f", file, "a", "--dry-run") == Printed("- a: \"\"\n"))
        #expect(try prefs("set", "-f", file, "b=", "c=", "--dry-run") == Printed("~ b: x → \"\"\n+ c: \"\"\n"))
    }

    /// The state before the damage is known, but it is not the stored state.
    @Test func aDamagedDomainIsNotCompared() throws {
        let domain = home.path(".config/D.plist")
        #expect(try prefs("set", "-f", "D", "a", "1", "--force") == Printed())
        try home.write("<plist><dict>", to: ".config/D.plist")
        #expect(try prefs("get", "-f", "D", "a").output == "1\n")
        let printed = try prefs("diff", "D", old)
        #expect(printed.code == 2 && printed.output == "", "\(printed)")
        #expect(printed.errors == "prefs: \(domain): line 1, column 8: <dict> is not closed\n")
    }

    /// What a person's JSON has and no property list holds.
    @Test func nullsAreComparedAndExported() throws {
        let path = home.path("x.json")
        let other = home.path("y.json")
        try home.write(#"{"a": null, "n": [1, null], "big": 12345678901234567890123}"#, to: "x.json")
        try home.write(#"{"a": 1, "n": [1, null], "big": 12345678901234567890123}"#, to: "y.json")
        let difference = try prefs("diff", path, other)
        #expect(difference.code == 1 && difference.output.contains("null") && !difference.output.contains("big"))
        #expect(try prefs("diff", path, path) == Printed())
        let exported = try prefs("export", "-f", path).output
        try home.write(exported, to: "z.json")
        #expect(try prefs("diff", path, home.path("z.json")) == Printed(), "\(exported)")
        // Without a question, a property list loses none of them.
        let losses = ["`a`: null", "`big`: a number that a double does not hold exactly", "`n`: null"]
        let refusal = losses.map { "\($0) cannot be stored in a property list" }.joined(separator: "; ")
        let asList = try prefs("export", "-f", path, "--format", "xml")
        #expect(asList == .failure("\(refusal); --force does it; nothing has changed"))
        let forced = try prefs("export", "-f", path, "--format", "xml", "--force")
        #expect(forced.code == 0 && forced.output.contains("<real>1.2345678901234568e+22</real>"))
        #expect(!forced.output.contains("<key>a</key>"))
    }
}
