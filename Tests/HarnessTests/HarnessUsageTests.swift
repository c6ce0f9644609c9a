import Foundation
import TestSupport
import Testing

/// Usage errors: exit code 64, one line that says how to correct the arguments, and no file is touched.
@Suite struct HarnessUsageTests {
    private static let all = "; --help lists all"
    private static let dashes = "(put a value that begins with -- after a separate --)"
    private static let twoPlaces = "--suite and --file cannot be combined; give one of them"
    private static let targets = "`show`, `get`, `set`, `unset`, `reset`, `increment`, `toggle`, `edit`, `watch`"

    private static let exportRemedy = "(-o PATH writes to a file, --domain DOMAIN exports another domain)"

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
        (["get"], "too few arguments for `get`: prefs get KEY"),
        (["get", "int", "string"], "too many arguments for `get`: prefs get KEY"),
        (["set"], "too few arguments for `set`: prefs set KEY [VALUE …]"),
        (["set", "int"], "too few arguments for `set`: set KEY VALUE"),
        (["set", "string", "a", "b"], "expected KEY=VALUE, found \"string\" (quote a value that contains spaces)"),
        (["set", "int", "1", "--from", "x"], "--from takes the place of VALUE: set KEY --from PATH"),
        (["unset"], "too few arguments for `unset`: prefs unset KEY …"),
        (["increment", "int", "1", "2"], "too many arguments for `increment`: prefs increment KEY [AMOUNT]"),
        (["toggle"], "too few arguments for `toggle`: prefs toggle KEY"),
        (["schema", "x"], "too many arguments for `schema`: prefs schema"),
        (["reset", "int"], "too many arguments for `reset`: prefs reset"),
        (["show", "int"], "too many arguments for `show`: prefs show"),
        (["edit", "D", "E"], "too many arguments for `edit`: prefs edit [DOMAIN]"),
        (["watch", "--merge"], "`watch` does not accept --merge; it is an option of `import`"),
        (["domains", "D"], "too many arguments for `domains`: prefs domains"),
        (["find"], "too few arguments for `find`: prefs find WORD"),
        (["rename", "D"], "too few arguments for `rename`: prefs rename DOMAIN ROOT [KEY] NEW"),
        (["undo", "D", "E"], "too many arguments for `undo`: prefs undo [DOMAIN]"),
        (["undo", "D", "--suite", "s"], "DOMAIN cannot be combined with --suite or --file"),
        (["read-type", "D"], "too few arguments for `read-type`: prefs read-type DOMAIN ROOT [KEY]"),
        (
            ["write", "D", "R"],
            "too few arguments for `write`: write DOMAIN ROOT [KEY] [-TYPE] VALUE … (quote a value that contains spaces)"
        ),
        (["delete"], "too few arguments for `delete`: prefs delete DOMAIN [ROOT [KEY]]"),
        (["vet"], "too few arguments for `vet`: prefs vet FILE"),
        (["doctor", "a", "b"], "too many arguments for `doctor`: prefs doctor [DOMAIN]"),
        (["export", "mine.json"], "too many arguments for `export`: prefs export \(exportRemedy)"),
        (["export", "D", "x.plist", "--force"], "too many arguments for `export`: prefs export \(exportRemedy)"),
        (
            ["import", "a.json", "b.json"],
            "too many arguments for `import`: prefs import [PATH] (--domain DOMAIN stores the values in another domain)"
        ),
        (["export", "-o"], "-o needs a value: -o PATH"),
        (["set", "string", "-o", "x"], "`set` does not accept -o; it is an option of `export`"),
        (["export", "--format"], "--format needs a value: --format FORMAT"),
        (["export", "--format", "pdf"], "unknown format `pdf`; formats are json, xml, binary"),
        (["export", "--format", "xml", "--format", "xml"], "--format is given twice; give it once"),
        (["import", "x", "--merge", "--replace"], "--merge and --replace cannot be combined; give one of them"),
        (["import", "x", "--format", "xml"], "`import` does not accept --format; it is an option of `export`"),
        (["--format", "xml"], "`show` does not accept --format; it is an option of `export`"),
        (["export", "--merge"], "`export` does not accept --merge; it is an option of `import`"),
        (["--replace", "reset"], "`reset` does not accept --replace; it is an option of `import`"),
        (
            ["read", "D", "--suite", "S"],
            "`read` does not accept --suite; it is an option of \(targets), `export`, `import`, `doctor`, `undo`"
        ),
        (["export", "--domain", "D", "--file", "F"], "--domain cannot be combined with --suite or --file"),
        (["stress", "--threads", "0"], "--threads: expected a number from 1 to 64, found \"0\""),
        (["completions", "tcsh"], "unknown shell `tcsh`; completions are available for bash, zsh and fish"),
        (["help", "gt"], "unknown command or key `gt`: did you mean `get`?"),
        (["--root"], "--root needs a value: --root NAME"),
        (["get", "int", "--suite"], "--suite needs a value: --suite NAME"),
        (["--file"], "--file needs a value: --file PATH"),
        (["set", "int", "5", "--root", "--suite", "S"], "--root needs a value: --root NAME"),
        (["set", "int", "5", "--file", "--"], "--file needs a value: --file PATH"),
        (["--root", "A", "--root", "B"], "--root is given twice; give it once"),
        (["--suite", "A", "--suite", "B"], "--suite is given twice; give it once"),
        (["--file", "A", "--file", "B"], "--file is given twice; give it once"),
        (["--suite", "A", "--file", "B"], twoPlaces),
    ]

    @Test(arguments: wrong)
    func usageErrorsAreOneLineWithARemedy(arguments: [String], message: String) throws {
        let home = try HarnessHome()
        #expect(try home.prefs(arguments) == .usageError(message))
        #expect(message.contains("\n") == false)
        #expect(try home.folder.names() == [])
    }

    @Test(arguments: wrong)
    func withJSONTheErrorIsAnObjectAndNothingThatIsStoredChanges(arguments: [String], message: String) throws {
        let home = try HarnessHome()
        let bytes = try home.writeSuite()
        let printed = try home.prefs(["--json"] + arguments)
        #expect(printed.code == 64)
        #expect(printed.output == "")
        #expect(printed.errors.hasSuffix("}\n"))
        #expect(printed.errors.filter { $0 == "\n" }.count == 1)
        let object = try JSONSerialization.jsonObject(with: Data(printed.errors.utf8)) as? [String: String]
        #expect(object == ["error": message])
        #expect(try Data(contentsOf: home.suiteFile) == bytes)
        #expect(try FileManager.default.contentsOfDirectory(atPath: home.path(".config")).count == 1)
    }

    @Test func anArgumentThatIsNotUTF8IsRejected() throws {
        let home = try HarnessHome()
        let prefs = try Child.executable("prefs").path
        let script = "exec \"$0\" --file \"$(printf '\\377').plist\" set int 1"
        let shell = try Child(
            URL(filePath: "/bin/sh"), ["-c", script, prefs], environment: ["HOME": home.folder.path])
        #expect(Printed(try shell.wait()) == .usageError("an argument is not valid UTF-8"))
        #expect(try home.folder.names().isEmpty)
    }
}
