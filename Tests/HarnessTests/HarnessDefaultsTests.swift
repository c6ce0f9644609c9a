import Foundation
import PrefsJSON
import Testing
import TestSupport

/// The rows of the table in the article "Comparison with defaults(1)", and the additions of other commands.
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
            #expect(try home.prefs(["write", file, "m"] + words) == Printed())
        }
        #expect(try Plistlib.text(file) == "{l=[1,'x',True],m={a=2.0,b=['c']}}")
    }

    private static let malformed: [(String, String)] = [
        ("{a=1", "Missing ';' on line 1"), ("{a=1}", "Missing ';' on line 1"), ("(a", "Expected ',' for array"),
        ("(a,,b)", "line 1"), ("{a=1;} x", "line 1"), ("(é)", "line 1"), ("(<0>)", "line 1"), (#"("a)"#, "line 1"),
        ("<dict><key>a</key>", "the XML is not a property list: "),
        ("(" + String(repeating: "(", count: 200), "nested deeper than 100 levels"),
        ("(" + String(repeating: "a,", count: 50_000), "line 1"),
    ]

    @Test(arguments: malformed) func malformedPropertyListTextIsAnError(text: String, message: String) throws {
        let home = try HarnessHome()
        let printed = try home.prefs("write", home.path("d.plist"), "k", text)
        #expect(printed.code == 64 && printed.errors.contains(message), "\(printed)")
        #expect(try home.folder.names() == [])
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
            #expect(try HarnessHome().prefs("show", "--domains") == Printed())
            let home = try Self.homeWithDomains()
            #expect(try home.prefs("show", "--domains") == Printed("bad\ncom.example.a\ncom.example.b\n"))
            #expect(
                try home.prefs("show", "--domains", "--json").output
                    == "[\"bad\",\"com.example.a\",\"com.example.b\"]\n")
            for words in [
                ["show", "--domains", "-f", "D"], ["find", "x", "--domains", "--root", "R"],
                ["show", "int", "--domains"],
            ] {
                let printed = try home.prefs(words)
                #expect(printed.code == 64 && printed.errors.contains("; leave out --domains or "), "\(printed)")
            }
        }

        @Test func findSearchesKeysAndValuesOfAllDomains() throws {
            let home = try Self.homeWithDomains()
            let red = try home.prefs("find", "--domains", "RED")
            #expect(red.output == "com\\.example\\.a.R.list[1]: red\ncom\\.example\\.b.Colour: Red\n")
            #expect(red.code == 1 && red.errors.contains("bad.plist"))
            unlink(home.path(".config/bad.plist"))
            #expect(try home.prefs("find", "--domains", "colo") == Printed("com\\.example\\.b.Colour: Red\n"))
            #expect(try home.prefs("find", "--domains", "ABCD").output.hasPrefix("com\\.example\\.a.R.blob: "))
            #expect(
                try home.prefs("find", "--domains", "12", "--json").output
                    == "[{\"path\":[\"com.example.a\",\"R\",\"size\"],\"value\":\"12\"}]\n")
            #expect(try home.prefs("find", "--domains", "nowhere") == .failure("no key and no value contains it"))
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
            #expect(try home.prefs("export", "-f", file, "-o", path) == Printed())
            #expect(try Data(contentsOf: home.folder.file(name)).starts(with: start.utf8))
            #expect(try home.prefs("import", "-f", copy, path) == Printed())
            #expect(try Plistlib.text(copy) == "{R={a=['1']}}")
            try home.prefs("delete", copy, "--force")
        }
        #expect(
            try home.prefs("export", "-f", file, "-o", home.path("x.plist"), "--format", "json", "--force")
                == Printed())
        #expect(try Data(contentsOf: home.folder.file("x.plist")).starts(with: "{".utf8))
    }

    @Test func theExportOfWhatIsMissingIsAnError() throws {
        let home = try HarnessHome()
        let file = home.path("d.plist")
        #expect(
            try home.prefs("export", "-f", file, "-o", home.path("x"))
                == .failure("property-list file not found: \(file)"))
        #expect(try !home.folder.names().contains("x"))
    }

    @Test func whatReadPrintsCanBeImported() throws {
        let home = try HarnessHome()
        let (file, copy) = (home.path("d.plist"), home.path("copy.plist"))
        let json = #"{"d": {"$date": 0.25}, "b": {"$data": "SGk="}, "f": 2.0, "$date": 1}"#
        try home.prefs("set", "-f", file, "R", json, "-t", "json")
        for words in [["read", file], ["read", file, "--json"], ["export", "-f", file]] {
            try home.write(Data(try home.prefs(words).output.utf8), to: "all.json")
            #expect(try home.prefs("import", "-f", copy, home.path("all.json"), "--replace") == Printed())
            #expect(try home.prefs("read", copy) == home.prefs("read", file))
        }
        try home.write(Data(try home.prefs("read", file, "R").output.utf8), to: "root.json")
        #expect(try home.prefs("set", "-f", copy, "S", "--from", home.path("root.json"), "-t", "json") == Printed())
        #expect(try home.prefs("read", copy, "S") == home.prefs("read", file, "R"))
    }

    @Test func aScalarIsPrintedAsDefaultsDoes() throws {
        let home = try HarnessHome()
        for (words, shown) in [
            (["-bool", "yes"], "1"), (["-bool", "no"], "0"), (["-int", "-7"], "-7"), (["-float", "1.5"], "1.5"),
            (["-data", "48656c"], "48656c"), (["text"], "text"), (["-date", "2026-11-20"], "2026-11-20T00:00:00Z"),
        ] {
            #expect(try home.prefs(["write", "D", "k"] + words) == Printed())
            #expect(try home.prefs("read", "D", "k") == Printed(shown + "\n"))
        }
        // The key is a name, not a path.
        #expect(try home.prefs("write", "D", "a.b[0]", "x") == Printed())
        #expect(try home.prefs("read", "D", "a.b[0]") == Printed("x\n"))
        #expect(try home.prefs("delete", "D", "a.b[0]") == Printed())
        #expect(try home.prefs("read", "D", "q") == .failure("`q` is not set; did you mean `k`?"))
        #expect(try home.prefs("delete", "D", "q") == .failure("`q` is not set; did you mean `k`?"))
    }

    @Test(.enabled(if: Plistlib.isThere)) func aKeyLeadsIntoAValueThatExists() throws {
        let home = try HarnessHome()
        let file = home.path("d.plist")
        let json = #"{"a": {"b": [1, {"c": 2}]}, "x.y": {"z": 3}, "s": "t"}"#
        try home.prefs("set", "-f", file, "R", json, "-t", "json")
        #expect(try home.prefs("get", "-f", file, "R.a.b[1].c") == Printed("2\n"))
        #expect(try home.prefs("get", "-f", file, "R.a.b[-2]") == Printed("1\n"))
        #expect(try home.prefs("get", "-f", file, "R.x.y.z") == Printed("3\n"))
        #expect(try home.prefs("get", "--type", "-f", file, "R.a.b") == Printed("array\n"))
        #expect(try home.prefs("get", "-f", file, "R.a.b[7]") == .failure("`R.a.b[7]` is not set"))
        #expect(try home.prefs("set", "-f", file, "R.a.b[1].c", "5") == Printed())
        #expect(try home.prefs("set", "-f", file, "R.a.b[2]", "new") == Printed())
        #expect(
            try home.prefs("set", "-f", file, "R.a.b[9]", "x")
                == .failure("there is no element 9 of `R.a.b`, which has 3 elements"))
        #expect(try home.prefs("unset", "-f", file, "R.a.b[0]") == Printed())
        #expect(try Plistlib.text(file) == "{R={a={b=[{c=5},'new']},s='t',x.y={z=3}}}")
    }

    @Test func aValueComesFromAFileOrFromTheStandardInput() throws {
        let home = try HarnessHome()
        let file = home.path("d.plist")
        try home.write(Data("line\nline\n".utf8), to: "v")
        #expect(try home.prefs("set", "-f", file, "R.k", "--from", home.path("v")) == Printed())
        #expect(try home.prefs("get", "-f", file, "R.k") == Printed("line\nline\n"))
        try home.write(Data("[1, 2]\n".utf8), to: "l")
        #expect(try home.prefs("set", "-f", file, "l", "--from", home.path("l")) == Printed())
        #expect(try home.prefs("get", "--type", "-f", file, "l") == Printed("array\n"))
        #expect(try home.prefs("set", "-f", file, "s", "--from", home.path("l"), "-t", "string") == Printed())
        #expect(try home.prefs("get", "-f", file, "s") == Printed("[1, 2]\n"))
        let set = "\"$0\" set -f '\(file)'"
        let script = "printf '42\\n' | \(set) R.n - && printf text | \(set) R.t -"
        let shell = try Child(
            URL(filePath: "/bin/sh"), ["-c", script, Child.executable("prefs").path],
            environment: ["HOME": home.folder.path])
        #expect(try Printed(shell.wait()) == Printed())
        #expect(try home.prefs("get", "-f", file, "R.n") == Printed("42\n"))
        #expect(try home.prefs("get", "-f", file, "R.t") == Printed("text\n"))
        let both = try home.prefs("set", "-f", file, "R.k", "5", "--from", home.path("v"))
        #expect(both == .usageError("--from takes the place of VALUE: set KEY --from PATH"))
        #expect(try home.prefs("set", "-f", file, "R.k", "--from", home.path("nope")).code == 64)
    }

    @Test func setComparesAndSets() throws {
        let home = try HarnessHome()
        let file = home.path("d.plist")
        try home.prefs("set", "-f", file, "R.n", "1")
        #expect(try home.prefs("set", "-f", file, "R.n", "2", "--if", "1") == Printed())
        #expect(
            try home.prefs("set", "-f", file, "R.n", "3", "--if", "1")
                == .failure("`R.n`: expected 1, found 2; nothing has changed"))
        #expect(
            try home.prefs("set", "-f", file, "R.m", "v", "--if", "1")
                == .failure("`R.m`: expected 1, found no value; nothing has changed"))
        #expect(try home.prefs("set", "-f", file, "R.n", "[]", "-t", "array", "--if", "2") == Printed())
        #expect(try home.prefs("set", "-f", file, "R.n", #"["x"]"#, "--if", "[]") == Printed())
        #expect(try home.prefs("get", "-f", file, "R.n") == Printed("[\"x\"]\n"))
    }

    @Test func aValueWithoutATypeIsOfTheTypeThatItIsReadAs() throws {
        let home = try HarnessHome()
        for (text, type) in [
            ("5", "integer"), ("2.5", "float"), ("true", "boolean"), ("yes", "string"), ("[1]", "array"),
            ("text", "string"),
            ("2026-11-20", "string"),
        ] {
            #expect(try home.prefs("set", "-f", "D", "k", text) == Printed())
            #expect(try home.prefs("get", "--type", "-f", "D", "k") == Printed(type + "\n"), "\(text)")
            try home.prefs("delete", "D", "k", "--force")
        }
        for (type, text, shown) in [
            ("string", "5", "5"), ("float", "5", "5"), ("boolean", "on", "true"),
            ("date", "2026-11-20", "2026-11-20T00:00:00Z"),
            ("data", "SGk=", "\"SGk=\""), ("array", "a,b", #"["a","b"]"#), ("dictionary", "k=v", #"{"k":"v"}"#),
        ] {
            #expect(try home.prefs("set", "-f", "D", "k", text, "-t", type) == Printed())
            #expect(try home.prefs("get", "--type", "-f", "D", "k") == Printed(type + "\n"))
            #expect(try home.prefs("get", "-f", "D", "k") == Printed(shown + "\n"))
            try home.prefs("delete", "D", "k", "--force")
        }
        #expect(
            try home.prefs("set", "-f", "D", "k", "x", "-t", "integer")
                == .usageError("expected a 64-bit integer such as 42 or -7, found \"x\""))
        #expect(try home.prefs("set", "-f", "D", "k", "x", "-t", "flaot").errors.contains("did you mean `float`?"))
    }

    @Test func aTextCalculates() throws {
        let home = try HarnessHome()
        let file = home.path("n.json")
        try home.prefs("set", "-f", file, "count=3", "name=x", "isOn=false")
        #expect(try home.prefs("set", "-f", file, "count=+2", "isOn=toggle", "name=toggle") == Printed())
        #expect(try home.prefs("set", "-f", file, "count", "+-7") == Printed())
        #expect(
            try home.prefs("export", "-f", file)
                == Printed("{\n  \"count\": -2,\n  \"isOn\": true,\n  \"name\": \"toggle\"\n}\n"))
        for text in ["+1", "toggle"] {
            #expect(
                try home.prefs("set", "-f", file, "other", text)
                    == .failure(
                        "`other` is not set, so `\(text)` has nothing to start from; -t string stores the text"))
        }
    }

    @Test(arguments: [
        ("-g", "there is no global domain here; give a domain or the path of a file"),
        ("-globalDomain", "there is no global domain here; give a domain or the path of a file"),
        ("-currentHost", "there are no preferences of a host here; give the path of their file"),
        ("-host", "there are no preferences of a host here; give the path of their file"),
        ("-app", "-app is not supported; give the identifier of the app as DOMAIN"),
    ])
    func optionsOfDefaultsAreErrors(word: String, message: String) throws {
        let home = try HarnessHome()
        for words in [["read", word, "k"], ["write", word, "k", "v"], ["delete", word]] {
            #expect(try home.prefs(words) == .usageError(message))
        }
        for words in [[word, "read", "D"], ["set", "string", word]] {
            let printed = try home.prefs(words)
            #expect(printed.code == 64 && printed.errors.hasPrefix("prefs: unknown option `\(word)`"), "\(printed)")
        }
        #expect(try home.folder.names() == [])
    }

    @Test func aMistypedTypeIsAnError() throws {
        let home = try HarnessHome()
        #expect(try home.prefs("write", "D", "k", "-flaot", "1").errors.contains("did you mean `-float`?"))
        #expect(try home.prefs("write", "D", "k", "-v").code == 64)
        #expect(try home.prefs("write", "D", "k", "-int", "1", "2").code == 64)
        #expect(try home.prefs("write", "D", "k").code == 64)
        #expect(try home.folder.names() == [])
        #expect(try home.prefs("write", "D", "-k", "-string", "-v") == Printed())
        #expect(try home.prefs("read", "D", "-k") == Printed("-v\n"))
    }
}
