import Foundation
import TestSupport
import Testing

/// A word that is an existing file is that file, and nothing is created in another place than the one that was named.
/// The commands run as processes, because paths are relative to the working folder.
@Suite(.waits) final class HarnessNamedFileTests: HarnessSuite {
    private static let lines: [(String, Printed)] = [
        ("prefs set -f settings.conf a 2 && cat settings.conf", Printed("{\"a\": 2, // mine\n \"b\": {\"c\": 2}}")),
        ("prefs set settings.conf a 2 && cat settings.conf", Printed("{\"a\": 2, // mine\n \"b\": {\"c\": 2}}")),
        ("prefs set settings.conf a=2 b.c=3 && cat settings.conf", Printed("{\"a\": 2, // mine\n \"b\": {\"c\": 3}}")),
        ("prefs get settings.conf b.c", Printed("2\n")), ("prefs find settings.conf c", Printed("b.c: 2\n")),
        ("prefs unset settings.conf b.c && cat settings.conf", Printed("{\"a\": 1, // mine\n \"b\": {}}")),
        ("prefs show settings.conf b.c | tail -1", Printed("b.c  integer  2\n")),
        ("prefs settings.conf | tail -1", Printed("b.c  integer  2\n")),
        ("prefs export settings.conf -o -", Printed("{\n  \"a\": 1,\n  \"b\": {\n    \"c\": 2\n  }\n}\n")),
        (
            "prefs import -f settings.conf other.json && cat settings.conf",
            Printed("{\"a\": 7, // mine\n \"b\": {\"c\": 2}}")
        ),
        ("prefs set settings.conf a 2 && prefs undo settings.conf", Printed("~ a: 2 → 1\n")),
        // A key of the program comes before a file of that name.
        ("cp settings.conf int && prefs set int 5 && prefs get int", Printed("5\n")),
        ("prefs get -f <(echo '{\"x\": 5}') x", Printed("5\n")),
        ("prefs get <(echo '{\"x\": 5}') x", Printed("5\n")),
        ("prefs get -f - x < xml", Printed("9\n")), ("prefs get xml x", Printed("9\n")),
        ("echo '{\"x\": 5} // end' | prefs set -f - x 6", Printed("{\"x\": 6} // end\n")),
        ("echo '{\"x\": 5}' | prefs unset -f - x", Printed("{}\n")),
        ("prefs set -f - x 6 --format json < /dev/null", Printed("{\n  \"x\": 6\n}\n")),
        (
            "echo '{\"R\": {\"Integer Value\": 5}}' | prefs set -f - --root R int +1",
            Printed("{\"R\": {\"Integer Value\": 6}}\n")
        ),
        (
            "echo '{\"R\": {\"Date Value\": \"2026-11-01\"}}' | prefs get -f - --root R date",
            Printed("2026-11-01T00:00:00Z\n")
        ),
        ("prefs diff other.json - < settings.conf", Printed("~ a: 7 → 1\n+ b: {\"c\":2}\n", code: 1)),
        // The format may be named.
        ("prefs set -f new.conf a 2 --format xml && head -c 5 new.conf", Printed("<?xml")),
        ("prefs set -f new a 2 --format json && cat new", Printed("{\n  \"a\": 2\n}\n")),
        ("EDITOR=\"sed -i 's/{/{\\\"a\\\":2/'\" prefs edit new.json && cat new.json", Printed("{\"a\":2\n}\n")),
        ("prefs doctor new.json | head -2 | tail -1", Printed("state      there is no file: nothing was stored yet\n")),
        ("prefs set new.jsonc a 2 && cat new.jsonc", Printed("{\n  \"a\": 2\n}\n")),
        ("prefs set -f list.plist a 2 && cat list.plist", Printed("{\"a\": 2}")),
    ]

    @Test(arguments: lines) func anExistingFileIsThatFile(line: String, expected: Printed) throws {
        try prepare()
        #expect(try home.bash(line) == expected)
        #expect(!FileManager.default.fileExists(atPath: home.path(".config/settings.conf.plist")))
        #expect(!FileManager.default.fileExists(atPath: home.path(".config/-.plist")))
    }

    private static let rejected: [(String, String)] = [
        ("prefs set -f missing/x.json a 1", "the folder HOME/missing does not exist; nothing was created"),
        ("prefs set -f ./x.conf a 1", "./x.conf does not exist; --format json, xml or binary creates it"),
        (
            "prefs set -f x.conf a 1",
            "there is no file and no UserDefaults domain `x.conf`; HOME/.config/x.conf.plist would be created "
                + "(--format json, xml or binary creates a file of that name); --force does it; nothing has changed"
        ),
        ("prefs get -f - x < /dev/null", "standard input is empty"),
        (
            "echo '{' | prefs get -f - x",
            "standard input: line 2, column 1: expected a key in quotes before the end of the data"
        ),
        ("prefs set -f <(echo '{}') x 1", "/dev/fd/63 is a pipe; only `-f -` can be written, to the standard output"),
        ("prefs undo -f - < other.json", "undo is not available for the standard input: it has no file"),
        ("prefs watch -f - < other.json", "standard input cannot be watched, because it has no file"),
    ]

    @Test(arguments: rejected) func nothingIsCreatedElsewhere(line: String, message: String) throws {
        try prepare()
        let before = try home.state()
        let printed = try home.bash(line)
        #expect(printed.errors == "prefs: \(message.replacing("HOME", with: home.folder.path))\n" && printed.code != 0)
        #expect(printed.output == "")
        #expect(try home.state() == before)
    }

    /// Files of other programs, with and without the extensions of formats.
    @Test(arguments: ["Package.resolved", "x.sublime-settings", "x.jsonc", "Preferences", "x.plist"])
    func aFormatIsRecognizedByItsContent(name: String) throws {
        let files = [
            (Data(" // first\n{\"a\": 1,}\n".utf8), " // first\n{\"a\": 2,}\n"),
            (Data("/* first */ {\"a\":1}".utf8), "/* first */ {\"a\":2}"),
            (Data("\u{FEFF}\n/**/{\"a\":1}".utf8), "\u{FEFF}\n/**/{\"a\":2}"),
            (Data("\u{FEFF}{\"a\":1}".utf8), "\u{FEFF}{\"a\":2}"),
        ]
        for (bytes, expected) in files {
            try home.write(bytes, to: name)
            #expect(try prefs("set", "-f", home.path(name), "a", "2") == Printed())
            #expect(try home.bytes(name) == Data(expected.utf8))
        }
        let list = try PropertyListSerialization.data(fromPropertyList: ["a": 1], format: .binary, options: 0)
        try home.write(list, to: name)
        #expect(try prefs("get", "-f", home.path(name), "a") == Printed("1\n"))
    }

    private func prepare() throws {
        try home.write("{\"a\": 1, // mine\n \"b\": {\"c\": 2}}", to: "settings.conf")
        try home.write("{\"a\": 7}", to: "other.json")
        try home.write("{\"a\": 1}", to: "list.plist")
        try home.write(["x": 9], to: "xml", format: .xml)
    }
}
