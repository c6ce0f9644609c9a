import Foundation
import TestSupport
import Testing

/// The effect of each command and option on the test set.
@Suite struct HarnessCommandTests {
    @Test func showsATableAndStoresTheDefaultsAtTheFirstLook() throws {
        let home = try HarnessHome()
        let table = DisplayedValues.defaults.table(suite: HarnessHome.suite, file: home.suiteFile)
        let note = "prefs: nothing was stored yet; stored the default values\n"
        #expect(try home.prefs() == Printed(table, errors: note))
        #expect(try home.prefs() == Printed(table))
    }

    @Test func showsAClearedSetAsItIs() throws {
        let home = try HarnessHome()
        try home.prefs("reset")
        #expect(try home.prefs("clear") == Printed())
        #expect(try home.prefs() == Printed(DisplayedValues().table(suite: HarnessHome.suite, file: home.suiteFile)))
    }

    @Test func theFirstLookKeepsAValueThatIsSetAtTheSameTime() throws {
        for _ in 0..<20 {
            let home = try HarnessHome()
            let look = try Child("prefs", [], home: home.folder)
            let write = try Child("prefs", ["set", "int", "42"], home: home.folder)
            #expect(try look.wait().code == 0)
            #expect(try write.wait().code == 0)
            let root = try content(of: home.suiteFile)["PrefsTestSet"] as? [String: Any]
            #expect(root?["Integer Value"] as? Int == 42)
        }
    }

    /// The short name, the full name, a value, and the output of `get` without and with `--json`.
    private static let values = [
        ("int", "Integer Value", "42", "42", "42"),
        ("string", "String Value", "a text", "a text", #""a text""#),
        ("array", "Array Value", "a,b", #"["a","b"]"#, #"["a","b"]"#),
        ("dictionary", "Dictionary Value", "k=v", #"{"k":"v"}"#, #"{"k":"v"}"#),
        ("date", "Date Value", "2026-11-20", "2026-11-20T00:00:00Z", #""2026-11-20T00:00:00Z""#),
    ]

    @Test(arguments: values)
    func setsGetsAndUnsetsByEitherName(
        short: String, full: String, value: String, text: String, json: String
    ) throws {
        for (writer, reader) in [(short, full), (full, short)] {
            let home = try HarnessHome()
            #expect(try home.prefs("get", reader) == .failure("\(full) is not set"))
            #expect(try home.folder.names() == [])
            #expect(try home.prefs("set", writer, value) == Printed())
            #expect(try home.prefs("get", reader) == Printed(text + "\n"))
            #expect(try home.prefs("get", reader, "--json") == Printed(json + "\n"))
            #expect(try home.prefs("unset", writer) == Printed())
            #expect(try home.prefs("get", reader) == .failure("\(full) is not set"))
            #expect(try home.prefs("unset", writer) == Printed())
        }
    }

    @Test func eachCommandLeavesTheOtherValues() throws {
        let home = try HarnessHome()
        try home.prefs("reset")
        try home.prefs("set", "int", "-7")
        try home.prefs("unset", "array")
        var shown = DisplayedValues.defaults
        shown.int = "-7"
        shown.array = "(not set)"
        #expect(try home.prefs() == Printed(shown.table(suite: HarnessHome.suite, file: home.suiteFile)))
        #expect(try home.prefs("reset") == Printed())
        #expect(
            try home.prefs() == Printed(DisplayedValues.defaults.table(suite: HarnessHome.suite, file: home.suiteFile)))
    }

    @Test func clearKeepsKeysOfOtherVersionsAndDeleteAllDoesNot() throws {
        let home = try HarnessHome()
        let file = try home.write(
            ["PrefsTestSet": ["Integer Value": 5, "Old Key": "kept"], "Other": ["a": 1]], to: "x.plist")
        #expect(try home.prefs("clear", "--file", home.path("x.plist")) == Printed())
        let cleared = try content(of: file)
        #expect(cleared["PrefsTestSet"] as? [String: String] == ["Old Key": "kept"])
        #expect(try home.prefs("delete-all", "--file", home.path("x.plist")) == Printed())
        let deleted = try content(of: file)
        #expect(deleted.keys.sorted() == ["Other"])
        #expect(deleted["Other"] as? [String: Int] == ["a": 1])
    }

    @Test func aDeletedSetGetsItsDefaultsAtTheNextLook() throws {
        let home = try HarnessHome()
        try home.prefs("set", "int", "42")
        #expect(try home.prefs("delete-all") == Printed())
        #expect(try home.prefs("get", "int") == .failure("Integer Value is not set"))
        #expect(try home.prefs().errors == "prefs: nothing was stored yet; stored the default values\n")
        #expect(try home.prefs("get", "int") == Printed("10\n"))
    }

    @Test func rootsSuitesAndFilesAreIndependent() throws {
        let home = try HarnessHome()
        let targets = [
            [], ["--root", "R"], ["--suite", "S"], ["--file", home.path("f")], ["--root", "R", "--suite", "S"],
        ]
        for (index, target) in targets.enumerated() {
            #expect(try home.prefs(["set", "int", "\(index)"] + target) == Printed())
        }
        for (index, target) in targets.enumerated() {
            #expect(try home.prefs(target + ["get", "int"]) == Printed("\(index)\n"))
        }
        var shown = DisplayedValues()
        shown.int = "4"
        let table = shown.table(root: "R", suite: "S", file: home.domainFile("S"))
        #expect(try home.prefs("--suite", "S", "--root", "R") == Printed(table))
        shown.int = "3"
        #expect(try home.prefs("--file", home.path("f")) == Printed(shown.table(file: home.folder.file("f"))))
    }

    @Test(arguments: [["--root", "R"], ["--suite", "S"], ["--file", "FILE"], ["--file", "FILE", "--root", "R"]])
    func readsCreateNoFile(target: [String]) throws {
        let home = try HarnessHome()
        let target = target.map { $0 == "FILE" ? home.path("no folder/x.plist") : $0 }
        let shown = try home.prefs(target)
        #expect(shown.code == 0)
        #expect(shown.errors == "")
        #expect(shown.output.components(separatedBy: "(not set)").count == 6)
        #expect(try home.prefs(target + ["--json"]).output.hasSuffix(#""values":{}}"# + "\n"))
        #expect(try home.prefs(["get", "int"] + target) == .failure("Integer Value is not set"))
        #expect(try home.prefs(["unset", "int"] + target) == Printed())
        #expect(try home.prefs(["clear"] + target) == Printed())
        #expect(try home.folder.names() == [])
    }

    @Test(arguments: [
        ["set", "int", "5", "--suite", "S", "--root", "R"], ["--suite", "S", "set", "--root", "R", "int", "5"],
        ["--root", "R", "--suite", "S", "--json", "set", "int", "--", "5"],
        ["--root", "R", "--suite", "S", "--", "set", "int", "5"],
    ])
    func optionsMayAppearAnywhere(arguments: [String]) throws {
        let home = try HarnessHome()
        #expect(try home.prefs(arguments) == Printed())
        #expect(try home.prefs("get", "int", "--suite", "S", "--root", "R") == Printed("5\n"))
    }

    private func content(of file: URL) throws -> [String: Any] {
        let list = try PropertyListSerialization.propertyList(from: Data(contentsOf: file), format: nil)
        return try #require(list as? [String: Any])
    }
}
