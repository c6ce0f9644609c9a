import Foundation
import TestSupport
import Testing

/// Wrong usage: exit 64, one line that says how to mend it, and nothing touched.
@Suite struct HarnessUsageTests {
    private static let commands =
        "commands are get, set, unset, reset, clear, delete-all, watch, export, import, help, and none to show everything"
    private static let options =
        "options are --root NAME, --suite NAME, --file PATH, --format FORMAT, --merge, --replace, --json, --help "
        + "(a value that begins with -- comes after a lone --)"
    private static let twoWays = "--merge and --replace are two ways; give one, once"
    private static let onlyExport = "--format is an option of `export` alone"
    private static let onlyImport = "--merge and --replace are options of `import` alone"
    private static let twoPlaces = "--suite and --file name one place; give one of them, once"

    private static let wrong: [([String], String)] = [
        (["bogus"], "unknown command `bogus`; \(commands)"),
        ([""], "unknown command ``; \(commands)"),
        (["GET", "int"], "unknown command `GET`; \(commands)"),
        (["-5"], "unknown command `-5`; \(commands)"),
        (["--", "--json"], "unknown command `--json`; \(commands)"),
        (["bo\ngus"], #"unknown command `bo\ngus`; "# + commands),
        (["--bogus"], "unknown option --bogus; \(options)"),
        (["set", "string", "--bogus"], "unknown option --bogus; \(options)"),
        (["--root=R"], "unknown option --root=R; \(options)"),
        (["--bo\ngus"], #"unknown option --bo\ngus; "# + options),
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
        (["export", "a", "b"], "too many words for `export`: prefs export [PATH]"),
        (["import", "a", "b"], "too many words for `import`: prefs import [PATH]"),
        (["export", "--format"], "--format needs a value: --format FORMAT"),
        (["export", "--format", "pdf"], "unknown format `pdf`; formats are json, xml, binary"),
        (["export", "--format", "xml", "--format", "xml"], "--format is given twice; give it once"),
        (["import", "x", "--merge", "--replace"], twoWays), (["import", "x", "--merge", "--merge"], twoWays),
        (["import", "x", "--format", "xml"], onlyExport), (["--format", "xml"], onlyExport),
        (["export", "--merge"], onlyImport), (["--replace", "clear"], onlyImport),
        (["--root"], "--root needs a value: --root NAME"),
        (["get", "int", "--suite"], "--suite needs a value: --suite NAME"),
        (["--file"], "--file needs a value: --file PATH"),
        (["set", "int", "5", "--root", "--suite", "S"], "--root needs a value: --root NAME"),
        (["set", "int", "5", "--file", "--"], "--file needs a value: --file PATH"),
        (["--root", "A", "--root", "B"], "--root is given twice; give it once"),
        (["--suite", "A", "--suite", "B"], twoPlaces),
        (["--file", "A", "--file", "B"], twoPlaces),
        (["--suite", "A", "--file", "B"], twoPlaces),
        (["set", "int", "abc"], #"Integer Value: "abc" is no integer of 64 bits; give one such as 42 or -7"#),
        (["set", "int", "1\n2"], #"Integer Value: "1\n2" is no integer of 64 bits; give one such as 42 or -7"#),
    ]

    @Test(arguments: wrong)
    func oneLineSaysHowToMendIt(arguments: [String], message: String) throws {
        let home = try HarnessHome()
        #expect(try home.prefs(arguments) == .wrongUsage(message))
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
        // JSON has its own way to keep a line feed inside one line.
        #expect(object == ["error": message.replacingOccurrences(of: #"\n"#, with: "\n")])
    }

    @Test func wrongUsageLeavesWhatIsStored() throws {
        let home = try HarnessHome()
        try home.prefs("reset")
        let bytes = try Data(contentsOf: home.suiteFile)
        for (arguments, message) in Self.wrong {
            #expect(try home.prefs(arguments) == .wrongUsage(message))
        }
        #expect(try Data(contentsOf: home.suiteFile) == bytes)
    }

    @Test func aWordThatIsNotUTF8() throws {
        let home = try HarnessHome()
        let prefs = try Child.executable("prefs").path
        let script = "exec \"$0\" --file \"$(printf '\\377').plist\" set int 1"
        let shell = try Child(
            URL(filePath: "/bin/sh"), ["-c", script, prefs], environment: ["HOME": home.folder.path])
        #expect(Printed(try shell.wait()) == .wrongUsage("a word that is not UTF-8; give names in UTF-8"))
        #expect(try home.folder.names().isEmpty)
    }
}
