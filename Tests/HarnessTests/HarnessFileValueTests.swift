import Foundation
import PrefsJSON
import Testing
import TestSupport

/// Paths into the values of a file, the types of new values, searches of all domains, and the formats of exports.
@Suite struct HarnessFileValueTests {
    /// Three domains, one of them malformed.
    private static func homeWithDomains() throws -> HarnessHome {
        let home = try HarnessHome()
        _ = try home.writeSuite("com.example.b", ["Colour": "Red"])
        let root: [String: Any] = ["list": ["x", "red"], "size": "12", "blob": Data([0xAB, 0xCD])]
        try home.write(["R": root], to: ".config/com.example.a.plist")
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
    #endif

    @Test(.enabled(if: Plistlib.isThere)) func theExtensionSelectsTheFormatOfAnExport()
        throws
    {
        let home = try HarnessHome()
        let (file, copy) = (home.path("d.plist"), home.path("copy.plist"))
        try home.prefs("set", "-f", file, "R.a[+]", "1", "-t", "string")
        for (name, start) in [("x.plist", "bplist00"), ("x.XML", "<?xml"), ("x.json", "{"), ("x", "{")] {
            let path = home.path(name)
            #expect(try home.prefs("export", "-f", file, "-o", path) == Printed())
            #expect(try Data(contentsOf: home.folder.file(name)).starts(with: start.utf8))
            #expect(try home.prefs("import", "-f", copy, path) == Printed())
            #expect(try Plistlib.text(copy) == "{R={a=['1']}}")
            try home.prefs("unset", "-f", copy, "--all", "--force")
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

    @Test func whatIsPrintedCanBeImported() throws {
        let home = try HarnessHome()
        let (file, copy) = (home.path("d.plist"), home.path("copy.plist"))
        let json = #"{"d": {"$date": 0.25}, "b": {"$data": "SGk="}, "f": 2.0, "$date": 1}"#
        try home.prefs("set", "-f", file, "R", json, "-t", "json")
        for words in [["show", file, "--json"], ["export", "-f", file]] {
            try home.write(Data(try home.prefs(words).output.utf8), to: "all.json")
            #expect(try home.prefs("import", "-f", copy, home.path("all.json"), "--replace") == Printed())
            #expect(try home.prefs("export", copy) == home.prefs("export", file))
        }
        try home.write(Data(try home.prefs("get", file, "R", "--json").output.utf8), to: "root.json")
        #expect(try home.prefs("set", "-f", copy, "S", "--from", home.path("root.json"), "-t", "json") == Printed())
        #expect(try home.prefs("get", copy, "S", "--json") == home.prefs("get", file, "R", "--json"))
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
        _ = try home.writeSuite("D", [:])
        for (text, type) in [
            ("5", "integer"), ("2.5", "float"), ("true", "boolean"), ("yes", "string"), ("[1]", "array"),
            ("text", "string"),
            ("2026-11-20", "string"),
        ] {
            #expect(try home.prefs("set", "-f", "D", "k", text) == Printed())
            #expect(try home.prefs("get", "--type", "-f", "D", "k") == Printed(type + "\n"), "\(text)")
            try home.prefs("unset", "-f", "D", "k", "--force")
        }
        for (type, text, shown) in [
            ("string", "5", "5"), ("float", "5", "5"), ("boolean", "on", "true"),
            ("date", "2026-11-20", "2026-11-20T00:00:00Z"),
            ("data", "SGk=", "\"SGk=\""), ("array", "a,b", #"["a","b"]"#), ("dictionary", "k=v", #"{"k":"v"}"#),
        ] {
            #expect(try home.prefs("set", "-f", "D", "k", text, "-t", type) == Printed())
            #expect(try home.prefs("get", "--type", "-f", "D", "k") == Printed(type + "\n"))
            #expect(try home.prefs("get", "-f", "D", "k") == Printed(shown + "\n"))
            try home.prefs("unset", "-f", "D", "k", "--force")
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
        #expect(try home.prefs("set", "-f", file, "count=+2", "isOn=toggle") == Printed())
        #expect(try home.prefs("set", "-f", file, "name", "toggle", "-t", "string") == Printed())
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
}
