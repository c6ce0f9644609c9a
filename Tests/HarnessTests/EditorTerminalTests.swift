import Foundation
import TestSupport
import Testing

/// `prefs edit` restores the terminal however it ends, and reports a missing terminal.
@Suite struct EditorTerminalTests {
    private typealias Keys = EditorSession.Keys

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT])
    func aSignalRestoresTheTerminal(number: Int32) throws {
        let session = try EditorSession(in: HarnessHome())
        #expect(session.terminal.modesAtStart != session.terminal.modes)
        try session.end { session.terminal.send(number) }
    }

    @Test func controlCLeavesAnEditToo() throws {
        let home = try HarnessHome()
        let session = try EditorSession(in: home)
        try session.type(Keys.enter, "5")
        try session.wait("> Integer Value     Int         editing     105")
        try session.end { try session.type(Keys.interrupt) }
        #expect(try home.prefs("get", "int") == Printed("10\n"))
    }

    @Test func aSecondSignalEndsTheEditorWhileTheLockIsHeld() throws {
        let home = try HarnessHome()
        try home.prefs("set", "int", "1")
        let lockFile = home.suiteFile.deletingLastPathComponent().path + "/.\(home.suiteFile.lastPathComponent).lock"
        let lock = open(lockFile, O_RDWR | O_CLOEXEC)
        defer { close(lock) }
        try #require(flock(lock, LOCK_EX) == 0)
        let session = try EditorSession(in: home)
        try session.type(Keys.enter, "5", Keys.enter)
        try session.terminal.waitUntilItWaitsForALock()
        // The system may deliver either one first.
        try session.end(oneOf: [128 + SIGINT, 128 + SIGTERM]) {
            session.terminal.send(SIGINT)
            session.terminal.send(SIGTERM)
        }
        flock(lock, LOCK_UN)
        #expect(try home.prefs("get", "int") == Printed("1\n"))
    }

    @Test func controlZStopsItAndTheShellContinuesIt() throws {
        let home = try HarnessHome()
        try home.storeSampleValues()
        let script = #"set -m; "$0" edit; echo "stopped $?"; read x; fg; echo "left $?""#
        let terminal = try PseudoTerminal(
            URL(filePath: "/bin/bash"), ["-c", script, try EditorSession.program],
            environment: ["HOME": home.folder.path], columns: 80, rows: 24)
        let modes = terminal.modesAtStart
        let edited = "> Integer Value     Int         editing     1012"
        try terminal.wait(for: "the form") { $0.isAlternate && $0.lines[23] != "" }
        try terminal.type(Keys.enter + "12")
        try terminal.wait(for: "the edit") { $0.lines[2] == edited }
        let before = terminal.screen.lines
        try terminal.type(Keys.suspend)
        try terminal.wait(for: "the shell") { !$0.isAlternate && $0.lines.contains { $0.hasPrefix("stopped") } }
        #expect(terminal.modes == modes)
        #expect(terminal.screen.showsCursor && terminal.screen.wraps && !terminal.screen.tellsPastes)
        try terminal.type("\n")
        try terminal.wait(for: "the form again") { $0.isAlternate && $0.lines == before }
        #expect(terminal.screen.showsCursor)
        #expect(terminal.modes != modes)
        try terminal.type(Keys.enter)
        try terminal.wait(for: "the value") { $0.lines[2] == "> Integer Value     Int         set         1012" }
        try terminal.type("q")
        try terminal.wait(for: "the shell") { !$0.isAlternate && $0.lines.contains("left 0") }
        #expect(try terminal.exitCode() == 0)
        #expect(terminal.modes == modes)
    }

    /// A script that waits for a job. Bash may hear late that it was stopped, and has been continued.
    private static let waitForTheEnd = #"while wait %1; code=$?; (( code > 144 )); do :; done; echo "left $code""#

    /// In the background, the editor does not touch the terminal, and a signal can end it.
    @Test(arguments: ["", "bg;"]) func aSignalEndsTheEditorInTheBackground(before: String) throws {
        let home = try HarnessHome()
        let script =
            "set -m; \"$0\" edit; \(before) kill %1; kill -CONT %1 2> /dev/null; \(Self.waitForTheEnd) 2> /dev/null"
        let terminal = try PseudoTerminal(
            URL(filePath: "/bin/bash"), ["-c", script, try EditorSession.program],
            environment: ["HOME": home.folder.path], columns: 80, rows: 24)
        let modes = terminal.modesAtStart
        try terminal.wait(for: "the form") { $0.isAlternate && $0.lines[23] != "" }
        try terminal.type(Keys.suspend)
        try terminal.wait(for: "the end") { !$0.isAlternate && $0.lines.contains("left 0") }
        #expect(try terminal.exitCode() == 0)
        #expect(terminal.modes == modes && !terminal.screen.isAlternate && terminal.screen.wraps)
    }

    /// A shell sends SIGCONT after the signal. If both come before the system stops the editor, nothing would continue
    /// it any more.
    @Test(
        .enabled(
            if: Hazard.canRun(
                "editor: a signal before the stop", if: access("/proc/self/status", R_OK) == 0,
                else: "nothing tells which signals a process handles")))
    func aSignalEndsAnEditorThatIsAboutToStop() throws {
        let home = try HarnessHome()
        // Each of them gets the signal right after it has begun to handle signals.
        let script = #"""
            set -m
            for i in {1..10}; do
                "$0" edit &
                until read -d '' status < /proc/$!/status; caught=${status#*SigCgt:?}; (( 0x${caught:0:16} & 0x4000 )); do :; done
                kill %1; kill -CONT %1; \#(Self.waitForTheEnd)
            done 2> /dev/null
            """#
        let terminal = try PseudoTerminal(
            URL(filePath: "/bin/bash"), ["-c", script, try EditorSession.program],
            environment: ["HOME": home.folder.path], columns: 80, rows: 24)
        #expect(try terminal.exitCode() == 0)
        let text = String(decoding: terminal.output, as: UTF8.self)
        #expect(text.matches(of: /left [0-9]+/).map { String($0.output) } == Array(repeating: "left 0", count: 10))
    }

    @Test func withoutAShellControlZRedraws() throws {
        let session = try EditorSession(in: HarnessHome())
        // The system does not stop a process that no shell could continue.
        try session.type(Keys.suspend, Keys.down)
        try session.wait("> String")
        // SIGSTOP cannot be caught. Another program may have used the terminal in the meantime.
        session.terminal.send(SIGSTOP)
        session.terminal.send(SIGCONT)
        try session.type(Keys.down)
        try session.wait("> Array")
        try session.leave()
    }

    @Test(arguments: ["< /dev/null", "> out", "--json"])
    func editReportsThatItNeedsATerminal(how: String) throws {
        let home = try HarnessHome()
        let script = #"cd "$HOME"; "$0" edit "# + how + #" 2> errors; code=$?; test ! -s out && exit $code"#
        let terminal = try PseudoTerminal(
            URL(filePath: "/bin/sh"), ["-c", script, try EditorSession.program],
            environment: ["HOME": home.folder.path, "TERM": "xterm"], columns: 80, rows: 24)
        let modes = terminal.modesAtStart
        #expect(try terminal.exitCode() == 64)
        #expect(terminal.modes == modes)
        let message =
            how == "--json"
            ? #"{"error":"`edit` does not support --json"}"#
            : "prefs: `edit` needs a terminal on standard input and output; use `prefs set` without one"
        let errors = try String(contentsOf: home.folder.file("errors"), encoding: .utf8)
        #expect(errors == message + "\n")
        #expect(Set(terminal.screen.lines) == [""])
    }

    @Test func editInAPipeIsAUsageError() throws {
        let home = try HarnessHome()
        #expect(
            try home.prefs("edit")
                == .usageError("`edit` needs a terminal on standard input and output; use `prefs set` without one"))
        #expect(
            try home.prefs("edit", "-f", "settings.plist")
                == .usageError("`edit` needs a terminal on standard input and output; use `prefs set` without one"))
    }

    /// A terminal that may not know control sequences gets none.
    @Test(arguments: ["dumb", "", "unset", "narrow", "low"])
    func noCodesAreSentToATerminalThatCannotShowTheForm(kind: String) throws {
        let home = try HarnessHome()
        try home.storeSampleValues()
        let isSmall = ["narrow", "low"].contains(kind)
        let terminal = try PseudoTerminal(
            URL(filePath: "/usr/bin/env"),
            (kind == "unset" ? ["-u", "TERM"] : ["TERM=\(isSmall ? "xterm" : kind)"]) + [
                try EditorSession.program, "edit",
            ],
            environment: ["HOME": home.folder.path], columns: kind == "narrow" ? 39 : 80, rows: kind == "low" ? 11 : 24)
        let modes = terminal.modesAtStart
        #expect(try terminal.exitCode() == 64)
        #expect(terminal.modes == modes && !terminal.screen.isAlternate)
        let text = String(decoding: terminal.output, as: UTF8.self).replacing(/\u{1B}\[[0-9]+m/, with: "")
        #expect(
            text.split(whereSeparator: \.isNewline) == [
                "prefs: `edit` needs a terminal of at least 40 x 12 that TERM names; use `prefs set` on this one"
            ])
    }
}
