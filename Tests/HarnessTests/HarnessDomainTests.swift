import Foundation
import Testing
import TestSupport

/// `get`, `set`, `unset`, `export` and `import` on any domain.
@Suite(.waits) final class HarnessDomainTests: HarnessSuite {
    /// A text, its type, and what `get` prints.
    private static let values: [(text: String, type: String, read: String)] = [
        ("plain", "string", "plain"), ("-5", "string", "-5"), ("", "string", ""), ("-42", "integer", "-42"),
        ("18446744073709551615", "integer", "18446744073709551615"), ("12.5", "float", "12.5"),
        ("5", "float", "5"), ("yes", "boolean", "true"), ("on", "boolean", "true"),
        ("2026-11-21T08:30:00Z", "date", "2026-11-21T08:30:00Z"), ("2026-11-20", "date", "2026-11-20T00:00:00Z"),
        ("SGVsbG8=", "data", "\"SGVsbG8=\""), ("", "array", "[]"), (#"["a", 7]"#, "array", #"["a",7]"#),
        ("a,b", "array", #"["a","b"]"#),
        ("k=v,k2=", "dictionary", #"{"k":"v","k2":""}"#),
    ]

    @Test(arguments: values, [false, true])
    func everyTypeIsWrittenAndReadBack(row: (text: String, type: String, read: String), isSuite: Bool) throws {
        let target = isSuite ? "com.example.app" : home.path("d.plist")
        #expect(try prefs("set", "-f", target, "Entry", "-t", row.type, "--force", "--", row.text) == Printed())
        #expect(try prefs("get", "-f", target, "Entry") == Printed(row.read + "\n"))
        #expect(try prefs("get", "--type", "-f", target, "Entry") == Printed(row.type + "\n"))
        let file = isSuite ? home.domainFile("com.example.app") : home.folder.file("d.plist")
        #expect(try propertyList(at: file).keys.sorted() == ["Entry"])
    }

    /// A write vets only the keys that it changes. Other programs may have stored any values under the others.
    @Test func aRootWithAStrangeValueCanBeWritten() throws {
        let root: [String: Any] = ["strange": ["CF$UID": 1], "size": 1]
        let file = try home.write(["R": root], to: "d.plist").path(percentEncoded: false)
        #expect(try prefs("set", "-f", file, "R.size", "2", "-t", "integer") == Printed())
        #expect(try prefs("get", "-f", file, "R.size") == Printed("2\n"))
        #expect(try prefs("get", "-f", file, "R.strange").output.contains("CF$UID"))
        #expect(try prefs("unset", "-f", file, "R.size") == Printed())
        #expect(try prefs("set", "-f", file, "R.more", #"{"CF$UID": 2}"#, "-t", "json").code == 1)
        #expect(try prefs("unset", "-f", file, "R.strange", "--force") == Printed())
        #expect(try prefs("export", "-f", file) == Printed("{\n  \"R\": {}\n}\n"))
    }

    @Test func severalKeysAreRemoved() throws {
        let file = home.path("d.plist")
        try prefs("set", "-f", file, "list=[1]", "map.k=3", "map.l=2")
        #expect(try prefs("unset", "-f", file, "list", "map.k", "--force") == Printed())
        #expect(try prefs("export", "-f", file) == Printed("{\n  \"map\": {\n    \"l\": 2\n  }\n}\n"))
    }

    /// Another process removes the root while the command waits for the lock. The command does not store an empty root.
    @Test(.enabled(if: HeldLock.isTold)) func aDeleteDoesNotBringBackARemovedRoot() throws {
        let file = home.path("d.plist")
        try home.claim("d.plist")
        try prefs("set", "-f", file, "R.k", "v")
        let lock = try home.lock("d.plist")
        let child = try PipedChild("prefs", ["unset", "-f", file, "R.k"], home: home.folder)
        var status = stat()
        try #require(fstat(lock.descriptor, &status) == 0)
        let deadline = ContinuousClock.now + .seconds(60)
        while try !String(contentsOfFile: "/proc/locks", encoding: .utf8).split(separator: "\n")
            .contains(where: { $0.contains("->") && $0.contains(":\(status.st_ino) ") })
        {
            try #require(ContinuousClock.now < deadline)
            sched_yield()
        }
        try home.write(["Other": ["k": 1]], to: "d.plist")
        lock.release()
        #expect(try child.exitCode() == 1)
        #expect(try prefs("export", "-f", file) == Printed("{\n  \"Other\": {\n    \"k\": 1\n  }\n}\n"))
    }

    @Test func anImportChangesWhatItsFileHas() throws {
        let file = home.path("d.plist")
        try prefs("set", "-f", file, "R.k", "1")
        try prefs("set", "-f", file, "R.l", #"[{"$date": 0.25}, 2.0]"#, "-t", "json")
        try prefs("set", "-f", file, "Entry", "7")
        try home.write(#"{"R": {"k": "2", "m": true}, "New": {"a": 1}}"#, to: "i.json")
        let words = ["import", "-f", file, home.path("i.json")]
        let bytes = try home.bytes("d.plist")
        #expect(try prefs(words + ["--dry-run"]) == Printed("+ New: {\"a\":1}\n~ R.k: 1 → 2\n+ R.m: true\n"))
        #expect(
            try prefs(words + ["--dry-run", "--replace", "--json"]).output
                == """
                [{"path":["Entry"],"old":7,"new":null},
                {"path":["New"],"old":null,"new":{"a":1}},
                {"path":["R","k"],"old":1,"new":"2"},
                {"path":["R","l"],"old":[{"$date":"2001-01-01T00:00:00.25Z"},2.0],"new":null},
                {"path":["R","m"],"old":null,"new":true}]

                """)
        #expect(try home.bytes("d.plist") == bytes)
        #expect(try prefs(words) == Printed())
        #expect(try prefs(words + ["--dry-run"]) == Printed("nothing would change\n"))
        #expect(try prefs("get", "-f", file, "R.k", "Entry") == Printed("2\n7\n"))
        // At every level, values that the file lacks stay.
        try home.write(#"{"New": {"b": {"c": 1}}}"#, to: "deep.json")
        #expect(try prefs("import", "-f", file, home.path("deep.json")) == Printed())
        try home.write(#"{"New": {"b": {"d": 2}}}"#, to: "deep.json")
        #expect(try prefs("import", "-f", file, home.path("deep.json")) == Printed())
        #expect(try prefs("get", "-f", file, "New") == Printed(#"{"a":1,"b":{"c":1,"d":2}}"# + "\n"))
        // An invalid file changes nothing.
        let before = try home.bytes("d.plist")
        try home.write(#"{"fine": 1, "": 2}"#, to: "bad.json")
        for more in [[], ["--dry-run"]] {
            let printed = try prefs(["import", "-f", file, home.path("bad.json")] + more)
            #expect(printed == .failure("\"\" is not a valid root key: it is empty"))
        }
        #expect(try home.bytes("d.plist") == before)
    }
}
