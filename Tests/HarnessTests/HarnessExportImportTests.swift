import Foundation
import PrefsFileEngine
import Testing
import TestSupport

@testable import EngineSupport
@testable import PrefsTool

/// `prefs export` and `prefs import`.
@Suite(.waits) final class HarnessExportImportTests: HarnessSuite {
    @Test func exportPrintsJSONByDefault() throws {
        // An export stores no default values.
        #expect(try prefs("export") == Printed("{}\n"))
        #expect(try home.folder.names() == [])
        try prefs("set", "int", "10")
        for words in [["export"], ["export", "-o", "-"], ["--format", "json", "export", "--json"]] {
            #expect(try prefs(words) == Printed("{\n  \"Integer Value\": 10\n}\n"))
        }
    }

    @Test(arguments: [("json", "{"), ("xml", "<?xml"), ("binary", "bplist00")])
    func exportedValuesAreImportedUnchanged(format: String, beginning: String) throws {
        try home.storeSampleValues()
        try prefs("set", "date", "2026-11-20T08:30:00Z")
        let file = home.path("x y")
        #expect(try prefs("export", "-o", file, "--format", format) == Printed())
        #expect(try home.bytes("x y").starts(with: beginning.utf8))
        #expect(try home.folder.names() == [".config", ".local", "x y"])
        // Checks exports and imports through streams.
        #expect(try home.bash("prefs export --format \(format) > out && cmp out 'x y'") == Printed())
        let all = try prefs("export")
        for command in ["import 'x y'", "import < out", "import - --replace < out"] {
            try prefs("unset", "--all", "--root", "R")
            #expect(try home.bash("prefs --root R \(command)") == Printed())
            #expect(try prefs("export", "--root", "R") == all)
        }
        #expect(try prefs("get", "date", "--root", "R") == Printed("2026-11-20T08:30:00Z\n"))
    }

    @Test(arguments: [
        ("/dev/stdin", "/dev/stdout"), ("/dev/fd/0", "/dev/fd/1"), ("/proc/self/fd/0", "/proc/self/fd/1"),
    ])
    func aDescriptorIsReadAndWritten(input: String, output: String) throws {
        try home.write("{}", to: "x.json")
        let printed = try home.bash(
            """
            echo '{"a": 1}' | prefs get -f \(input) a; echo '{"b": 2}' | prefs import -f x.json \(input)
            prefs export -f x.json -o \(output) | tr -d '\\n '
            """)
        #expect(printed == Printed("1\n{\"b\":2}"))
    }

    @Test func mergeKeepsAndReplaceRemovesOtherValues() throws {
        try prefs("set", "int", "1")
        try home.write(#"{"$schema": "schema.json", "String Value": "s"}"#, to: "s.json")
        #expect(try prefs("import", home.path("s.json"), "--dry-run") == Printed("+ String Value: s\n"))
        for (option, values) in [([], "1\ns\n"), (["--json"], "1\ns\n"), (["--replace"], "10\ns\n")] {
            #expect(try prefs(["import", home.path("s.json")] + option) == Printed())
            #expect(try prefs("get", "int", "string") == Printed(values))
        }
    }

    /// A JSON file takes nulls and numbers as they are.
    @Test func anImportKeepsWhatItsFileCanHold() throws {
        let text = #"{"a": [1, null], "big": 12345678901234567890123, "n": null}"#
        let path = try home.write(text, to: "from.json").path
        try home.write("{}", to: "to.json")
        #expect(try prefs("import", "-f", home.path("to.json"), path) == Printed())
        #expect(try prefs("diff", path, home.path("to.json")) == Printed())
    }

    /// A property list would hold another number.
    @Test func longNumbersAreNotRoundedWithoutAQuestion() throws {
        let file = home.path("d.plist")
        try home.write(["a": 1], to: "d.plist")
        try home.write(#"{"b": {"n": [0.1234567890123456789]}, "c": 0.25}"#, to: "n.json")
        let question = "`b`: a number that a double does not hold exactly cannot be stored in a property list"
        let state = try home.state()
        #expect(
            try prefs("import", "-f", file, home.path("n.json"))
                == .failure("\(question); --force does it; nothing has changed"))
        #expect(try home.state() == state)
        #expect(try prefs("import", "-f", file, home.path("n.json"), "--force") == Printed())
        #expect(try prefs("get", "-f", file, "b.n[0]") == Printed("0.12345678901234568\n"))
        // JSON holds it.
        #expect(try prefs("import", "-f", home.path("d.json"), home.path("n.json")) == Printed())
        #expect(try home.text("d.json").contains("0.1234567890123456789"))
    }

    /// The output has the form of an export, so that an import accepts it. Values that are not stored are the defaults.
    @Test func showPrintsValuesThatCanBeImported() throws {
        try home.storeSampleValues()
        let first = try prefs("--json")
        #expect(try prefs("export").output == first.output)
        #expect(first.code == 0)
        try prefs("unset", "string")
        let shown = try prefs("show", "--json").output
        let object = try Printed(shown).object()
        #expect(object.count == 5 && object["String Value"] as? String == "Sample String")
        #expect(object["Integer Value"] as? Int == 10)
        let file = try home.write(shown, to: "shown.json")
        #expect(try prefs("import", home.path("shown.json"), in: home.path("x.plist")) == Printed())
        #expect(try prefs("show", "--json", in: home.path("x.plist")).output == shown)
        #expect(try Data(contentsOf: file) == Data(shown.utf8))
    }

    @Test(arguments: [true, false]) func aFileIsReplacedAndKeepsItsMode(hasLink: Bool) throws {
        try prefs("set", "int", "10")
        let file = try home.write("old", to: "x.json")
        chmod(file.path, 0o640)
        let name = hasLink ? "link" : "x.json"
        if hasLink {
            try FileManager.default.createSymbolicLink(atPath: home.path("link"), withDestinationPath: "x.json")
        }
        #expect(try prefs("export", "-o", home.path(name), "--force") == Printed())
        #expect(try home.text("x.json") == "{\n  \"Integer Value\": 10\n}\n")
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect(attributes[.posixPermissions] as? Int == 0o640)
        #expect(try prefs("export", "-o", home.path("new")) == Printed())
        #expect(try home.folder.names() == [".config", ".local"] + (hasLink ? ["link"] : []) + ["new", "x.json"])
    }

    @Test func binaryIsNotWrittenToATerminal() throws {
        let message = "prefs: binary output cannot be written to a terminal; give -o PATH or redirect the output\n"
        #expect(try home.shown(["export", "--format", "binary"], ["NO_COLOR": "1"]) == (message, 64))
    }

    @Test func anInvalidImportChangesNothing() throws {
        try home.storeSampleValues()
        let bytes = try Data(contentsOf: home.suiteFile)
        let failures: [(String, String)] = [
            ("", "it is empty; nothing has changed"),
            (
                "{\n  \"Integer Value\": 5,\n  \"String Value\": nil\n}",
                "line 3, column 19: expected a value (at String Value); nothing has changed"
            ),
        ]
        for (text, message) in failures {
            let file = try home.write(text, to: "x")
            #expect(try prefs("import", file.path) == .failure("\(file.path): \(message)"))
            #expect(try home.bash("prefs import --replace < x") == .failure("standard input: \(message)"))
        }
        try home.write(#"{"Integer Value": 5, "nope": 1}"#, to: "x")
        let keys =
            "int (Integer Value), string (String Value), array (Array Value), dictionary (Dictionary Value), "
            + "date (Date Value)"
        for more in [[], ["--dry-run"]] {
            #expect(try prefs(["import", home.path("x")] + more) == .failure("no key `nope`; keys are \(keys)"))
        }
        let missing = home.path("missing")
        #expect(try prefs("import", missing) == .failure("\(missing): open: No such file or directory"))
        #expect(try prefs("import", home.folder.path) == .failure("\(home.folder.path): is a folder"))
        #expect(try Data(contentsOf: home.suiteFile) == bytes)
    }

    /// A file that is opened next must not take the place of a closed stream.
    @Test func closedStreamsAreReported() throws {
        try home.storeSampleValues()
        let bytes = try Data(contentsOf: home.suiteFile)
        for command in ["import", "import --replace"] {
            let printed = try home.bash("prefs \(command) <&-")
            #expect(printed == .failure("standard input: read: Bad file descriptor"))
        }
        #expect(try home.bash("prefs get int >&-").code == 1)
        #expect(try home.bash("prefs get nope 2>&-") == Printed(code: 1))
        #expect(try Data(contentsOf: home.suiteFile) == bytes)
    }

    @Test func exportReportsAPathThatCannotBeWritten() throws {
        try home.storeSampleValues()
        try home.write("old", to: "x")
        try #require(mkfifo(home.path("fifo"), 0o600) == 0)
        let names = try home.folder.names()
        for (path, reason) in [
            (home.path("no/x"), "open: No such file or directory"), (home.path("x/y"), "open: Not a directory"),
            (home.folder.path, "is a folder"), (home.path("fifo"), "is a FIFO"),
            ("/dev/null", "is a device"),
        ] {
            #expect(try prefs("export", "-o", path) == .failure("\(path): \(reason)"))
        }
        #expect(try home.folder.names() == names)
    }

    @Test(.needs("export to a full disk", !Hazard.isSanitized, else: "a sanitizer writes files"))
    func exportReportsAFullDisk() throws {
        try home.storeSampleValues()
        try home.write("old", to: "x")
        let names = try home.folder.names()
        let full = try home.bash("{ ulimit -f 0; trap '' XFSZ; \"$0\" export -o \"$PWD/x\" --force; } 2>&1 | cat")
        let reason = "write: File too large; raise the limit of file sizes (ulimit -f)"
        #expect(full == Printed("prefs: \(home.path("x")): \(reason)\n"))
        #expect(try home.text("x") == "old")
        #expect(try home.folder.names() == names)
    }

    // MARK: - Power cuts

    /// Writes an export, which is on disk when the command ends.
    private func export(_ system: RecordingSystemCalls) throws {
        try ExportFile.write(Data("new".utf8), to: home.folder.file("export").path, system: system)
    }

    /// The bytes before they get the name, and the name after that.
    @Test(arguments: [false, true]) func bytesAndNameAreFlushed(_ replaces: Bool) throws {
        let system = RecordingSystemCalls()
        if replaces { try Data("old".utf8).write(to: home.folder.file("export")) }
        try export(system)
        let calls = system.takeCalls().filter { ["write", "fsync", "rename"].contains($0) }
        #expect(calls.drop { $0 == "write" } == ["fsync", "rename", "fsync"])
        #expect(try Data(contentsOf: home.folder.file("export")) == Data("new".utf8))
    }

    @Test func bytesThatCannotBeFlushedReplaceNothing() throws {
        let system = RecordingSystemCalls()
        try Data("old".utf8).write(to: home.folder.file("export"))
        system.fail("fsync", with: EIO)
        #expect(throws: StorageFailure.self) { try export(system) }
        #expect(try Data(contentsOf: home.folder.file("export")) == Data("old".utf8))
        #expect(try home.folder.names() == ["export"])
    }
}
