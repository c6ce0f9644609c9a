import Foundation
import TestSupport
import Testing

/// Other programs read what the harness stores, and the harness reads what they store.
@Suite(.waits) final class HarnessInteropTests: HarnessSuite {
    private static let defaultLines = """
        Array Value=[One,Two,Three,Four,Five]
        Date Value=0.0
        Dictionary Value={One=First,Three=Third,Two=Second}
        Integer Value=10
        String Value=Sample String

        """

    @Test func rawUserDefaultsSeeWhatIsSet() throws {
        try home.storeSampleValues()
        #expect(try root() == Printed(Self.defaultLines))
        let values = ["int=-42", "string=héllo\n世界", "array=a,b", "dictionary=k=v", "date=2001-01-02T00:00:00.25Z"]
        #expect(try prefs(["set"] + values) == Printed())
        let lines = """
            Array Value=[a,b]
            Date Value=86400.25
            Dictionary Value={k=v}
            Integer Value=-42
            String Value=héllo
            世界

            """
        #expect(try root() == Printed(lines))
        try prefs("unset", "string", "array", "dictionary", "date")
        #expect(try root() == Printed("Integer Value=-42\n"))
        try prefs("unset", "--all")
        #expect(try root().errors == "RawDefaults: no dictionary\n")
    }

    @Test func rawUserDefaultsSeeSuitesAndRootsOfAnyName() throws {
        for (suite, root) in [("S", "R"), ("two words", "a/b"), ("wörld.世界", "r\u{F6}\u{F6}t"), ("a%20b", "$1")] {
            #expect(try prefs("set", "int", "7", "-f", suite, "--root", root, "--force") == Printed())
            #expect(try raw("read", suite, root) == Printed("Integer Value=7\n"))
        }
    }

    @Test func theFileOfASuiteCanBeUsedAsAFile() throws {
        let path = home.suiteFile.path(percentEncoded: false)
        try prefs("set", "int", "7")
        #expect(try prefs("get", "int", in: path) == Printed("7\n"))
        #expect(try prefs("set", "int", "8", in: path) == Printed())
        #expect(try prefs("get", "int") == Printed("8\n"))
        #expect(try root() == Printed("Integer Value=8\n"))
    }

    @Test func entriesBesideTheRootSurvive() throws {
        try home.storeSampleValues()
        #expect(try raw("write", HarnessHome.suite, "beside", "kept") == Printed())
        #expect(try raw("write-root", HarnessHome.suite, "Other", "a", "kept too") == Printed())
        #expect(try root() == Printed(Self.defaultLines))
        for command in [["set", "int", "7"], ["unset", "array"], ["unset", "--all"]] {
            #expect(try prefs(command) == Printed())
            #expect(try raw("read", HarnessHome.suite, "Other") == Printed("a=kept too\n"))
            #expect(try propertyList(at: home.suiteFile)["beside"] as? String == "kept")
        }
        #expect(try prefs("export") == Printed("{}\n"))
    }

    @Test func aRootThatRawUserDefaultsWroteIsShown() throws {
        #expect(try raw("write-root", HarnessHome.suite, "PrefsTestSet", "String Value", "raw") == Printed())
        #expect(try prefs("get", "string") == Printed("raw\n"))
        #expect(try raw("write-root", HarnessHome.suite, "PrefsTestSet", "Old Key", "kept") == Printed())
        #expect(try prefs("get", "string", "--stored") == .failure("`string` is not set"))
        #expect(try prefs("set", "int", "7") == Printed())
        #expect(try root() == Printed("Integer Value=7\nOld Key=kept\n"))
        #expect(try raw("write", HarnessHome.suite, "PrefsTestSet", "a text") == Printed())
        let remedy = "prefs unset --force -f \(HarnessHome.suite) PrefsTestSet` removes it\n"
        #expect(try prefs("get", "int").errors.hasSuffix(remedy))
    }

    private func raw(_ words: String...) throws -> Printed { try home.run("RawDefaults", words) }

    /// The root of the test set, as UserDefaults reads it.
    private func root() throws -> Printed { try raw("read", HarnessHome.suite, "PrefsTestSet") }
}
