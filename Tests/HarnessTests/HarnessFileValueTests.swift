import Foundation
import Testing
import TestSupport

/// Paths into the values of a file, the types of new values, searches of all domains, and the formats of exports.
@Suite(.waits) final class HarnessFileValueTests: HarnessSuite {
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

    @Test func whatIsPrintedCanBeImported() throws {
        let (file, copy) = (home.path("d.plist"), home.path("copy.plist"))
        let json = #"{"d": {"$date": 0.25}, "b": {"$data": "SGk="}, "f": 2.0, "$date": 1}"#
        try prefs("set", "-f", file, "R", json, "-t", "json")
        for words in [["show", file, "--json"], ["export", "-f", file]] {
            try home.write(Data(try prefs(words).output.utf8), to: "all.json")
            #expect(try prefs("import", "-f", copy, home.path("all.json"), "--replace") == Printed())
            #expect(try prefs("export", copy) == prefs("export", file))
        }
        try home.write(Data(try prefs("get", file, "R", "--json").output.utf8), to: "root.json")
        #expect(try prefs("set", "-f", copy, "S", "--from", home.path("root.json"), "-t", "json") == Printed())
        #expect(try prefs("get", copy, "S", "--json") == prefs("get", file, "R", "--json"))
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
        #expect(try prefs("set", "-f", file, "R.n", "2", "--if", "1") == Printed())
        let printed = try prefs("set", "-f", file, "R.n", "3", "--if", "1")
        #expect(printed == .failure("`R.n`: expected 1, found 2; nothing has changed"))
        let answer = try prefs("set", "-f", file, "R.m", "v", "--if", "1")
        #expect(answer == .failure("`R.m`: expected 1, found no value; nothing has changed"))
        #expect(try prefs("set", "-f", file, "R.n", "[]", "-t", "array", "--if", "2") == Printed())
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
