import Foundation
import PrefsJSON
import Testing
import TestSupport

/// `prefs diff` compares two files or domains and exits like diff(1).
@Suite struct HarnessDiffTests {
    private let home: HarnessHome
    private let old: String
    private let new: String

    init() throws {
        home = try HarnessHome()
        old = try home.write(
            Data(#"{"a": 1, "gone": "x", "b": {"c": [1, 2], "d": {"e.f": true}}}"#.utf8), to: "old.json"
        )
        .path
        new = try home.write(Data(#"{"a": 2, "b": {"c": [1], "d": {"e.f": false, "g": 1}}}"#.utf8), to: "new.json").path
    }

    @Test func whatDiffersIsPrintedWithExitCode1() throws {
        #expect(
            try home.prefs("diff", old, new)
                == Printed(
                    """
                    ~ a: 1 → 2
                    ~ b.c: [1,2] → [1]
                    ~ b.d.e\\.f: true → false
                    + b.d.g: 1
                    - gone: x

                    """, code: 1))
        #expect(
            try home.prefs("diff", old, new, "--json")
                == Printed(
                    """
                    [{"path":["a"],"old":1,"new":2},
                    {"path":["b","c"],"old":[
                      1,
                      2
                    ],"new":[
                      1
                    ]},
                    {"path":["b","d","e.f"],"old":true,"new":false},
                    {"path":["b","d","g"],"old":null,"new":1},
                    {"path":["gone"],"old":"x","new":null}]

                    """, code: 1))
    }

    /// Files in each format and a domain with equal values do not differ.
    @Test func equalValuesHaveExitCode0() throws {
        let xml = home.path("old.xml")
        #expect(try home.prefs("export", "-f", old, "-o", xml) == Printed())
        #expect(try home.prefs("import", "-f", "com.example.old", old) == Printed())
        for other in [old, xml, "com.example.old"] {
            #expect(try home.prefs("diff", old, other) == Printed())
            #expect(try home.prefs("diff", other, old, "--json") == Printed("[]\n"))
        }
        // Integers and other numbers differ, as in the file.
        let float = try home.write(
            Data(#"{"a": 1.0, "gone": "x", "b": {"c": [1, 2], "d": {"e.f": true}}}"#.utf8), to: "f.json")
        #expect(try home.prefs("diff", old, float.path) == Printed("~ a: 1 → 1.0\n", code: 1))
    }

    @Test func whatCannotBeReadHasExitCode2() throws {
        let bad = try home.write(Data("{\n\"a\": 1,,}".utf8), to: "bad.json").path
        let missing = home.path("missing.json")
        for (word, message) in [
            (bad, "\(bad): line 2, column 8: "), (missing, "\(missing): open: No such file or directory"),
            (home.folder.path, "\(home.folder.path): is a folder"),
            ("Nowhere", "UserDefaults suite \"Nowhere\" not found"), (".x", "\".x\" is not a valid suite name"),
        ] {
            for words in [[word, old], [old, word], [word, word]] {
                let printed = try home.prefs(["diff"] + words)
                #expect(printed.code == 2 && printed.output == "", "\(printed)")
                #expect(printed.errors.hasPrefix("prefs: \(message)"), "\(printed)")
                let json = try home.prefs(["diff"] + words + ["--json"])
                #expect(json.code == 2 && json.output == "" && json.errors.hasPrefix("{\"error\":\""), "\(json)")
            }
        }
    }

    /// The state before the damage is known, but it is not the stored state.
    @Test func aDamagedDomainIsNotCompared() throws {
        let domain = home.path(".config/D.plist")
        #expect(try home.prefs("set", "-f", "D", "a", "1") == Printed())
        try home.write(Data("<plist><dict>".utf8), to: ".config/D.plist")
        #expect(try home.prefs("get", "-f", "D", "a").output == "1\n")
        let printed = try home.prefs("diff", "D", old)
        #expect(printed.code == 2 && printed.output == "", "\(printed)")
        #expect(printed.errors == "prefs: \(domain): line 1, column 8: <dict> is not closed\n")
    }

    @Test func itChangesNothing() throws {
        let state = try home.state()
        for words in [[old, new], [new, old], [old, old], [old, home.path("missing.json")], ["Nowhere", new]] {
            try home.prefs(["diff"] + words)
        }
        #expect(try home.state() == state)
    }
}
