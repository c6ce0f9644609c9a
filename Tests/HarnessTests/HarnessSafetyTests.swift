import Foundation
import PrefsPropertyLists
import Testing
import TestSupport

@testable import PrefsTool

/// Commands that need `--force` or a confirmation, dry runs, and waits for locks.
@Suite(.waits) final class HarnessSafetyTests: HarnessSuite {
    private static var content: [String: Any] { ["R": ["d": ["a": 1], "l": [1], "s": "t"], "Entry": 1] }

    static let risky: [(words: [String], risk: String)] = [
        (["set", "R", "scalar"], "the dictionary `R` would become a value of type string"),
        (["set", "R.d", "1", "-t", "integer"], "the dictionary `R.d` would become a value of type integer"),
        (["set", "R.d", "1"], "the dictionary `R.d` would become a value of type integer"),
        (["set", "R.l", "scalar"], "the array `R.l` would become a value of type string"),
        (["set", "R.d", "", "-t", "array"], "the dictionary `R.d` would become a value of type array"),
        (["set", "R", #"{"d":"x"}"#], "the dictionary `R.d` would become a value of type string"),
        (["set", "R.d=x", "new=y"], "the dictionary `R.d` would become a value of type string"),
        (["set", "R.l[0]", "x"], "the integer `R.l[0]` would become a value of type string"),
        (["set", "Entry", "x"], "the integer `Entry` would become a value of type string"),
        (["set", "Entry", "1.5"], "the integer `Entry` would become a value of type float"),
        (["set", "Entry", #"{"a":1}"#], "the integer `Entry` would become a value of type dictionary"),
        (["unset", "--all"], "all entries of the UserDefaults suite \"D\" would be removed"),
        (["unset", "R"], "the dictionary `R` would be removed"),
        (["unset", "R.d"], "the dictionary `R.d` would be removed"),
        (["unset", "R.l"], "the array `R.l` would be removed"),
        (["unset", "R.l", "R.d"], "the array `R.l` would be removed; the dictionary `R.d` would be removed"),
        (
            ["cp", "R.l", "R.d"],
            "the dictionary `R.d` would be replaced; the dictionary `R.d` would become a value of type array"
        ),
        (
            ["mv", "R.d", "R.l"],
            "the array `R.l` would be replaced; the array `R.l` would become a value of type dictionary"
        ),
        (["import", "HOME/i.json"], "the array `R.l` would become a value of type integer"),
        (["import", "HOME/empty.json", "--replace"], "all entries of the UserDefaults suite \"D\" would be removed"),
    ]

    /// Makes the domain D, and files for imports. Returns the bytes of the domain.
    private func domain() throws -> Data {
        try home.write(#"{"R": {"l": 2}}"#, to: "i.json")
        try home.write("{}", to: "empty.json")
        return try home.writeSuite("D", Self.content)
    }

    private func inDomain(_ words: [String]) -> [String] {
        words.map { $0.replacing("HOME", with: home.folder.path) } + ["-f", "D"]
    }

    @Test(arguments: risky) func aRiskyChangeNeedsForce(words: [String], risk: String) throws {
        let bytes = try domain()
        let words = inDomain(words)
        #expect(try prefs(words) == .failure("\(risk); --force does it; nothing has changed"))
        #expect(try Data(contentsOf: home.domainFile("D")) == bytes)
        #expect(try prefs(words + ["--force"]) == Printed())
        #expect(try Data(contentsOf: home.domainFile("D")) != bytes)
    }

    @Test func aContainerInsideOfOthersNeedsForce() throws {
        let file = try home.write(#"{"x": {"y": {"z": [1]}, "d": {"e": {"f": {}}}}}"#, to: "x.json").path
        let printed = try prefs("set", file, "x", #"{"y": {"z": 1}, "d": {"e": {"f": "g"}}}"#)
        let risks = [
            "the dictionary `x.d.e.f` would become a value of type string",
            "the array `x.y.z` would become a value of type integer",
        ]
        #expect(printed == .failure("\(risks.joined(separator: "; ")); --force does it; nothing has changed"))
    }

    static let harmless: [[String]] = [
        ["set", "R.s", #"{"a":1}"#, "-t", "json"], ["set", "R.l", "", "-t", "array"],
        ["set", "R.d", "{}"], ["set", "Entry", "x", "-t", "string"],
        ["unset", "R.s"], ["unset", "R.l[0]"], ["mv", "Entry", "R.d.e"],
        ["cp", "R.d", "new"], ["import", "HOME/i2.json", "--replace"],
    ]

    @Test(arguments: harmless) func otherChangesNeedNone(words: [String]) throws {
        _ = try domain()
        try home.write(#"{"S": 1}"#, to: "i2.json")
        #expect(try prefs(inDomain(words)) == Printed())
    }

    #if os(Linux)
        @Test(arguments: [("y", 0), ("yes", 0), ("n", 1), ("", 1), ("\u{4}", 1)] as [(String, Int32)])
        func aTerminalIsAsked(answer: String, code: Int32) throws {
            let bytes = try domain()
            let terminal = try home.terminal(["unset", "-f", "D", "--all"], columns: 120)
            try terminal.wait(forText: "would be removed. Continue? [y/N] ")
            try terminal.type(answer + (answer == "\u{4}" ? "" : "\n"))
            #expect(try terminal.exitCode() == code)
            #expect(try (Data(contentsOf: home.domainFile("D")) == bytes) == (code == 1))
        }
    #endif

    #if os(Linux)
        /// While a person thinks about one risk, another program stores what makes the change another one.
        @Test(arguments: [#"["a"]"#, #"{"a": 2}"#]) func anAnswerIsAboutTheRiskThatWasAsked(_ theirs: String) throws {
            let file = try home.write(#"{"k": {"a": 1}, "l": 1}"#, to: "r.json").path
            let terminal = try home.terminal(["set", "-f", file, "k", "5"], columns: 200)
            try terminal.wait(
                forText: "the dictionary `k` would become a value of type integer. Continue? [y/N] ")
            try home.write("{\"k\": \(theirs), \"l\": 2}", to: "r.json")
            try terminal.type("y\n")
            let isSame = theirs.hasPrefix("{")
            #expect(try terminal.exitCode() == (isSame ? 0 : 1))
            #expect(try home.text("r.json") == "{\"k\": \(isSame ? "5" : theirs), \"l\": 2}")
        }
    #endif

    /// Sets `k` to 5. Another program writes the file after the change was rehearsed, before the file is locked.
    private func change(_ words: [String], whileOthersWrite theirs: [String: Any]) throws -> Outcome {
        let file = home.folder.file()
        try writePropertyList(["k": 1], to: file)
        let invocation = try Invocation(["set", "-f", file.path, "k", "5"] + words, of: AppPrefs.program)
        let place = try Place(entriesOf: .file(file.path), in: AppPrefs.program)
        var isFirst = true
        return try place.change(invocation) { values, _ in
            values["k"] = .integer(5)
            guard isFirst else { return }
            isFirst = false
            try writePropertyList(theirs, to: file)
        }
    }

    private func stored() throws -> [String: Any] { try propertyList(at: home.folder.file()) }

    #if os(Linux)
        /// A person confirms that two dictionaries are replaced. Another program writes the file in the meantime.
        @Test(
            arguments: [
                (#"{"a": {"x": 2}, "b": {"x": 2}, "c": 1}"#, nil), (#"{"a": 2, "b": {"x": 2}, "c": 1}"#, nil),
                (#"{"a": {"x": 2}, "b": 2, "c": 1}"#, nil), (#"{"a": 2, "b": 2, "c": 1}"#, nil),
                (#"{"a": ["x"], "b": {"x": 2}, "c": 1}"#, ["array `a`", "dictionary `b`"]),
                (#"{"a": {"x": 2}, "b": ["x"], "c": 1}"#, ["dictionary `a`", "array `b`"]),
                (#"{"a": 2, "b": ["x"], "c": 1}"#, ["array `b`"]), (#"{"a": 2, "b": 2, "c": ["x"]}"#, ["array `c`"]),
            ] as [(String, [String]?)])
        func eachRiskIsConfirmed(_ theirs: String, _ risks: [String]?) throws {
            let file = try home.write(#"{"a": {"x": 1}, "b": {"x": 1}, "c": 1}"#, to: "r.json").path
            let terminal = try home.terminal(["set", "-f", file, "a=5", "b=5", "c=5"], columns: 400)
            let question = ["dictionary `a`", "dictionary `b`"].map { "the \($0) would become a value of type integer" }
            try terminal.wait(forText: question.joined(separator: "; ") + ". Continue? [y/N] ")
            try home.write(theirs, to: "r.json")
            try terminal.type("y\n")
            #expect(try terminal.exitCode() == (risks == nil ? 0 : 1))
            let stored = risks == nil ? #"{"a": 5, "b": 5, "c": 5}"# : theirs
            #expect(try home.text("r.json") == stored)
            let output = String(decoding: terminal.output, as: UTF8.self)
            let texts = risks?.map { "the \($0) would become a value of type integer" }
            let error = texts.map { $0.joined(separator: "; ") + "; --force does it; nothing has changed" }
            #expect(output.contains(error ?? "Continue?"), "\(output)")
        }
    #endif

    @Test func aRiskThatComesUpUnderTheLockStopsTheChange() throws {
        let error = #expect(throws: CommandError.self) { try change([], whileOthersWrite: ["k": ["a": 1]]) }
        let risk = "the dictionary `k` would become a value of type integer"
        #expect(error.map { "\($0)" } == "\(risk); --force does it; nothing has changed")
        #expect(try stored()["k"] as? [String: Int] == ["a": 1])
    }

    @Test func otherwiseItIsMade() throws {
        _ = try change(["--force"], whileOthersWrite: ["k": ["a": 1]])
        #expect(try stored()["k"] as? Int == 5)
        _ = try change([], whileOthersWrite: ["k": 2, "l": 3])
        #expect(try stored() as? [String: Int] == ["k": 5, "l": 3])
    }

    // MARK: - Files that are not ours

    static let foreignWrites: [[String]] = [
        ["set", "-f", "FILE", "R.k", "v"], ["import", "-f", "FILE", "HOME/i.json"],
        ["set", "-f", "FILE", "--root", "PrefsTestSet", "int", "5"],
        ["unset", "-f", "FILE", "--root", "PrefsTestSet", "--all"],
        ["import", "-f", "FILE", "--root", "PrefsTestSet", "HOME/set.json"],
    ]

    @Test(arguments: foreignWrites) func aFileThatIsNotOursIsReplacedByForceOnly(words: [String]) throws {
        let garbage = Data("garbage".utf8)
        let file = try home.write(garbage, to: "x.plist").path(percentEncoded: false)
        try home.write(#"{"R": {"l": 2}}"#, to: "i.json")
        try home.write(#"{"Integer Value": 2}"#, to: "set.json")
        let words = words.map { $0.replacing("HOME", with: home.folder.path).replacing("FILE", with: file) }
        let names = try home.folder.names()
        let printed = try prefs(words)
        #expect(printed.code == 1 && printed.errors.contains("--force"), "\(printed)")
        #expect(try home.folder.names() == names)
        #expect(try home.bytes("x.plist") == garbage)
        let forced = try prefs(words + ["--force"])
        guard words[0] != "unset" else { return }
        #expect(forced.code == 0 && forced.errors.contains("; quarantined as \(file).corrupt-"), "\(forced)")
        let quarantined = try home.folder.names().filter { $0.hasPrefix("x.plist.corrupt-") }
        #expect(try quarantined.map { try home.bytes($0) } == [garbage])
        #expect(try prefs("export", "-f", file).code == 0)
        // The undo restores the bytes, so the file is a foreign file again.
        #expect(try prefs("undo", "-f", file).code == 0)
        #expect(try home.bytes("x.plist") == garbage)
        #expect(try prefs(words).code == 1)
    }

    // MARK: - Dry runs

    /// The words, what would change, and why the change needs `--force`.
    static let dryRuns: [(words: [String], output: String, risk: String?)] = [
        (["set", "-f", "D", "R.s", "2", "-t", "integer"], "~ R.s: t → 2\n", nil),
        (["set", "-f", "D", "New", "x"], "+ New: x\n", nil),
        (["set", "-f", "D", "New.a.b", "x", "--nest"], "+ New: {\"a\":{\"b\":\"x\"}}\n", nil),
        (
            ["set", "-f", "D", "R", "scalar"], "~ R: {\"d\":{\"a\":1},\"l\":[1],\"s\":\"t\"} → scalar\n",
            "the dictionary `R` would become a value of type string"
        ),
        (["set", "-f", "D", "R.d.a=2", "R.d.b=3"], "~ R.d.a: 1 → 2\n+ R.d.b: 3\n", nil),
        (["unset", "-f", "D", "R.s"], "- R.s: t\n", nil), (["unset", "-f", "D", "Entry"], "- Entry: 1\n", nil),
        (
            ["unset", "-f", "D", "--all"], "- Entry: 1\n- R: {\"d\":{\"a\":1},\"l\":[1],\"s\":\"t\"}\n",
            "all entries of the UserDefaults suite \"D\" would be removed"
        ),
        (["mv", "-f", "D", "R.s", "text"], "- R.s: t\n+ text: t\n", nil),
        (["cp", "-f", "D", "Entry", "R.l[+]"], "+ R.l[1]: 1\n", nil),
        (
            ["import", "-f", "D", "HOME/i.json"], "~ R.l: [1] → 2\n",
            "the array `R.l` would become a value of type integer"
        ),
        (["set", "-f", "D", "Entry", "1"], "nothing would change\n", nil),
    ]

    @Test(arguments: dryRuns.indices) func aDryRunChangesNothing(index: Int) throws {
        let (command, output, risk) = Self.dryRuns[index]
        _ = try domain()
        let state = try home.state()
        let words = command.map { $0.replacing("HOME", with: home.folder.path) } + ["--dry-run"]
        let errors = risk.map { "prefs: \($0); --force does it\n" }
        #expect(try prefs(words) == Printed(output, errors: errors ?? "", code: risk == nil ? 0 : 1))
        if risk != nil { #expect(try prefs(words + ["--force"]) == Printed(output)) }
        let json = try prefs(words + ["--json"]).output
        #expect(try JSONSerialization.jsonObject(with: Data(json.utf8)) is [Any])
        #expect(try home.state() == state)
    }

    // MARK: - Locks

    /// `d.plist`, whose lock file the test holds.
    private func lockedFile() throws -> HeldLock {
        try home.claim("d.plist")
        try prefs("set", "-f", home.path("d.plist"), "R.k", "v")
        return try home.lock("d.plist")
    }

    @Test(arguments: [
        ["set", "-f", "FILE", "R.k", "w"], ["unset", "-f", "FILE", "R", "--force"],
        ["set", "-f", "FILE", "--root", "PrefsTestSet", "int", "5"],
        ["undo", "-f", "FILE"],
    ])
    func aWriteGivesUpAfterTheTimeout(words: [String]) throws {
        let held = try lockedFile()
        defer { held.release() }
        let state = try home.state()
        let words = words.map { $0.replacing("FILE", with: home.path("d.plist")) }
        // A process does not name itself as the holder.
        let printed = try home.process(words + ["--timeout", "0.1"])
        #expect(printed.code == 1 && printed.output.isEmpty)
        let lock = home.path(".d.plist.lock")
        let holder = HeldLock.isTold ? "held by process \(getpid()) (" : "held by another process"
        #expect(printed.errors.contains("\(lock): still locked after 0.1 s: "), "\(printed)")
        #expect(printed.errors.contains(holder) || printed.errors.contains(" \(getpid()) ("), "\(printed)")
        #expect(try home.state() == state)
    }

    @Test func aLongWaitNamesTheHolder() throws {
        let held = try lockedFile()
        defer { held.release() }
        let child = try PipedChild(
            "prefs", ["set", "-f", home.path("d.plist"), "R.k", "w"], home: home.folder, mergesErrors: true)
        let line = try child.line()
        #expect(line.hasPrefix("prefs: waiting for the lock \(home.path(".d.plist.lock")), held by "), "\(line)")
        if HeldLock.isTold { #expect(line.contains(" \(getpid()) ("), "\(line)") }
        held.release()
        #expect(try child.exitCode() == 0)
        #expect(try prefs("get", "-f", home.path("d.plist"), "R.k") == Printed("w\n"))
    }

    // MARK: - Exports

    /// A word that is not an option is never the file to write.
    @Test(arguments: ["mine.json", "notes.txt", "d.plist"]) func anExportReplacesAFileByForceOnly(name: String) throws {
        try prefs("set", "int", "5")
        let file = home.path(name)
        if name == "d.plist" {
            try prefs("set", "-f", file, "R.k", "v")
        } else {
            try home.write(#"{"precious": 1}"#, to: name)
        }
        func bytes() throws -> Data { try home.bytes(name) }
        let (before, state) = (try bytes(), try home.state())
        #expect(try prefs("export", "-f", file, file).errors.contains("-o PATH writes to a file"))
        for words in [["export", file], ["export", file, "--force"]] { try prefs(words) }
        for words in [["export", "-o", file], ["export", "-f", HarnessHome.suite, "-o", file]] {
            let words = words + ["--format", "json"]
            let risk = "\(file) exists and would be replaced; --force does it; nothing has changed"
            #expect(try prefs(words) == .failure(risk))
        }
        #expect(try home.state() == state)
        #expect(try prefs("export", "-o", file, "--force", "--format", "json") == Printed())
        #expect(try home.text(name) == "{\n  \"Integer Value\": 5\n}\n")
        // The exported JSON is quarantined if a program had written the file.
        #expect(try prefs("undo", "-f", file).code == 0)
        #expect(try bytes() == before)
    }
}
