import Foundation
import TestSupport
import Testing

/// Wrong usage: exit 64, one line that says how to mend it, and nothing touched.
@Suite struct HarnessUsageTests {
    private static let all = "; `prefs --help` lists all"
    private static let dashes = "(a value that begins with -- comes after a lone --)"
    private static let twoPlaces = "--suite and --file name one place; give one of them"
    private static let targets = "`show`, `get`, `set`, `unset`, `reset`, `clear`, `delete-all`, `edit`, `watch`"

    static let wrong: [([String], String)] = [
        (["bogus"], "unknown command `bogus`\(all)"),
        ([""], "unknown command ``\(all)"),
        (["GET", "int"], "unknown command `GET`: did you mean `get`?"),
        (["-5"], "unknown command `-5`\(all)"),
        (["--", "--json"], "unknown command `--json`\(all)"),
        (["bo\ngus"], #"unknown command `bo\ngus`"# + all),
        (["--bogus"], "unknown option `--bogus`\(all) \(dashes)"),
        (["set", "string", "--bogus"], "unknown option `--bogus`\(all) \(dashes)"),
        (["--rot=R"], "unknown option `--rot`: did you mean `--root`? \(dashes)"),
        (["--json=yes"], "--json takes no value"),
        (["--bo\ngus"], #"unknown option `--bo\ngus`"# + all + " " + dashes),
        (["get"], "too few words for `get`: prefs get KEY"),
        (["get", "int", "string"], "too many words for `get`: prefs get KEY"),
        (["set"], "too few words for `set`: prefs set KEY VALUE"),
        (["set", "int"], "too few words for `set`: prefs set KEY VALUE"),
        (
            ["set", "string", "a", "b"],
            "too many words for `set`: prefs set KEY VALUE (quote a value that has spaces in it)"
        ),
        (["unset"], "too few words for `unset`: prefs unset KEY"),
        (["unset", "int", "string"], "too many words for `unset`: prefs unset KEY"),
        (["reset", "int"], "too many words for `reset`: prefs reset"),
        (["clear", "int"], "too many words for `clear`: prefs clear"),
        (["delete-all", "int"], "too many words for `delete-all`: prefs delete-all"),
        (["show", "int"], "too many words for `show`: prefs show"),
        (["edit", "int"], "too many words for `edit`: prefs edit"),
        (["watch", "--merge"], "--merge is no option of `watch`, but of `import`"),
        (["read-type", "D"], "too few words for `read-type`: prefs read-type DOMAIN ROOT [KEY]"),
        (
            ["write", "D", "R"],
            "too few words for `write`: prefs write DOMAIN ROOT [KEY] [-TYPE] VALUE … (quote a value that has spaces in it)"
        ),
        (["delete"], "too few words for `delete`: prefs delete DOMAIN [ROOT [KEY]]"),
        (["vet"], "too few words for `vet`: prefs vet FILE"),
        (["doctor", "a", "b"], "too many words for `doctor`: prefs doctor [DOMAIN]"),
        (["export", "a", "b"], "too many words for `export`: prefs export [PATH]"),
        (["import", "a", "b"], "too many words for `import`: prefs import [PATH]"),
        (["export", "--format"], "--format needs a value: --format FORMAT"),
        (["export", "--format", "pdf"], "unknown format `pdf`; formats are json, xml, binary"),
        (["export", "--format", "xml", "--format", "xml"], "--format is given twice; give it once"),
        (["import", "x", "--merge", "--replace"], "--merge and --replace are two ways; give one"),
        (["import", "x", "--format", "xml"], "--format is no option of `import`, but of `export`"),
        (["--format", "xml"], "--format is no option of `show`, but of `export`"),
        (["export", "--merge"], "--merge is no option of `export`, but of `import`"),
        (["--replace", "clear"], "--replace is no option of `clear`, but of `import`"),
        (
            ["read", "D", "--suite", "S"],
            "--suite is no option of `read`, but of \(targets), `export`, `import`, `doctor`"
        ),
        (["export", "--domain", "D", "--file", "F"], "--domain is a place of its own; give no --suite or --file"),
        (["stress", "--threads", "0"], "--threads: expected a number from 1 to 64, found \"0\""),
        (["completions", "fish"], "completions are for bash, and not for fish"),
        (["help", "gt"], "unknown command `gt`: did you mean `get`?"),
        (["--root"], "--root needs a value: --root NAME"),
        (["get", "int", "--suite"], "--suite needs a value: --suite NAME"),
        (["--file"], "--file needs a value: --file PATH"),
        (["set", "int", "5", "--root", "--suite", "S"], "--root needs a value: --root NAME"),
        (["set", "int", "5", "--file", "--"], "--file needs a value: --file PATH"),
        (["--root", "A", "--root", "B"], "--root is given twice; give it once"),
        (["--suite", "A", "--suite", "B"], "--suite is given twice; give it once"),
        (["--file", "A", "--file", "B"], "--file is given twice; give it once"),
        (["--suite", "A", "--file", "B"], twoPlaces),
        (["set", "int", "abc"], #"Integer Value: "abc" is not a 64-bit integer; give one such as 42 or -7"#),
        (["set", "int", "1\n2"], #"Integer Value: "1\n2" is not a 64-bit integer; give one such as 42 or -7"#),
    ]

    @Test(arguments: wrong)
    func usageErrorsAreOneLineWithARemedy(arguments: [String], message: String) throws {
        let home = try HarnessHome()
        #expect(try home.prefs(arguments) == .usageError(message))
        #expect(message.contains("\n") == false)
        #expect(try home.folder.names() == [])
    }

    @Test(arguments: wrong.filter { !$0.0.contains("--") })
    func withJSONTheErrorIsAnObject(arguments: [String], message: String) throws {
        let home = try HarnessHome()
        let printed = try home.prefs(["--json"] + arguments)
        #expect(printed.code == 64)
        #expect(printed.output == "")
        #expect(printed.errors.hasSuffix("}\n"))
        #expect(printed.errors.filter { $0 == "\n" }.count == 1)
        let object = try JSONSerialization.jsonObject(with: Data(printed.errors.utf8)) as? [String: String]
        #expect(object == ["error": message])
    }

    @Test func aUsageErrorChangesNothingThatIsStored() throws {
        let home = try HarnessHome()
        try home.prefs("reset")
        let bytes = try Data(contentsOf: home.suiteFile)
        for (arguments, message) in Self.wrong {
            #expect(try home.prefs(arguments) == .usageError(message))
        }
        #expect(try Data(contentsOf: home.suiteFile) == bytes)
    }

    @Test func anArgumentThatIsNotUTF8IsRejected() throws {
        let home = try HarnessHome()
        let prefs = try Child.executable("prefs").path
        let script = "exec \"$0\" --file \"$(printf '\\377').plist\" set int 1"
        let shell = try Child(
            URL(filePath: "/bin/sh"), ["-c", script, prefs], environment: ["HOME": home.folder.path])
        #expect(Printed(try shell.wait()) == .usageError("a word that is not UTF-8; give names in UTF-8"))
        #expect(try home.folder.names().isEmpty)
    }
}
