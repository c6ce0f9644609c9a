import Foundation
import PrefsJSON
import Testing
import TestSupport

/// `prefs export` and `prefs import`.
@Suite struct HarnessExportImportTests {
    private static let defaults = """
        {
          "Array Value": [
            "One",
            "Two",
            "Three",
            "Four",
            "Five"
          ],
          "Date Value": {"$date": "2001-01-01T00:00:00Z"},
          "Dictionary Value": {
            "One": "First",
            "Three": "Third",
            "Two": "Second"
          },
          "Integer Value": 10,
          "String Value": "Sample String"
        }

        """

    @Test func exportPrintsJSONByDefault() throws {
        let home = try HarnessHome()
        // An export stores no default values.
        #expect(try home.prefs("export") == Printed("{}\n"))
        #expect(try home.folder.names() == [])
        try home.storeSampleValues()
        for words in [["export"], ["export", "-o", "-"], ["--format", "json", "export", "--json"]] {
            #expect(try home.prefs(words) == Printed(Self.defaults))
        }
    }

    @Test(arguments: [("json", "{"), ("xml", "<?xml"), ("binary", "bplist00")])
    func exportedValuesAreImportedUnchanged(format: String, beginning: String) throws {
        let home = try HarnessHome()
        try home.storeSampleValues()
        try home.prefs("set", "date", "2026-11-20T08:30:00Z")
        let file = home.path("x y")
        #expect(try home.prefs("export", "-o", file, "--format", format) == Printed())
        #expect(try Data(contentsOf: home.folder.file("x y")).starts(with: beginning.utf8))
        #expect(try home.folder.names() == [".config", ".local", "x y"])
        // Checks exports and imports through streams.
        #expect(try shell(home, "\"$0\" export --format \(format) > out && cmp out 'x y'") == Printed())
        let all = try home.prefs("export")
        for command in ["import 'x y'", "import < out", "import - --replace < out"] {
            try home.prefs("unset", "--all", "--root", "R")
            #expect(try shell(home, "\"$0\" --root R \(command)") == Printed())
            #expect(try home.prefs("export", "--root", "R") == all)
        }
        #expect(try home.prefs("get", "date", "--root", "R") == Printed("2026-11-20T08:30:00Z\n"))
    }

    @Test func mergeKeepsAndReplaceRemovesOtherValues() throws {
        let home = try HarnessHome()
        try home.prefs("set", "int", "1")
        try home.write(Data(#"{"String Value": "s"}"#.utf8), to: "s.json")
        func words() throws -> [String] {
            try ["int", "string"].map { try home.prefs("get", $0).output }
        }
        #expect(try home.prefs("import", home.path("s.json")) == Printed())
        #expect(try words() == ["1\n", "s\n"])
        #expect(try home.prefs("import", home.path("s.json"), "--json") == Printed())
        #expect(try words() == ["1\n", "s\n"])
        #expect(try home.prefs("import", home.path("s.json"), "--replace") == Printed())
        #expect(try words() == ["0\n", "s\n"])
    }

    @Test(arguments: [true, false]) func aFileIsReplacedAndKeepsItsMode(hasLink: Bool) throws {
        let home = try HarnessHome()
        try home.storeSampleValues()
        let file = try home.write(Data("old".utf8), to: "x.json")
        chmod(file.path, 0o640)
        let name = hasLink ? "link" : "x.json"
        if hasLink {
            try FileManager.default.createSymbolicLink(atPath: home.path("link"), withDestinationPath: "x.json")
        }
        #expect(try home.prefs("export", "-o", home.path(name), "--force") == Printed())
        #expect(try String(contentsOf: file, encoding: .utf8) == Self.defaults)
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect(attributes[.posixPermissions] as? Int == 0o640)
        #expect(try home.prefs("export", "-o", home.path("new")) == Printed())
        #expect(try home.folder.names() == [".config", ".local"] + (hasLink ? ["link"] : []) + ["new", "x.json"])
    }

    #if os(Linux)
        @Test(
            .enabled(
                if: Hazard.canRun(
                    "export to a terminal", if: access("/dev/ptmx", W_OK) == 0, else: "no pseudo-terminals")))
        func binaryIsNotWrittenToATerminal() throws {
            let home = try HarnessHome()
            let primary = open("/dev/ptmx", O_RDWR | O_NOCTTY)
            defer { close(primary) }
            // TIOCSPTLCK and TIOCGPTN are macros that Swift does not import.
            var (lock, number): (Int32, Int32) = (0, 0)
            try #require(ioctl(primary, 0x4004_5431, &lock) == 0 && ioctl(primary, 0x8004_5430, &number) == 0)
            let message = "binary output cannot be written to a terminal; give -o PATH or redirect the output"
            let export = "\"$0\" export > /dev/pts/\(number) --format"
            #expect(try shell(home, "\(export) binary") == .usageError(message))
            #expect(try shell(home, "\(export) json") == Printed())
        }
    #endif

    @Test func anInvalidImportChangesNothing() throws {
        let home = try HarnessHome()
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
            let file = try home.write(Data(text.utf8), to: "x")
            #expect(try home.prefs("import", file.path) == .failure("\(file.path): \(message)"))
            #expect(
                try shell(home, "\"$0\" import --replace < x") == .failure("standard input: \(message)"))
        }
        try home.write(Data(#"{"Integer Value": 5, "nope": 1}"#.utf8), to: "x")
        #expect(try home.prefs("import", home.path("x")) == .unknownKey("nope"))
        let printed = try home.prefs("import", home.path("x"), "--json")
        #expect(
            printed.code == 1
                && printed.errors.hasPrefix(#"{"error":"no key `nope`; keys are "#))
        let missing = home.path("missing")
        #expect(try home.prefs("import", missing) == .failure("\(missing): open: No such file or directory"))
        #expect(try home.prefs("import", home.folder.path) == .failure("\(home.folder.path): is a folder"))
        #expect(try Data(contentsOf: home.suiteFile) == bytes)
    }

    /// A file that is opened next must not take the place of a closed stream.
    @Test func closedStreamsAreReported() throws {
        let home = try HarnessHome()
        try home.storeSampleValues()
        let bytes = try Data(contentsOf: home.suiteFile)
        for command in ["import", "import --replace"] {
            let printed = try shell(home, "\"$0\" \(command) <&-")
            #expect(printed == .failure("standard input: read: Bad file descriptor"))
        }
        #expect(try shell(home, "\"$0\" get int >&-").code == 1)
        #expect(try shell(home, "\"$0\" get nope 2>&-") == Printed(code: 1))
        #expect(try Data(contentsOf: home.suiteFile) == bytes)
    }

    @Test(arguments: [[], ["--root", "PrefsTestSet"]]) func aDryRunOnAFileThatIsNotOurs(options: [String]) throws {
        let home = try HarnessHome()
        try home.write(Data("garbage".utf8), to: "x.plist")
        try home.write(Data("{}".utf8), to: "x.json")
        let path = home.path("x.plist")
        let printed = try home.prefs(["-f", path, "import", "--dry-run", home.path("x.json")] + options)
        let reason =
            "is neither a binary nor an XML property list; the file is unchanged, because this package did not write it"
        #expect(printed == .failure("\(path): \(reason)"))
        #expect(try home.folder.names() == ["x.json", "x.plist"])
        #expect(try String(contentsOf: home.folder.file("x.plist"), encoding: .utf8) == "garbage")
    }

    @Test(arguments: [
        (#"1"#, #"1.0"#, "1 → 1.0"), (#"1"#, #""1""#, #"1 → "1""#), (#"true"#, #""true""#, #"true → "true""#),
        (#"1"#, #"2"#, "1 → 2"),
        (
            #"{"$date":"2026-11-20T08:30:00.1231Z"}"#, #"{"$date":"2026-11-20T08:30:00.1232Z"}"#,
            #"{"$date":"2026-11-20T08:30:00.1231Z"} → {"$date":"2026-11-20T08:30:00.1232Z"}"#
        ),
    ])
    func aDryRunDistinguishesTypes(old: String, new: String, shown: String) throws {
        let home = try HarnessHome()
        let file = home.path("x.plist")
        try home.prefs("set", "-f", file, "R.k", old, "-t", "json")
        try home.write(Data("{\"R\": {\"k\": \(new)}}".utf8), to: "x.json")
        let printed = try home.prefs("import", "-f", file, "--dry-run", home.path("x.json"))
        #expect(printed == Printed("~ R.k: \(shown)\n"))
    }

    @Test func exportReportsAPathThatCannotBeWritten() throws {
        let home = try HarnessHome()
        try home.storeSampleValues()
        try home.write(Data("old".utf8), to: "x")
        try #require(mkfifo(home.path("fifo"), 0o600) == 0)
        let names = try home.folder.names()
        for (path, reason) in [
            (home.path("no/x"), "open: No such file or directory"), (home.path("x/y"), "open: Not a directory"),
            (home.folder.path, "is a folder"), (home.path("fifo"), "is a FIFO"),
            ("/dev/null", "is a device"),
        ] {
            #expect(try home.prefs("export", "-o", path) == .failure("\(path): \(reason)"))
        }
        #expect(try home.folder.names() == names)
    }

    @Test(
        .enabled(if: Hazard.canRun("export to a full disk", if: !Hazard.isSanitized, else: "a sanitizer writes files")))
    func exportReportsAFullDisk() throws {
        let home = try HarnessHome()
        try home.storeSampleValues()
        try home.write(Data("old".utf8), to: "x")
        let names = try home.folder.names()
        let full = try shell(home, "{ ulimit -f 0; trap '' XFSZ; \"$0\" export -o \"$PWD/x\" --force; } 2>&1 | cat")
        #expect(
            full
                == Printed(
                    "prefs: \(home.path("x")): write: File too large; raise the limit of file sizes (ulimit -f)\n"))
        #expect(try String(contentsOf: home.folder.file("x"), encoding: .utf8) == "old")
        #expect(try home.folder.names() == names)
    }

    /// Runs a script in the home folder. `$0` is the harness.
    private func shell(_ home: HarnessHome, _ script: String) throws -> Printed {
        let words = ["-c", "cd \"$HOME\" && { \(script); }", try Child.executable("prefs").path]
        return Printed(try Child(URL(filePath: "/bin/sh"), words, environment: ["HOME": home.folder.path]).wait())
    }
}
