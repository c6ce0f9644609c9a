import Foundation
import Testing
import TestSupport

/// `get`, `set`, `unset`, `export`, `import` and `find` on any domain, and the types of new values.
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

    /// Another process removes the root while the command waits for the lock. The command does not store an empty root.
    @Test func aDeleteDoesNotBringBackARemovedRoot() throws {
        let file = home.path("d.plist")
        try home.claim("d.plist")
        try prefs("set", "-f", file, "R.k", "v")
        let lock = try home.lock("d.plist")
        let child = try PipedChild("prefs", ["unset", "-f", file, "R.k"], home: home.folder, mergesErrors: true)
        #expect(try child.line().hasPrefix("prefs: waiting for the lock "))
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

    // MARK: - All domains

    /// Three domains, one of them malformed.
    private func makeDomains() throws {
        _ = try home.writeSuite("com.example.b", ["Colour": "Red"])
        let root: [String: Any] = ["list": ["x", "red"], "size": "12", "blob": Data([0xAB, 0xCD])]
        try home.write(["R": root], to: ".config/com.example.a.plist")
        try home.write("garbage", to: ".config/bad.plist")
        try home.write("x", to: ".config/other.txt")
        try home.write(["k": 1], to: ".config/.hidden.plist")
        try FileManager.default.createDirectory(
            at: home.folder.file(".config/f.plist"), withIntermediateDirectories: false)
    }

    #if os(Linux)
        @Test func domainsListsTheFilesOfDomains() throws {
            #expect(try prefs("show", "--domains") == Printed())
            try makeDomains()
            #expect(try prefs("show", "--domains") == Printed("bad\ncom.example.a\ncom.example.b\n"))
            let names = "[\"bad\",\"com.example.a\",\"com.example.b\"]\n"
            #expect(try prefs("show", "--domains", "--json") == Printed(names))
        }

        @Test func findSearchesKeysAndValuesOfAllDomains() throws {
            try makeDomains()
            let red = try prefs("find", "--domains", "RED")
            #expect(red.output == "com\\.example\\.a.R.list[1]: red\ncom\\.example\\.b.Colour: Red\n")
            #expect(red.code == 1 && red.errors.contains("bad.plist"))
            unlink(home.path(".config/bad.plist"))
            #expect(try prefs("find", "--domains", "colo") == Printed("com\\.example\\.b.Colour: Red\n"))
            #expect(try prefs("find", "--domains", "ABCD").output.hasPrefix("com\\.example\\.a.R.blob: "))
            let printed = try prefs("find", "--domains", "12", "--json").output
            #expect(printed == "[{\"path\":[\"com.example.a\",\"R\",\"size\"],\"value\":\"12\"}]\n")
            #expect(try prefs("find", "--domains", "nowhere") == .failure("no key and no value contains it"))
        }
    #endif

    // MARK: - Files

    @Test func theExtensionSelectsTheFormatOfAnExport() throws {
        let (file, copy) = (home.path("d.plist"), home.path("copy.plist"))
        let missing = try prefs("export", "-f", file, "-o", home.path("x"))
        #expect(missing == .failure("property-list file not found: \(file)"))
        #expect(try !home.folder.names().contains("x"))
        try prefs("set", "-f", file, "R.a[+]", "1", "-t", "string")
        for (name, start) in [("x.plist", "bplist00"), ("x.XML", "<?xml"), ("x.json", "{"), ("x", "{")] {
            let path = home.path(name)
            #expect(try prefs("export", "-f", file, "-o", path) == Printed())
            #expect(try home.bytes(name).starts(with: start.utf8))
            #expect(try prefs("import", "-f", copy, path) == Printed())
            #expect(try prefs("get", "-f", copy, "R") == Printed("{\"a\":[\"1\"]}\n"))
            try prefs("unset", "-f", copy, "--all", "--force")
        }
        #expect(try prefs("export", "-f", file, "-o", home.path("x.plist"), "--format", "json", "--force") == Printed())
        #expect(try home.bytes("x.plist").starts(with: "{".utf8))
    }

    @Test func aValueComesFromAFileOrFromTheStandardInput() throws {
        let file = home.path("d.plist")
        try home.write("line\nline\n", to: "v")
        #expect(try prefs("set", "-f", file, "R.k", "--from", home.path("v")) == Printed())
        #expect(try prefs("get", "-f", file, "R.k") == Printed("line\nline\n"))
        try home.write("[1, 2]\n", to: "l")
        #expect(try prefs("set", "-f", file, "l", "--from", home.path("l")) == Printed())
        #expect(try prefs("get", "--type", "-f", file, "l") == Printed("array\n"))
        #expect(try prefs("set", "-f", file, "s", "--from", home.path("l"), "-t", "string") == Printed())
        #expect(try prefs("get", "-f", file, "s") == Printed("[1, 2]\n"))
        let set = "prefs set -f '\(file)'"
        #expect(try home.bash("printf '42\\n' | \(set) R.n - && printf text | \(set) R.t -") == Printed())
        #expect(try prefs("get", "-f", file, "R.n", "R.t") == Printed("42\ntext\n"))
        #expect(try prefs("set", "-f", file, "R.k", "--from", home.path("nope")).code == 64)
    }

    @Test func setComparesAndSets() throws {
        let file = home.path("d.plist")
        try prefs("set", "-f", file, "R.n", "1")
        #expect(try prefs("set", "-f", file, "R.n", "[]", "-t", "array", "--if", "1") == Printed())
        #expect(try prefs("set", "-f", file, "R.n", #"["x"]"#, "--if", "[]") == Printed())
        #expect(try prefs("get", "-f", file, "R.n") == Printed("[\"x\"]\n"))
    }

    @Test func aValueWithoutATypeIsOfTheTypeThatItIsReadAs() throws {
        _ = try home.writeSuite("D", [:])
        for (text, type) in [
            ("5", "integer"), ("2.5", "float"), ("true", "boolean"), ("yes", "string"), ("[1]", "array"),
            ("text", "string"), ("2026-11-20", "string"),
        ] {
            #expect(try prefs("set", "-f", "D", "k", text) == Printed())
            #expect(try prefs("get", "--type", "-f", "D", "k") == Printed(type + "\n"), "\(text)")
            try prefs("unset", "-f", "D", "k", "--force")
        }
    }
}
