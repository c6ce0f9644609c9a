import Foundation
import TestSupport
import Testing

/// What needs `--force` or a confirmation, dry runs, and waits for locks.
@Suite struct HarnessSafetyTests {
    private static var content: [String: Any] { ["R": ["d": ["a": 1], "l": [1], "s": "t"], "Entry": 1] }

    private static let risky: [(words: [String], risk: String)] = [
        (["write", "D", "R", "scalar"], "the dictionary `R` would become a value of type string"),
        (["write", "D", "R", "d", "-int", "1"], "the dictionary `R > d` would become a value of type integer"),
        (["write", "D", "R", "l", "scalar"], "the array `R > l` would become a value of type string"),
        (["write", "D", "R", "d", "-array"], "the dictionary `R > d` would become a value of type array"),
        (["write", "D", "R", "-dict", "d", "x"], "the dictionary `R > d` would become a value of type string"),
        (["write", "D", "R.d", "x"], "the dictionary `R > d` would become a value of type string"),
        (["write", "D", "R", "l[0]", "x"], "the integer `R > l[0]` would become a value of type string"),
        (["write", "D", "Entry", "x"], "the integer `Entry` would become a value of type string"),
        (["write", "D", "Entry", "1.5"], "the integer `Entry` would become a value of type string"),
        (["write", "D", "Entry", "{a=1;}"], "the integer `Entry` would become a value of type dictionary"),
        (["delete", "D"], "all entries of the UserDefaults suite \"D\" would be removed"),
        (["delete", "D", "R"], "the dictionary `R` would be removed"),
        (["delete", "D", "R", "d"], "the dictionary `R > d` would be removed"),
        (["delete", "D", "R.l"], "the array `R > l` would be removed"),
        (
            ["rename", "D", "R", "s", "d"],
            "`d` exists and would be lost; the dictionary `R > d` would become a value of type string"
        ),
        (
            ["rename", "D", "Entry", "R"],
            "`R` exists and would be lost; the dictionary `R` would become a value of type integer"
        ),
        (["import", "--domain", "D", "HOME/i.json"], "the array `R > l` would become a value of type integer"),
        (
            ["import", "--domain", "D", "HOME/empty.json", "--replace"],
            "all entries of the UserDefaults suite \"D\" would be removed"
        ),
    ]

    private static func homeWithDomain() throws -> (home: HarnessHome, bytes: Data) {
        let home = try HarnessHome()
        let bytes = try home.writeSuite("D", content)
        try home.write(Data(#"{"R": {"l": 2}}"#.utf8), to: "i.json")
        try home.write(Data("{}".utf8), to: "empty.json")
        return (home, bytes)
    }

    @Test(arguments: risky) func aRiskyChangeNeedsForce(words: [String], risk: String) throws {
        let (home, bytes) = try Self.homeWithDomain()
        let words = words.map { $0.replacing("HOME", with: home.folder.path) }
        #expect(try home.prefs(words) == .failure("\(risk); --force does it; nothing has changed"))
        #expect(try Data(contentsOf: home.domainFile("D")) == bytes)
        #expect(try home.prefs(words + ["--force"]) == Printed())
        #expect(try Data(contentsOf: home.domainFile("D")) != bytes)
    }

    private static let harmless: [[String]] = [
        ["write", "D", "R", "s", "-dict", "a", "1"], ["write", "D", "R", "l", "-array"],
        ["write", "D", "R", "d", "-dict"],
        ["write", "D", "Entry", "-string", "x"], ["delete", "D", "R", "s"], ["delete", "D", "R", "l[0]"],
        ["rename", "D", "R", "S"],
        ["import", "--domain", "D", "HOME/i2.json", "--replace"],
    ]

    @Test(arguments: harmless) func otherChangesNeedNone(words: [String]) throws {
        let (home, _) = try Self.homeWithDomain()
        try home.write(Data(#"{"S": 1}"#.utf8), to: "i2.json")
        #expect(try home.prefs(words.map { $0.replacing("HOME", with: home.folder.path) }) == Printed())
    }

    #if os(Linux)
        @Test(
            .enabled(
                if: Hazard.canRun(
                    "confirmation on a terminal", if: access("/dev/ptmx", W_OK) == 0, else: "no pseudo-terminals")),
            arguments: [("y", 0), ("yes", 0), ("n", 1), ("", 1), ("\u{4}", 1)] as [(String, Int32)])
        func aTerminalIsAsked(answer: String, code: Int32) throws {
            let (home, bytes) = try Self.homeWithDomain()
            let terminal = try PseudoTerminal(
                Child.executable("prefs"), ["delete", "D"], environment: ["HOME": home.folder.path], columns: 120,
                rows: 24)
            try terminal.wait(forText: "would be removed. Continue? [y/N] ")
            try terminal.type(answer + (answer == "\u{4}" ? "" : "\n"))
            #expect(try terminal.exitCode() == code)
            #expect(try (Data(contentsOf: home.domainFile("D")) == bytes) == (code == 1))
        }
    #endif

    // MARK: - Files that are not ours

    private static let foreignWrites: [[String]] = [
        ["write", "FILE", "R", "k", "v"], ["import", "--domain", "FILE", "HOME/i.json"],
        ["set", "--file", "FILE", "int", "5"],
        ["reset", "--file", "FILE"], ["import", "--file", "FILE", "HOME/set.json"],
    ]

    @Test(arguments: foreignWrites) func aFileThatIsNotOursIsReplacedByForceOnly(words: [String]) throws {
        let home = try HarnessHome()
        let garbage = Data("garbage".utf8)
        let file = try home.write(garbage, to: "x.plist").path(percentEncoded: false)
        try home.write(Data(#"{"R": {"l": 2}}"#.utf8), to: "i.json")
        try home.write(Data(#"{"Integer Value": 2}"#.utf8), to: "set.json")
        let words = words.map { $0.replacing("HOME", with: home.folder.path).replacing("FILE", with: file) }
        let names = try home.folder.names()
        let printed = try home.prefs(words)
        #expect(printed.code == 1 && printed.errors.contains("--force"), "\(printed)")
        #expect(try home.folder.names() == names)
        #expect(try Data(contentsOf: home.folder.file("x.plist")) == garbage)
        let forced = try home.prefs(words + ["--force"])
        guard words[0] != "reset" else { return }
        #expect(forced.code == 0 && forced.errors.contains("; quarantined as \(file).corrupt-"), "\(forced)")
        let quarantined = try home.folder.names().filter { $0.hasPrefix("x.plist.corrupt-") }
        #expect(try quarantined.map { try Data(contentsOf: home.folder.file($0)) } == [garbage])
        #expect(try home.prefs("read", file).code == 0)
        // The undo brings the bytes back, and the file is not ours again.
        #expect(try home.prefs("undo", file) == Printed())
        #expect(try Data(contentsOf: home.folder.file("x.plist")) == garbage)
        #expect(try home.prefs(words).code == 1)
    }

    // MARK: - Dry runs

    private static let dryRuns: [(words: [String], output: String)] = [
        (["write", "D", "R", "s", "-int", "2"], "~ R > s: t → 2\n"), (["write", "D", "New", "x"], "+ New: x\n"),
        (["write", "D", "R", "scalar"], "~ R: {\"d\":{\"a\":1},\"l\":[1],\"s\":\"t\"} → scalar\n"),
        (["delete", "D", "R", "s"], "- R > s: t\n"), (["delete", "D", "Entry"], "- Entry: 1\n"),
        (["delete", "D"], "- Entry: 1\n- R: {\"d\":{\"a\":1},\"l\":[1],\"s\":\"t\"}\n"),
        (["rename", "D", "R", "s", "u"], "- R > s: t\n+ R > u: t\n"),
        (["rename", "D", "Entry", "E2"], "+ E2: 1\n- Entry: 1\n"),
        (["import", "--domain", "D", "HOME/i.json"], "~ R > l: [1] → 2\n"),
        (["write", "D", "Entry", "-int", "1"], "nothing would change\n"),
    ]

    @Test(arguments: dryRuns) func aDryRunChangesNothing(words: [String], output: String) throws {
        let (home, _) = try Self.homeWithDomain()
        let state = try home.state()
        let words = words.map { $0.replacing("HOME", with: home.folder.path) } + ["--dry-run"]
        #expect(try home.prefs(words) == Printed(output))
        let json = try home.prefs(words + ["--json"]).output
        #expect(try JSONSerialization.jsonObject(with: Data(json.utf8)) is [Any])
        #expect(try home.state() == state)
        #expect(
            try home.prefs("write", "D", "", "x", "--dry-run") == .failure("\"\" is not a valid root key: it is empty"))
    }

    // MARK: - Locks

    /// The lock file of `d.plist`, locked by the test.
    private static func lock(_ home: HarnessHome) throws -> Int32 {
        try home.prefs("write", home.path("d.plist"), "R", "k", "v")
        let descriptor = open(home.path(".d.plist.lock"), O_RDWR | O_CLOEXEC)
        try #require(flock(descriptor, LOCK_EX) == 0)
        return descriptor
    }

    @Test(arguments: [
        ["write", "FILE", "R", "k", "w"], ["delete", "FILE", "R", "--force"], ["set", "--file", "FILE", "int", "5"],
        ["undo", "FILE"],
    ])
    func aWriteGivesUpAfterTheTimeout(words: [String]) throws {
        let home = try HarnessHome()
        let descriptor = try Self.lock(home)
        defer { close(descriptor) }
        let state = try home.state()
        let words = words.map { $0.replacing("FILE", with: home.path("d.plist")) }
        // A process does not name itself as the holder.
        let printed = try home.process(words + ["--timeout", "0.1"])
        #expect(printed.code == 1 && printed.output.isEmpty)
        let lock = home.path(".d.plist.lock")
        let holder = Self.namesHolders ? "held by process \(getpid()) (" : "held by another process"
        #expect(printed.errors.contains("\(lock): still locked after 0.1 s: "), "\(printed)")
        #expect(printed.errors.contains(holder) || printed.errors.contains(" \(getpid()) ("), "\(printed)")
        #expect(try home.state() == state)
    }

    private static let namesHolders = Hazard.canRun(
        "timeout: names of lock holders", if: access("/proc/locks", R_OK) == 0, else: "nothing tells who holds a lock")

    @Test func aLongWaitNamesTheHolder() throws {
        let home = try HarnessHome()
        let descriptor = try Self.lock(home)
        defer { close(descriptor) }
        let child = try PipedChild(
            "prefs", ["write", home.path("d.plist"), "R", "k", "w"], home: home.folder, mergesErrors: true)
        let line = try child.line()
        #expect(line.hasPrefix("prefs: waiting for the lock \(home.path(".d.plist.lock")), held by "), "\(line)")
        if Self.namesHolders { #expect(line.contains(" \(getpid()) ("), "\(line)") }
        flock(descriptor, LOCK_UN)
        #expect(try child.exitCode() == 0)
        #expect(try home.prefs("read", home.path("d.plist"), "R", "k") == Printed("w\n"))
    }

    @Test(arguments: ["-1", "x", "1e9", "nan"]) func aTimeoutIsANumberOfSeconds(text: String) throws {
        let printed = try HarnessHome().prefs("write", "D", "R", "k", "v", "--timeout=\(text)")
        #expect(printed == .usageError("--timeout: expected seconds from 0 to 86400, found \"\(text)\""))
    }

    // MARK: - Exports

    /// A word that is no option is never the file to write.
    @Test(arguments: ["mine.json", "notes.txt", "d.plist"]) func anExportReplacesAFileByForceOnly(name: String) throws {
        let home = try HarnessHome()
        try home.prefs("set", "int", "5")
        let file = home.path(name)
        if name == "d.plist" {
            try home.prefs("write", file, "R", "k", "v")
        } else {
            try home.write(Data(#"{"precious": 1}"#.utf8), to: name)
        }
        func bytes() throws -> Data { try Data(contentsOf: home.folder.file(name)) }
        let (before, state) = (try bytes(), try home.state())
        for words in [["export", file], ["export", file, "--force"], ["export", "--domain", file, file]] {
            let printed = try home.prefs(words)
            #expect(printed.code == 64 && printed.errors.contains("-o PATH writes to a file"), "\(printed)")
        }
        for words in [["export", "-o", file], ["export", "--domain", HarnessHome.suite, "-o", file]] {
            let risk = "\(file) exists and would be replaced; --force does it; nothing has changed"
            #expect(try home.prefs(words) == .failure(risk))
        }
        #expect(try home.state() == state)
        #expect(try home.prefs("export", "-o", file, "--force", "--format", "json") == Printed())
        #expect(try String(contentsOf: home.folder.file(name), encoding: .utf8) == "{\n  \"Integer Value\": 5\n}\n")
        // The exported JSON is quarantined if a program had written the file.
        #expect(try home.prefs("undo", "--file", file).code == 0)
        #expect(try bytes() == before)
    }

    @Test func anImportTakesItsWordAsTheSource() throws {
        let home = try HarnessHome()
        for name in ["a.json", "b.json"] { try home.write(Data(#"{"R": {"from": "\#(name)"}}"#.utf8), to: name) }
        let state = try home.state()
        #expect(try home.prefs("import", home.path("a.json"), home.path("b.json"), "--replace", "--force").code == 64)
        #expect(try home.state() == state)
    }
}
