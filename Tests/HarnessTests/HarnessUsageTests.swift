import Foundation
import TestSupport
import Testing

/// Usage errors: exit code 64, one line that says how to correct the arguments, and no file is touched.
@Suite struct HarnessUsageTests {
    private static let all = "; --help lists all"
    private static let dashes = "(put a value that begins with -- after a separate --)"
    private static let dash = "(put a value that begins with - after a separate --)"
    private static let exportRemedy = "(-o PATH writes to a file, -f exports a file)"
    private static let types = "string, integer, float, boolean, date, data, array, dictionary, json"

    static let wrong: [([String], String)] = [
        (["bogus"], "unknown command `bogus`\(all)"),
        ([""], "unknown command ``\(all)"),
        (["GET", "int"], "unknown command `GET`; did you mean `get`?"),
        (["-5"], "unknown command `-5`\(all)"),
        (["--", "--json"], "unknown command `--json`\(all)"),
        (["bo\ngus"], #"unknown command `bo\ngus`"# + all),
        (["--bogus"], "unknown option `--bogus`\(all) \(dashes)"),
        (["set", "string", "--bogus"], "unknown option `--bogus`\(all) \(dashes)"),
        (["--rot=R"], "unknown option `--rot`; did you mean `--root`? \(dashes)"),
        (["--json=yes"], "--json takes no value"),
        (["--bo\ngus"], #"unknown option `--bo\ngus`"# + all + " " + dashes),
        (["-x"], "unknown option `-x`\(all) \(dash)"),
        (["show", "int", "string", "-F", "x"], "unknown option `-F`; did you mean `-f`? \(dash)"),
        (["get", "int", "-root", "R"], "unknown option `-root`; did you mean `--root`? \(dash)"),
        (["get"], "too few arguments for `get`: prefs get KEY"),
        (["get", "int", "string"], "too many arguments for `get`: prefs get KEY"),
        (["set"], "too few arguments for `set`: prefs set KEY [VALUE …]"),
        (["set", "int"], "too few arguments for `set`: set KEY VALUE"),
        (["set", "string", "a", "b"], "expected KEY=VALUE, found \"string\" (quote a value that contains spaces)"),
        (["set", "int", "1", "--from", "x"], "--from takes the place of VALUE: set KEY --from PATH"),
        (["set", "int", "1", "-t", "int"], "unknown type `int`; types are \(types)"),
        (["set", "int", "1", "-t", "bolean"], "unknown type `bolean`; did you mean `boolean`?"),
        (["set", "-f", "D", "k", "x", "-t", "integer"], "expected a 64-bit integer such as 42 or -7, found \"x\""),
        (["unset"], "expected prefs unset KEY … or prefs unset --all"),
        (["unset", "int", "--all"], "expected prefs unset KEY … or prefs unset --all"),
        (["schema", "x"], "too many arguments for `schema`: prefs schema"),
        (["schema", "-f", "x.plist"], "only the program's settings have a schema; give --root NAME with -f"),
        (["show", "--stored"], "`show` does not accept --stored; it is an option of `get`"),
        (["edit", "D"], "too many arguments for `edit`: prefs edit"),
        (["watch", "--replace"], "`watch` does not accept --replace; it is an option of `import`"),
        (["find"], "too few arguments for `find`: prefs find WORD"),
        (["diff", "a"], "too few arguments for `diff`: prefs diff WHERE WHERE"),
        (["undo", "D"], "too many arguments for `undo`: prefs undo"),
        (["undo", "--force"], "`undo` does not accept --force; it is an option of \(forced)"),
        (["doctor", "a"], "too many arguments for `doctor`: prefs doctor"),
        (["export", "mine.json"], "too many arguments for `export`: prefs export \(exportRemedy)"),
        (["export", "D", "x.plist", "--force"], "too many arguments for `export`: prefs export \(exportRemedy)"),
        (["import", "a.json", "b.json"], "too many arguments for `import`: prefs import [PATH]"),
        (["export", "-o"], "-o needs a value: -o PATH"),
        (["set", "string", "-o", "x"], "`set` does not accept -o; it is an option of `export`"),
        (["export", "--format"], "--format needs a value: --format FORMAT"),
        (["export", "--format", "pdf"], "unknown format `pdf`; formats are json, xml, binary"),
        (["export", "--format", "xml", "--format", "xml"], "--format is given twice; give it once"),
        (["import", "x", "--format", "xml"], "`import` does not accept --format; it is an option of `export`"),
        (["--format", "xml"], "`show` does not accept --format; it is an option of `export`"),
        (["export", "--replace"], "`export` does not accept --replace; it is an option of `import`"),
        (["unset", "--all", "--replace"], "`unset` does not accept --replace; it is an option of `import`"),
        (["read", "D", "k", "x"], "too many arguments for `read`: prefs read [DOMAIN [KEY]]"),
        (["read", "-g"], "there is no global domain here; give a domain or the path of a file"),
        (["write", "D", "R"], "too few arguments for `write`: write DOMAIN KEY [-TYPE] VALUE …"),
        (["write", "D", "R", "a", "b"], "too many arguments for `write`; quote a value that contains spaces"),
        (["delete"], "too few arguments for `delete`: prefs delete DOMAIN [KEY]"),
        (
            ["write", "D", "R", "-itn", "1"],
            "unknown type `-itn`; did you mean `-int`? (-string stores a text that begins with -)"
        ),
        (["write", "D", "k", "v", "--all"], "`write` does not accept --all; it is an option of `unset`"),
        (
            ["get", "int", "-f", "http://x"],
            "\"etcd://…\" is not a URL of an etcd store: expected etcd://HOST:PORT/PREFIX"
        ),
        (["stress", "--threads", "0"], "--threads: expected a number from 1 to 64, found \"0\""),
        (["completions", "tcsh"], "unknown shell `tcsh`; completions are available for bash, zsh and fish"),
        (["help", "gt"], "unknown command or key `gt`; did you mean `get`?"),
        (["--root"], "--root needs a value: --root NAME"),
        (["get", "int", "-f"], "-f needs a value: -f WHERE"),
        (["set", "int", "5", "--root", "-f", "S"], "--root needs a value: --root NAME"),
        (["set", "int", "5", "-f", "--"], "-f needs a value: -f WHERE"),
        (["--root", "A", "--root", "B"], "--root is given twice; give it once"),
        (["-f", "A", "-f", "B"], "-f is given twice; give it once"),
    ]
    private static let forced = "`set`, `unset`, `export`, `import`, `write`, `delete`"

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
        let script = "exec \"$0\" -f \"$(printf '\\377').plist\" set int 1"
        let shell = try Child(
            URL(filePath: "/bin/sh"), ["-c", script, prefs], environment: ["HOME": home.folder.path])
        #expect(Printed(try shell.wait()) == .usageError("an argument is not valid UTF-8"))
        #expect(try home.folder.names().isEmpty)
    }
}
