import Foundation
import TestSupport
import Testing

@testable import PersistentPreferences
@testable import PrefsTool

/// What the words of `write` stand for: a path or the name of a key, and a text or a value of the type that exists.
@Suite struct HarnessPathTests {
    /// What a path means does not depend on its container: it is made, or the command is rejected.
    @Test(arguments: ["d.plist", "d.json"]) func aPathIsNeverTheNameOfAKey(name: String) throws {
        let home = try HarnessHome()
        let file = home.path(name)
        try home.prefs("write", file, "R", "s", "t")
        let state = try home.state()
        let rejected = [
            (
                ["servers[*].p", "-int", "3"],
                "expected a name or a path such as a.b[0], found `servers[*].p`; a new key of that name is written 'servers\\[*]\\.p'"
            ),
            (
                ["Editor.size", "-int", "3"],
                "`Editor.size` leads into `Editor`, which does not exist; a new key of that name is written 'Editor\\.size'"
            ),
            (
                ["com.example.flag", "-bool", "yes"],
                "`com.example.flag` leads into `com`, which does not exist; a new key of that name is written 'com\\.example\\.flag'"
            ),
            (["sizes[1]", "x"], "there is no `sizes[1]`: the array has 0 elements"),
            (["sizes[-1]", "x"], "there is no `sizes[-1]`: the array has 0 elements"),
        ]
        for (words, message) in rejected {
            for place in [[file], [file, "R"]] {
                #expect(try home.prefs(["write"] + place + words) == .failure(message))
                #expect(try home.prefs(["write"] + place + words + ["--dry-run"]) == .failure(message))
            }
        }
        #expect(try home.prefs("write", file, "R", "s.t", "v") == .failure("`s` is of type string, not a dictionary"))
        #expect(
            try home.prefs("write", file, "Editor.size", "k", "v").errors.contains(
                "expected a name, found `Editor.size`; a new key of that name is written 'Editor\\.size'"))
        #expect(
            try home.prefs("rename", file, "R", "s", "a.b[0]").errors.contains(
                "expected a name, found `a.b[0]`; a new key of that name is written 'a\\.b\\[0]'"))
        #expect(try home.state() == state)
        #expect(try home.prefs("write", file, "sizes[0]", "-int", "3") == Printed())
        #expect(try home.prefs("write", file, "R", "sizes[0].w", "-int", "4") == Printed())
        #expect(try home.prefs("write", file, "R.new.deep", "-int", "5") == Printed())
        let all = #"{"R":{"new":{"deep":5},"s":"t","sizes":[{"w":4}]},"sizes":[3]}"#
        #expect(try ExportFormat.value(ofJSON: Data(home.prefs("read", file).output.utf8)).json == all)
    }

    /// Other programs store such names, also those of domains turned around.
    @Test func aKeyWithDotsIsReachedByItsName() throws {
        let home = try HarnessHome()
        let file = home.path("d.plist")
        let content: [String: Any] = ["com.example.flag": false, "sizes[0]": 1, "com": ["example": 7]]
        try home.write(content, to: "d.plist")
        #expect(try home.prefs("write", file, "com.example.flag", "true") == Printed())
        #expect(try home.prefs("read", file, "com.example.flag") == Printed("true\n"))
        #expect(try home.prefs("read", file, "com.example") == Printed("7\n"))
        #expect(try home.prefs("write", file, "sizes[0]", "2") == Printed())
        #expect(try home.prefs("delete", file, "sizes[0]") == Printed())
        // A backslash makes a new one.
        #expect(try home.prefs("write", file, #"org\.example\[0]"#, "v") == Printed())
        #expect(try home.prefs("write", file, #"org\.example\[0]"#, "w") == Printed())
        #expect(try home.prefs("read", file, "org.example[0]") == Printed("w\n"))
        #expect(try home.prefs("write", file, #"com.a\.b"#, "-int", "8") == Printed())
        #expect(try home.prefs("read", file, "com", "a.b") == Printed("8\n"))
        #expect(try home.prefs("rename", file, "org.example[0]", #"org\.x"#) == Printed())
        #expect(try home.prefs("write", file, #"A\.B"#, "k", "v") == Printed())
        #expect(try home.prefs("read", file, "A.B", "k") == Printed("v\n"))
        #expect(try home.prefs("delete", file, "A.B", "--force") == Printed())
        #expect(
            try home.prefs("read", file, "--json").output
                == "{\n  \"com\": {\n    \"a.b\": 8,\n    \"example\": 7\n  },\n  \"com.example.flag\": true,\n"
                + "  \"org.x\": \"w\"\n}\n")
    }

    /// The former values, a text, and the new value; nil if the text cannot be read as the type of the former one.
    private static let untyped: [(old: String, text: String, new: String?)] = [
        ("true", "false", "false"), ("true", "NO", "false"), ("false", "1", "true"), ("true", "off", nil),
        ("3", "4", "4"), ("3", "4.5", nil), ("3", "x", nil), ("2.5", "4", "4.0"), (#""s""#, "4", #""4""#),
        (#""s""#, "true", #""true""#), (#"{"$data": "SGk="}"#, "4869", #"{"$data": "SGk="}"#),
        (
            #"{"$date": "2026-11-20T00:00:00Z"}"#, "2026-11-21T00:00:00Z", #"{"$date": "2026-11-21T00:00:00Z"}"#
        ),
        ("[1]", "[2]", "[\n  2\n]"), ("[1]", "2", nil),
    ]

    @Test(arguments: untyped, ["d.plist", "d.json"])
    func aValueWithoutATypeKeepsTheTypeOfTheFormerOne(
        row: (old: String, text: String, new: String?), name: String
    ) throws {
        let home = try HarnessHome()
        let file = home.path(name)
        try home.prefs("write", file, "KeepAlive", "-json", row.old)
        let state = try home.state()
        let printed = try home.prefs("write", file, "KeepAlive", row.text)
        guard let new = row.new else {
            #expect(printed.code == 1 && printed.errors.contains("would become a value of type string"), "\(printed)")
            #expect(try home.state() == state)
            #expect(try home.prefs("write", file, "KeepAlive", row.text, "--force") == Printed())
            return #expect(try home.prefs("read", file, "KeepAlive") == Printed(row.text + "\n"))
        }
        #expect(printed == Printed())
        let exported = try home.prefs("export", "--domain", file).output
        #expect(exported.replacing("\n  ", with: "\n") == "{\n\"KeepAlive\": \(new)\n}\n")
    }
}
