import Foundation
import TestSupport
import Testing

/// Other programs read what the harness stores, and the harness reads what they store.
@Suite struct HarnessInteropTests {
    private static let defaultLines = """
        Array Value=[One,Two,Three,Four,Five]
        Date Value=0.0
        Dictionary Value={One=First,Three=Third,Two=Second}
        Integer Value=10
        String Value=Sample String

        """

    @Test func rawUserDefaultsSeeWhatIsSet() throws {
        let home = try HarnessHome()
        try home.storeSampleValues()
        #expect(try raw(home, "read", HarnessHome.suite, "PrefsTestSet") == Printed(Self.defaultLines))
        for (key, value) in [
            ("int", "-42"), ("string", "héllo\n世界"), ("array", "a,b"), ("dictionary", "k=v"),
            ("date", "2001-01-02T00:00:00.25Z"),
        ] {
            #expect(try home.prefs("set", key, value) == Printed())
        }
        let lines = """
            Array Value=[a,b]
            Date Value=86400.25
            Dictionary Value={k=v}
            Integer Value=-42
            String Value=héllo
            世界

            """
        #expect(try raw(home, "read", HarnessHome.suite, "PrefsTestSet") == Printed(lines))
        #expect(try home.prefs("get", "int") == Printed("-42\n"))
        #expect(try home.prefs("get", "string") == Printed("héllo\n世界\n"))
        #expect(try home.prefs("get", "array") == Printed(#"["a","b"]"# + "\n"))
        #expect(try home.prefs("get", "dictionary") == Printed(#"{"k":"v"}"# + "\n"))
        #expect(try home.prefs("get", "date") == Printed("2001-01-02T00:00:00.250Z\n"))
        for key in ["string", "array", "dictionary", "date"] { try home.prefs("unset", key) }
        #expect(try raw(home, "read", HarnessHome.suite, "PrefsTestSet") == Printed("Integer Value=-42\n"))
        try home.prefs("unset", "--all")
        #expect(try raw(home, "read", HarnessHome.suite, "PrefsTestSet").errors == "RawDefaults: no dictionary\n")
    }

    @Test func rawUserDefaultsSeeSuitesAndRootsOfAnyName() throws {
        let home = try HarnessHome()
        for (suite, root) in [("S", "R"), ("two words", "a/b"), ("wörld.世界", "r\u{F6}\u{F6}t"), ("a%20b", "$1")] {
            #expect(try home.prefs("set", "int", "7", "-f", suite, "--root", root, "--force") == Printed())
            #expect(try raw(home, "read", suite, root) == Printed("Integer Value=7\n"))
        }
    }

    @Test func theFileOfASuiteCanBeUsedAsAFile() throws {
        let home = try HarnessHome()
        let path = home.suiteFile.path(percentEncoded: false)
        try home.prefs("set", "int", "7")
        #expect(try home.prefs("get", "int", "-f", path, "--root", "PrefsTestSet") == Printed("7\n"))
        #expect(try home.prefs("set", "int", "8", "-f", path, "--root", "PrefsTestSet") == Printed())
        #expect(try home.prefs("get", "int") == Printed("8\n"))
        #expect(try raw(home, "read", HarnessHome.suite, "PrefsTestSet") == Printed("Integer Value=8\n"))
    }

    @Test func entriesBesideTheRootSurvive() throws {
        let home = try HarnessHome()
        try home.storeSampleValues()
        #expect(try raw(home, "write", HarnessHome.suite, "beside", "kept") == Printed())
        #expect(try raw(home, "write-root", HarnessHome.suite, "Other", "a", "kept too") == Printed())
        #expect(try raw(home, "read", HarnessHome.suite, "PrefsTestSet") == Printed(Self.defaultLines))
        for command in [["set", "int", "7"], ["unset", "array"], ["unset", "--all"]] {
            #expect(try home.prefs(command) == Printed())
            #expect(try raw(home, "read", HarnessHome.suite, "Other") == Printed("a=kept too\n"))
            let list = try PropertyListSerialization.propertyList(from: Data(contentsOf: home.suiteFile), format: nil)
            #expect((list as? [String: Any])?["beside"] as? String == "kept")
        }
        #expect(
            try home.prefs() == Printed(DisplayedValues().table(suite: HarnessHome.suite, file: home.suiteFile)))
    }

    @Test func aRootThatRawUserDefaultsWroteIsShown() throws {
        let home = try HarnessHome()
        #expect(try raw(home, "write-root", HarnessHome.suite, "PrefsTestSet", "String Value", "raw") == Printed())
        #expect(try home.prefs("get", "string") == Printed("raw\n"))
        var shown = DisplayedValues()
        shown.string = "raw"
        #expect(try home.prefs() == Printed(shown.table(suite: HarnessHome.suite, file: home.suiteFile)))
        #expect(try raw(home, "write-root", HarnessHome.suite, "PrefsTestSet", "Old Key", "kept") == Printed())
        #expect(try home.prefs("get", "string", "--stored") == .failure("`string` is not set"))
        #expect(try home.prefs("set", "int", "7") == Printed())
        #expect(try raw(home, "read", HarnessHome.suite, "PrefsTestSet") == Printed("Integer Value=7\nOld Key=kept\n"))
    }

    @Test func aRootThatIsAStringIsRejected() throws {
        let home = try HarnessHome()
        #expect(try raw(home, "write", HarnessHome.suite, "PrefsTestSet", "a text") == Printed())
        let bytes = try Data(contentsOf: home.suiteFile)
        let reason =
            #"prefs: the root "PrefsTestSet": expected a dictionary, found another type; `"#
        for words in [[], ["set", "int", "7"]] {
            let printed = try home.prefs(words)
            #expect(printed.code == 1 && printed.errors.hasPrefix(reason), "\(printed)")
            #expect(
                printed.errors.hasSuffix("prefs unset --force -f \(HarnessHome.suite) PrefsTestSet` removes it\n"))
        }
        #expect(try Data(contentsOf: home.suiteFile) == bytes)
    }

    @Test(
        .enabled(if: SwiftPlutil.isThere(for: "interop")))
    func plutilShowsWhatIsSet() throws {
        let home = try HarnessHome()
        try home.storeSampleValues()
        try home.prefs("set", "int", "-42")
        try home.prefs("set", "array", "a,世")
        try home.prefs("set", "date", "2026-11-20T08:30:00Z")
        try home.prefs("set", "dictionary", "k=v")
        let shown = """
            {
              "PrefsTestSet" => {
                "Array Value" => [
                  0 => "a"
                  1 => "世"
                ]
                "Date Value" => 2026-11-20 08:30:00 +0000
                "Dictionary Value" => {
                  "k" => "v"
                }
                "Integer Value" => -42
                "String Value" => "Sample String"
              }
            }

            """
        #expect(try plutilPrint(home.suiteFile) == shown)
        // Raw UserDefaults writes XML, which shows the same values.
        #expect(try raw(home, "write-root", HarnessHome.suite, "Other", "a", "b") == Printed())
        try home.prefs("set", "int", "43")
        let both = try plutilPrint(home.suiteFile)
        #expect(both.contains(shown.dropFirst(2).dropLast(2).replacingOccurrences(of: "-42", with: "43")))
        #expect(both.contains("  \"Other\" => {\n    \"a\" => \"b\"\n  }\n"))
    }

    private func raw(_ home: HarnessHome, _ words: String...) throws -> Printed {
        try home.run("RawDefaults", words)
    }

    // MARK: - plutil

    private func plutilPrint(_ file: URL) throws -> String {
        let plutil = try #require(SwiftPlutil.program)
        let result = try Child(plutil, ["-p", file.path(percentEncoded: false)], environment: [:]).wait()
        #expect(result.code == 0)
        return result.output
    }
}
