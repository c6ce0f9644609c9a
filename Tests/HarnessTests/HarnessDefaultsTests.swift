import Foundation
import TestSupport
import Testing

/// The rows of the table in the article "Comparison with defaults(1)".
@Suite struct HarnessDefaultsTests {
    /// The arguments of `write`, and the root as Python's plistlib reads it.
    private static let values: [([String], String)] = [
        (["text"], "'text'"), ([""], "''"), (["-5"], "'-5'"), (["-string", "{a=1;}"], "'{a=1;}'"),
        (["-string", "-abc"], "'-abc'"), (["-bool", "YES"], "True"), (["-float", "1.5"], "1.5"),
        (["-int", "-7"], "-7"),
        (["{a=1;}"], "{a='1'}"), (["(a,b)"], "['a','b']"), (["(a, b, )"], "['a','b']"), (["()"], "[]"), (["{}"], "{}"),
        (["<48656c6c6f>"], "<48656c6c6f>"), (["<4865 6c6C 6f>"], "<48656c6c6f>"), (["<>"], "<>"),
        ([#"{ "two words" = "a;b"; 'q' = (1, {x = <00>;}); }"#], "{q=['1',{x=<00>}],two words='a;b'}"),
        ([#"("\"\\\n\U00e9")"#], "['\"\\\né']"), (["(com.example/a:b-c_d$1)"], "['com.example/a:b-c_d$1']"),
        (["<dict><key>a</key><integer>3</integer></dict>"], "{a=3}"), (["<true/>"], "True"),
        (["<none>"], "'<none>'"), (["<3"], "'<3'"), ([":-("], "':-('"), (["a = 1;"], "'a = 1;'"),
        (["<486>"], "'<486>'"),
        (["-array", "-int", "1", "-string", "x", "y", "(z)", "-bool", "no"], "[1,'x','y',['z'],False]"),
        (["-dict", "a", "-int", "1", "b", "x", "c", "-date", "2026-11-20"], "{a=1,b='x',c=2026-11-20 00:00:00}"),
        (["-date", "2026-11-20 08:30:00 +0000"], "2026-11-20 08:30:00"),
        (["-date", "2026-11-20 08:30:00 -0130"], "2026-11-20 10:00:00"),
        (["-array", "<dict><key>tile</key><string>x</string></dict>"], "[{tile='x'}]"),
    ]

    @Test(.enabled(if: Plistlib.isThere), arguments: values)
    func aValueIsStoredAsDefaultsStoresIt(words: [String], expected: String) throws {
        let home = try HarnessHome()
        let file = home.path("d.plist")
        #expect(try home.prefs(["write", file, "k"] + words) == Printed())
        #expect(try Plistlib.text(file) == "{k=\(expected)}")
    }

    @Test(.enabled(if: Plistlib.isThere)) func typesPrecedeValuesThatAreAdded() throws {
        let home = try HarnessHome()
        let file = home.path("d.plist")
        for words in [["-array-add", "-int", "1"], ["-array-add", "x", "-bool", "yes"]] {
            #expect(try home.prefs(["write", file, "l"] + words) == Printed())
        }
        for words in [["-dict-add", "a", "-int", "1"], ["-dict-add", "a", "-float", "2", "b", "(c)"]] {
            #expect(try home.prefs(["write", file, "R", "m"] + words) == Printed())
        }
        #expect(try Plistlib.text(file) == "{R={m={a=2.0,b=['c']}},l=[1,'x',True]}")
    }

    private static let malformed: [(String, String)] = [
        ("{a=1", "expected `;` at character 5"), ("{a=1}", "expected `;` at character 5"),
        ("(a", "expected `,` at character 3"),
        ("(a,,b)", "expected a value"), ("{a=1;} x", "expected the end of the text at character 8"),
        ("(é)", "quote a text that contains more than"), ("(<0>)", "expected an even number of hexadecimal digits"),
        ("(<0x>)", "expected an even number of hexadecimal digits"), ("{a=1;a=2;}", "the key \"a\" is given twice"),
        (#"("a)"#, "expected a closing \" at character 5"), (#"("\q")"#, "expected \\n, \\t"),
        (#"("\U12")"#, "four hexadecimal digits"),
        (#"("\UD800")"#, "the code of a character"), ("<dict><key>a</key>", "the XML is not a property list: "),
        ("(" + String(repeating: "(", count: 200), "nested deeper than 100 levels"),
        ("(" + String(repeating: "a,", count: 50_000), "expected a value"),
    ]

    @Test(arguments: malformed) func malformedPropertyListTextIsAnError(text: String, message: String) throws {
        let home = try HarnessHome()
        let printed = try home.prefs("write", home.path("d.plist"), "k", text)
        #expect(printed.code == 64 && printed.errors.contains(message), "\(printed)")
        #expect(try home.folder.names() == [])
    }

    @Test func aTextOfMoreThanOneMebibyteIsAnError() throws {
        let home = try HarnessHome()
        try home.write(Data(("(" + String(repeating: "a,", count: 1 << 20) + ")").utf8), to: "v")
        let printed = try home.prefs("write", home.path("d.plist"), "k", "--from", home.path("v"))
        #expect(printed == .usageError("the property-list text is longer than 1 MiB"))
    }

    @Test func renameMovesAKeyOrAnEntry() throws {
        let home = try HarnessHome()
        let file = home.path("d.plist")
        try home.prefs("write", file, "R", "{a=1;b=2;}")
        #expect(try home.prefs("rename", file, "R", "a", "c") == Printed())
        #expect(try home.prefs("rename", file, "R", "S") == Printed())
        #expect(try home.prefs("read", file) == Printed("{\n  \"S\": {\n    \"b\": \"2\",\n    \"c\": \"1\"\n  }\n}\n"))
        #expect(try home.prefs("rename", file, "S", "nope", "x") == .failure("no key `nope`"))
        #expect(try home.prefs("rename", file, "R", "x") == .failure("no root `R`: did you mean `S`?"))
        #expect(try home.prefs("rename", file, "S", "b", "b") == Printed())
        let existing = "`c` exists and would be lost; --force does it; nothing has changed"
        #expect(try home.prefs("rename", file, "S", "b", "c") == .failure(existing))
        #expect(try home.prefs("rename", file, "S", "b", "c", "--force") == Printed())
        #expect(try home.prefs("read", file) == Printed("{\n  \"S\": {\n    \"c\": \"2\"\n  }\n}\n"))
    }

    /// Three domains, one of them malformed.
    private static func homeWithDomains() throws -> HarnessHome {
        let home = try HarnessHome()
        try home.prefs("write", "com.example.b", "Colour", "Red")
        try home.prefs("write", "com.example.a", "R", "{list=(x,red);size=12;blob=<abcd>;}")
        try home.write(Data("garbage".utf8), to: ".config/bad.plist")
        try home.write(Data("x".utf8), to: ".config/other.txt")
        try home.write(["k": 1], to: ".config/.hidden.plist")
        try FileManager.default.createDirectory(
            at: home.folder.file(".config/f.plist"), withIntermediateDirectories: false)
        return home
    }

    #if os(Linux)
        @Test func domainsListsTheFilesOfDomains() throws {
            #expect(try HarnessHome().prefs("domains") == Printed())
            let home = try Self.homeWithDomains()
            #expect(try home.prefs("domains") == Printed("bad\ncom.example.a\ncom.example.b\n"))
            #expect(try home.prefs("domains", "--json").output == "[\"bad\",\"com.example.a\",\"com.example.b\"]\n")
        }

        @Test func findSearchesKeysAndValuesOfAllDomains() throws {
            let home = try Self.homeWithDomains()
            let red = try home.prefs("find", "RED")
            #expect(red.output == "com.example.a > R > list > [1]: red\ncom.example.b > Colour: Red\n")
            #expect(red.code == 1 && red.errors.contains("bad.plist"))
            unlink(home.path(".config/bad.plist"))
            #expect(try home.prefs("find", "colo") == Printed("com.example.b > Colour: Red\n"))
            #expect(try home.prefs("find", "ABCD").output.hasPrefix("com.example.a > R > blob: "))
            #expect(
                try home.prefs("find", "12", "--json").output
                    == "[{\"path\":[\"com.example.a\",\"R\",\"size\"],\"value\":\"12\"}]\n")
            #expect(try home.prefs("find", "nowhere") == .failure("no key and no value contains it"))
        }

        @Test func readWithoutADomainPrintsAll() throws {
            let home = try Self.homeWithDomains()
            let all = try home.prefs("read")
            let values = try JSONSerialization.jsonObject(with: Data(all.output.utf8)) as? [String: [String: Any]]
            #expect(values?.keys.sorted() == ["com.example.a", "com.example.b"])
            #expect(values?["com.example.b"] as? [String: String] == ["Colour": "Red"])
            #expect(all.code == 1 && all.errors.contains("bad.plist"))
        }
    #endif

    @Test(.enabled(if: Plistlib.isThere)) func theExtensionSelectsTheFormatOfAnExport()
        throws
    {
        let home = try HarnessHome()
        let (file, copy) = (home.path("d.plist"), home.path("copy.plist"))
        try home.prefs("write", file, "R", "{a=(1);}")
        for (name, start) in [("x.plist", "bplist00"), ("x.XML", "<?xml"), ("x.json", "{"), ("x", "{")] {
            let path = home.path(name)
            #expect(try home.prefs("export", "--domain", file, "-o", path) == Printed())
            #expect(try Data(contentsOf: home.folder.file(name)).starts(with: start.utf8))
            #expect(try home.prefs("import", "--domain", copy, path) == Printed())
            #expect(try Plistlib.text(copy) == "{R={a=['1']}}")
            try home.prefs("delete", copy, "--force")
        }
        #expect(
            try home.prefs("export", "--domain", file, "-o", home.path("x.plist"), "--format", "json", "--force")
                == Printed())
        #expect(try Data(contentsOf: home.folder.file("x.plist")).starts(with: "{".utf8))
        let suite = try home.prefs("import", "--domain", file, home.path("x"), "--suite", "s")
        #expect(suite == .usageError("--domain cannot be combined with --suite or --file"))
    }

    @Test func theExportOfWhatIsMissingIsAnError() throws {
        let home = try HarnessHome()
        let file = home.path("d.plist")
        #expect(
            try home.prefs("export", "--domain", file, "-o", home.path("x"))
                == .failure("property-list file not found: \(file)"))
        try home.prefs("write", file, "Root", "k", "v")
        try home.prefs("write", file, "Entry", "v")
        #expect(
            try home.prefs("export", "--domain", file, "--root", "Rot")
                == .failure("no root `Rot`: did you mean `Root`?"))
        #expect(try home.prefs("export", "--domain", file, "--root", "Entry").errors.contains("expected a dictionary"))
        #expect(try !home.folder.names().contains("x"))
    }

    @Test func whatReadPrintsCanBeImported() throws {
        let home = try HarnessHome()
        let (file, copy) = (home.path("d.plist"), home.path("copy.plist"))
        try home.prefs(
            "write", file, "R", "-json", #"{"d": {"$date": 0.25}, "b": {"$data": "SGk="}, "f": 2.0, "$date": 1}"#)
        for words in [["read", file], ["read", file, "--json"]] {
            try home.write(Data(try home.prefs(words).output.utf8), to: "all.json")
            #expect(try home.prefs("import", "--domain", copy, home.path("all.json"), "--replace") == Printed())
            #expect(try home.prefs("export", "--domain", copy) == home.prefs("export", "--domain", file))
        }
        try home.write(Data(try home.prefs("read", file, "R").output.utf8), to: "root.json")
        #expect(try home.prefs("import", "--domain", copy, home.path("root.json"), "--root", "S") == Printed())
        #expect(try home.prefs("read", copy, "S") == home.prefs("read", file, "R"))
    }

    @Test(.enabled(if: Plistlib.isThere)) func aKeyLeadsIntoAValueThatExists() throws {
        let home = try HarnessHome()
        let file = home.path("d.plist")
        try home.prefs("write", file, "R", "-json", #"{"a": {"b": [1, {"c": 2}]}, "x.y": {"z": 3}, "s": "t"}"#)
        #expect(try home.prefs("read", file, "R", "a.b[1].c") == Printed("2\n"))
        #expect(try home.prefs("read", file, "R.a.b[-2]") == Printed("1\n"))
        #expect(try home.prefs("read", file, "R", "x.y.z") == Printed("3\n"))
        #expect(try home.prefs("read-type", file, "R", "a.b") == Printed("array\n"))
        #expect(try home.prefs("read", file, "R", "a.b[7]") == .failure("no key `a.b[7]`"))
        #expect(try home.prefs("write", file, "R", "a.b[1].c", "-int", "5") == Printed())
        #expect(try home.prefs("write", file, "R", "a.b[2]", "new") == Printed())
        #expect(
            try home.prefs("write", file, "R", "a.b[9]", "x")
                == .failure("there is no `a.b[9]`: the array has 3 elements"))
        #expect(try home.prefs("delete", file, "R", "a.b[0]") == Printed())
        #expect(try Plistlib.text(file) == "{R={a={b=[{c=5},'new']},s='t',x.y={z=3}}}")
    }

    @Test func aValueComesFromAFileOrFromTheStandardInput() throws {
        let home = try HarnessHome()
        let file = home.path("d.plist")
        try home.write(Data("line\nline\n".utf8), to: "v")
        try home.write(Data("(a, b)\n".utf8), to: "l")
        #expect(try home.prefs("write", file, "R", "k", "--from", home.path("v")) == Printed())
        #expect(try home.prefs("read", file, "R", "k") == Printed("line\nline\n"))
        #expect(try home.prefs("write", file, "l", "--from", home.path("l")) == Printed())
        #expect(try home.prefs("read-type", file, "l") == Printed("array\n"))
        #expect(try home.prefs("write", file, "s", "-string", "--from", home.path("l")) == Printed())
        #expect(try home.prefs("read", file, "s") == Printed("(a, b)\n"))
        let script = "printf '42\\n' | \"$0\" write '\(file)' R n -int - && printf text | \"$0\" write '\(file)' R t -"
        let shell = try Child(
            URL(filePath: "/bin/sh"), ["-c", script, Child.executable("prefs").path],
            environment: ["HOME": home.folder.path])
        #expect(try Printed(shell.wait()) == Printed())
        #expect(try home.prefs("read", file, "R", "n") == Printed("42\n"))
        #expect(try home.prefs("read", file, "R", "t") == Printed("text\n"))
        let both = try home.prefs("write", file, "R", "k", "-int", "5", "--from", home.path("v"))
        #expect(both == .usageError("--from takes the place of VALUE; give one of them"))
        #expect(try home.prefs("write", file, "R", "k", "--from", home.path("nope")).code == 64)
    }

    @Test func writeComparesAndSets() throws {
        let home = try HarnessHome()
        let file = home.path("d.plist")
        try home.prefs("write", file, "R", "n", "-int", "1")
        #expect(try home.prefs("write", file, "R", "n", "-int", "2", "--if", "1") == Printed())
        #expect(try home.prefs("write", file, "R", "n", "-int", "3", "--if", "1") == .failure("`n` is 2, not 1"))
        #expect(try home.prefs("write", file, "R", "m", "v", "--if", "1") == .failure("`m` is not set, not 1"))
        #expect(try home.prefs("write", file, "R", "n", "-array", "--if", "2") == Printed())
        #expect(try home.prefs("write", file, "R", "n", "-array", "x", "--if", "[]") == Printed())
        #expect(try home.prefs("read", file, "R", "n") == Printed("[\n  \"x\"\n]\n"))
    }

    @Test(arguments: [
        ("-g", "there is no global domain here; give a domain or the path of a file"),
        ("-globalDomain", "there is no global domain here; give a domain or the path of a file"),
        ("-currentHost", "there are no preferences of a host here; give the path of their file as DOMAIN"),
        ("-host", "there are no preferences of a host here; give the path of their file as DOMAIN"),
        ("-app", "give the identifier of the app as DOMAIN"), ("-flaot", "unknown word"),
    ])
    func wordsThatBeginWithADashAreErrors(word: String, message: String) throws {
        let home = try HarnessHome()
        for words in [["read", word, "k"], [word, "read", "D"], ["set", "string", word]] {
            let printed = try home.prefs(words)
            #expect(printed.code == 64 && printed.errors.hasPrefix("prefs: `\(word)`: \(message)"), "\(printed)")
        }
        #expect(try home.prefs("write", "D", "R", "-flaot", "1").errors.contains("did you mean `-float`?"))
        #expect(try home.folder.names() == [])
        #expect(try home.prefs("write", "D", "--", "-k", "-v") == Printed())
        #expect(try home.prefs("read", "D", "--", "-k") == Printed("-v\n"))
    }
}
