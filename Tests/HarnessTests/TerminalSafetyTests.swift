import Foundation
import Testing
import TestSupport

/// No key, value, name or argument sends a control character to the terminal. A pipe gets the exact text.
@Suite(.waits) final class TerminalSafetyTests: HarnessSuite {
    private static let texts = HostileText.shown + HostileText.commands

    /// The values of the root that the tests read.
    private static var values: [String: Any] {
        var dictionary: [String: String] = [:]
        for text in texts { dictionary[text] = text }
        dictionary[HostileText.longKey] = "long"
        return [
            "Integer Value": texts[0], "String Value": texts.joined(), "Array Value": texts,
            "Dictionary Value": dictionary, "Date Value": texts[3],
        ]
    }

    private static let fileContents = Result {
        var roots: [String: Any] = ["": ["k": 1]]
        // Every text is the name of a root. `edit` shows the root of the first text.
        for text in texts where !text.isEmpty { roots[text] = ["String Value": text] }
        roots[texts[0]] = values
        roots["PrefsTestSet"] = values
        return try PropertyListSerialization.data(fromPropertyList: roots, format: .binary, options: 0)
    }

    private static let badContents = Result {
        let deep = (0..<140).reduce("x" as Any) { value, _ in [value] }
        var roots: [String: Any] = ["": ["k": 1]]
        for text in texts + [HostileText.longKey] where !text.isEmpty { roots[text] = [text: deep] }
        return try PropertyListSerialization.data(fromPropertyList: roots, format: .binary, options: 0)
    }

    /// A file of hostile keys and values, and a file whose values cannot be stored again. Both have hostile names.
    private var file: String { home.path("\u{1B}[35m\u{202E}'\u{301}; touch pwned.plist") }
    private var bad: String { home.path("\u{301}bad\u{9B}$(touch pwned).plist") }

    private func writeHostileFiles() throws {
        try Self.fileContents.get().write(to: URL(filePath: file))
        try Self.badContents.get().write(to: URL(filePath: bad))
    }

    /// Removes the tool's own colours.
    private static func withoutColours(_ text: String) -> String {
        text.replacing(/\u{1B}\[(?:0|1|31|32|33)m/, with: "")
    }

    private static let typed = ["-f", "FILE", "--root", "PrefsTestSet"]

    static let commands: [[String]] = [
        typed, typed + ["--json"], ["-f", "FILE", "--root", HostileText.shown[0]], ["show", "-f", "FILE"],
        ["show", "-f", "FILE", "PrefsTestSet"], ["show", "--domains"], ["show", "HOSTILE"],
        ["get", "string"] + typed, ["get", "array"] + typed, ["get", "dictionary", "--json"] + typed,
        ["get", "date"] + typed, ["get", "-f", "FILE", "PrefsTestSet"],
        ["get", "-f", "FILE", "PrefsTestSet.String Value"],
        ["get", "-f", "FILE", "PrefsTestSet.Dictionary Value", "--json"],
        ["get", "--type", "-f", "FILE", "PrefsTestSet"], ["get", "HOSTILE"], ["get", "HOSTILE", "--json"],
        ["get", "-f", "FILE", "HOSTILE"], ["get", "-f", "FILE", "PrefsTestSet.HOSTILE", "--json"],
        ["export"] + typed, ["export", "-f", "FILE"], ["export", "-f", "FILE", "--format", "xml"],
        ["export", "--format", "HOSTILE"], ["export", "-o", "/nowhere/HOSTILE"],
        ["import", "--dry-run", "-f", "FILE", "IMPORT"], ["import", "--dry-run", "-f", "FILE", "IMPORT", "--json"],
        ["import", "--dry-run", "-f", "FILE", "--replace", "IMPORT"],
        ["import", "-f", "FILE", "BAD"], ["import", "BAD"] + typed, ["diff", "FILE", "IMPORT"],
        ["diff", "FILE", "IMPORT", "--json"], ["diff", "FILE", "HOSTILE"],
        ["doctor", "-f", "BAD"], ["doctor", "-f", "BAD", "--json"], ["doctor", "--mend", "-f", "BAD"],
        ["doctor", "-f", "FILE"], ["doctor", "-f", "HOSTILE"], ["doctor", "-f", "HOSTILE.plist"],
        ["-f", "HOSTILE"], ["-f", "./HOSTILE"], ["HOSTILE"], ["--HOSTILE"], ["-HOSTILE"], ["help", "HOSTILE"],
        ["completions", "HOSTILE"], ["set", "int", "HOSTILE"], ["set", "int", "x", "-t", "HOSTILE"],
        ["set", "date", "HOSTILE"], ["set", "array", "[HOSTILE"], ["set", "dictionary", "HOSTILE"],
        ["--root", "HOSTILE", "set", "int", "x"], ["set", "-f", "FILE", "PrefsTestSet", "{HOSTILE", "--dry-run"],
        ["set", "-f", "FILE", "HOSTILE", "HOSTILE", "-t", "date"], ["set", "-f", "FILE", "a[HOSTILE", "x"],
        ["set", "-f", "FILE", "R.HOSTILE", "HOSTILE", "--dry-run"], ["set", "int", "1", "--if", "HOSTILE"],
        ["stress", "--writes", "HOSTILE"], ["edit", "--json"], ["unset", "HOSTILE"],
        ["unset", "-f", "FILE", "HOSTILE"], ["unset", "--all", "-f", "./HOSTILE"], ["watch", "HOSTILE"], ["schema"],
        ["find", "HOSTILE"], ["find", "e", "-f", "FILE"], ["find", "e", "-f", "FILE", "--json"], ["find", "e"] + typed,
        ["undo", "-f", "HOSTILE.plist"], ["cp", "HOSTILE", "HOSTILE"], ["mv", "FILE:HOSTILE", "FILE:HOSTILE2"],
        ["cp", "FILE:PrefsTestSet", "FILE:HOSTILE", "--dry-run"], ["mv", "HOSTILE", "--force"],
        ["help"], ["completions"], ["--version"], ["--help", "mv"],
    ]

    @Test(arguments: Hazard.each(2, of: commands)) func nothingDrivesTheTerminal(command: [String]) throws {
        try writeHostileFiles()
        let hostile = HostileText.shown.prefix(6).joined() + HostileText.commands[0]
        let imported = #"{"PrefsTestSet": {"k\u001b[35m": "\u202e\u009b"}, "\u200b": {}}"#
        let other = try home.write(imported, to: "import\u{202E}.json").path
        let words = command.map {
            $0.replacing("FILE", with: file).replacing("BAD", with: bad)
                .replacing("HOSTILE", with: hostile).replacing("IMPORT", with: other)
        }
        let shown = try home.shown(words).text
        #expect(!shown.isEmpty || ["BAD", "export", "--domains"].contains(where: command.contains))
        #expect(HostileText.unsafeScalars(in: Self.withoutColours(shown)).isEmpty, "\(shown)")
    }

    @Test func aTerminalIsShownAValueWithItsLines() throws {
        try prefs("set", "string", "a\u{1B}[35m\n\tb\u{202E}👨‍👩‍👧")
        #expect(try home.shown(["get", "string"]) == ("a\\u{1b}[35m\n\tb\\u{202e}👨‍👩‍👧\n", 0))
    }

    @Test func coloursSurvive() throws {
        try writeHostileFiles()
        let other = try home.write(#"{"\u202e": {"k": 1}}"#, to: "x.json").path
        let difference = try home.shown(["import", "--dry-run", "-f", home.path("no.plist"), other])
        #expect(difference.text == "\u{1B}[32m+ [\"\\u202e\"]: {\"k\":1}\u{1B}[0m\n")
        #expect(try home.shown(["-f", file, "--root", "PrefsTestSet"]).text.contains("\u{1B}[1mKEY"))
        #expect(try home.shown(["get", "nothing"]).text.hasPrefix("\u{1B}[31mprefs:\u{1B}[0m "))
    }

    @Test(arguments: [
        ("NO_COLOR", "1", false), ("NO_COLOR", "", true), ("TERM", "dumb", false), ("TERM", "dumber", true),
    ])
    func theEnvironmentDecidesOnColours(name: String, value: String, areShown: Bool) throws {
        for words in [["show"], ["get", "nothing"]] {
            #expect(try home.shown(words, [name: value]).text.contains("\u{1B}[") == areShown, "\(words)")
        }
    }

    @Test(arguments: ["json", "xml"]) func anExportToATerminalIsTheSameDocument(format: String) throws {
        // XML cannot contain other control characters.
        let xml = ["x\u{7F}\u{9B}35m\u{85}", "\u{202E}<&>\u{2066}", "a\u{200B}\u{FEFF}\u{E0041}\n\t\r\u{2028}", "👨‍👩‍👧"]
        let texts = format == "xml" ? xml : xml + HostileText.shown
        var values: [String: [String: String]] = [:]
        for text in texts { values[text] = [text: text] }
        try home.write(values, to: "x.plist")
        let (text, code) = try home.shown(["export", "-f", home.path("x.plist"), "--format", format])
        #expect(HostileText.unsafeScalars(in: text).isEmpty && code == 0)
        #expect(try Self.scalars(of: propertyList(from: Data(text.utf8))) == Self.scalars(of: values))
    }

    /// Compares scalars, because canonically equivalent strings are equal.
    private static func scalars(of value: Any) -> [[UInt32]] {
        switch value {
        case let text as String: [text.unicodeScalars.map(\.value)]
        case let list as [Any]: list.flatMap(scalars)
        case let members as [String: Any]:
            members.map { [$0.key.unicodeScalars.map(\.value)] + scalars(of: $0.value) }
                .sorted { $0[0].lexicographicallyPrecedes($1[0]) }.flatMap { $0 }
        default: []
        }
    }

    @Test func aPipeGetsTheExactBytes() throws {
        try writeHostileFiles()
        let texts = (HostileText.shown + HostileText.commands).joined()
        for words in [
            ["get", "string", "-f", file, "--root", "PrefsTestSet"],
            ["get", "-f", file, "PrefsTestSet.String Value"],
        ] {
            #expect(try Array(prefs(words).output.utf8) == Array(texts.utf8) + [0x0A])
        }
        let json = Data(try prefs("export", "-f", file, "--root", "PrefsTestSet").output.utf8)
        #expect(try Self.scalars(of: JSONSerialization.jsonObject(with: json)) == Self.scalars(of: Self.values))
    }

    @Test(arguments: [[], ["--json"]]) func watchWritesNoControlCharacter(options: [String]) throws {
        let file = home.path("\u{202E}x\u{1B}[35m.plist")
        let terminal = try home.terminal(["watch", "-f", file, "--root", "PrefsTestSet"] + options)
        try terminal.wait(forText: "press Ctrl-C to stop")
        try prefs(
            "set", "-f", file, "--root", "PrefsTestSet", "string", "--",
            HostileText.shown.joined().replacing("\0", with: "") + "END")
        try terminal.wait(forText: "END")
        try Data("bplist00".utf8).write(to: URL(filePath: file))
        try terminal.wait(forText: "too short")
        terminal.send(SIGINT)
        #expect(try terminal.exitCode() == 0)
        let text = Self.withoutColours(terminal.text)
        #expect(HostileText.unsafeScalars(in: text).isEmpty, "\(text)")
        #expect(text.contains(options.isEmpty ? "\\u{202e}gnp" : "\\u202egnp"))
    }

    /// The comments of the text, and the messages on the terminal. The values are JSON.
    @Test func editWritesNoControlCharacter() throws {
        try writeHostileFiles()
        let run = try EditRun(home, "exit 1")
        let editor = "/bin/sh '\(home.path("my editor"))' \"$@\" # \u{202E}\u{9B}"
        let terminal = try run.onTerminal("-f", file, "--root", HostileText.shown[0], variables: ["EDITOR": editor])
        #expect(try terminal.exitCode() == 1)
        let text = Self.withoutColours(terminal.text)
        #expect(HostileText.unsafeScalars(in: text).isEmpty && text.contains(#"\u{202e}"#), "\(text)")
        let comments = try run.opened(1).split(separator: "\n").filter { $0.contains("//") }
        #expect(HostileText.unsafeScalars(in: comments.joined(separator: "\n")).isEmpty, "\(comments)")
    }

    @Test(
        .needs(
            "terminal: the name of a lock holder", access("/usr/bin/flock", X_OK) == 0, else: "flock is not installed"))
    func theNameOfTheLockHolderIsEscaped() throws {
        let file = home.path("x.plist")
        try home.claim("x.plist")
        try prefs("set", "-f", file, "A.k", "v")
        // The process has the name of the script.
        let script = home.path("\u{1B}[35m)\u{9B}\u{600}")
        let lines = "#!/bin/sh\nexec 9< \"$1\"; flock 9; echo held; read x\n"
        try home.write(lines, to: URL(filePath: script).lastPathComponent)
        try #require(chmod(script, 0o700) == 0)
        let holder = try PseudoTerminal(
            URL(filePath: script), [home.path(".x.plist.lock")], environment: [:], columns: 80, rows: 24)
        try holder.wait(forText: "held")
        func doctor() throws -> String { Self.withoutColours(try home.shown(["doctor", "-f", file]).text) }
        let running = try doctor()
        #expect(
            running.contains(#"(\u{1b}[35m)\u{9b}\u{600})"#) && HostileText.unsafeScalars(in: running).isEmpty,
            "\(running)")
        #expect(!running.contains("stopped"))
        holder.send(SIGSTOP)
        // The signal takes effect after some time.
        let deadline = Patience.deadline
        while try !doctor().contains("which is stopped") { try #require(ContinuousClock.now < deadline) }
        holder.send(SIGKILL)
    }

    @Test func errorsCutLongText() throws {
        try writeHostileFiles()
        let long = String(repeating: "k", count: 10_000)
        let key = String(repeating: "k", count: 60) + "…"
        for words in [["get", "-f", file, "PrefsTestSet.\(long)"], ["get", long], [long]] {
            let printed = try prefs(words)
            #expect(printed.errors.contains(key) && printed.errors.unicodeScalars.count < 400, "\(printed)")
        }
        let vetted = try prefs("doctor", "-f", bad)
        let problems = vetted.output.split(separator: "\n").filter { $0.hasPrefix("problem") }
        #expect(!problems.isEmpty && problems.allSatisfy { $0.unicodeScalars.count < 1_400 })
    }
}
