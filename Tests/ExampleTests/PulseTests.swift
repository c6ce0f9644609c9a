import EngineSupport
import Foundation
import PersistentPreferences
import PrefsJSON
import TestSupport
import Testing

/// The example of a daemon. It receives a change by `prefs set -f` at once, although its interval is an hour.
@Suite(.waits) struct PulseTests {
    private let home: TemporaryFolder
    private let settings: URL
    private let daemon: PipedChild

    init() throws {
        home = try TemporaryFolder()
        settings = home.file("settings.json")
        daemon = try PipedChild("Pulse", [settings.path], home: home, mergesErrors: true)
        #expect(try daemon.line() == "alive, says Pulse")
    }

    private func set(_ words: String...) throws {
        let result = try Child("prefs", ["set", "-f", settings.path] + words, home: home).wait()
        #expect(result.code == 0, "\(result)")
    }

    /// An editor's save. The file is never missing.
    private func save(_ text: String) throws {
        try Data(text.utf8).write(to: settings, options: .atomic)
    }

    private func end(by signal: Int32 = SIGTERM) throws {
        daemon.send(signal)
        #expect(try daemon.exitCode() == 0)
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func changesOfAnotherProcessAreReportedUntilTheEnd(signal: Int32) throws {
        // The file is missing at first, then it is replaced.
        for message in ["first", "second"] {
            try set("message", message)
            #expect(try daemon.line() == "\(message), says Pulse")
        }
        try end(by: signal)
        #expect(daemon.linesSoFar().isEmpty)
        #expect(
            try home.names() == [".local", ".settings.json.lastgood", ".settings.json.lock", "settings.json"])
        let stored = try String(contentsOf: settings, encoding: .utf8)
        #expect(stored == "{\n  \"beats\": 3,\n  \"message\": \"second\"\n}\n")
    }

    @Test func aShorterIntervalHoldsFromNowOn() throws {
        try set("interval", "0.1")
        for _ in 0..<3 { #expect(try daemon.line() == "alive, says Pulse") }
    }

    @Test func twoKeysOfOneWriteAreReadAtOneState() throws {
        let writer = PulseWriter(store: .json(url: settings, durability: .crash))
        let commits = Hazard.count(500, long: 3_000)
        for number in 1...commits {
            let error = writer.update { (writer.message, writer.author) = ("m\(number)", "m\(number)") }.failure
            #expect(error == nil)
        }
        var lines: [String] = []
        repeat { lines.append(try daemon.line()) } while lines.last != "m\(commits), says m\(commits)"
        let whole = Set((1...commits).map { "m\($0), says m\($0)" })
        #expect(lines.filter { !whole.contains($0) } == [])
    }

    @Test func aMismatchIsLoggedOnceAndTheDefaultIsUsed() throws {
        try set("interval", "0")
        // Two threads print them.
        let lines = [try daemon.line(), try daemon.line()]
        #expect(lines.sorted() == ["Pulse: interval: must be in 0.1...86400.0", "alive, says Pulse"])
        try end()
        #expect(daemon.linesSoFar().isEmpty)
    }

    @Test func aMalformedEditIsLoggedOnceWhileTheKnownStateIsUsed() throws {
        // The correction ends the fault, so the second one is logged, too.
        for author in ["Ann", "Bob"] {
            let known = "known, says \(author)"
            try save(#"{"message": "known", "interval": 0.1, "author": "\#(author)"}"#)
            while try daemon.line() != known {}
            try save(#"{"message": oops, "interval": 0.1}"#)
            var line = known
            while line == known { line = try daemon.line() }
            #expect(line.hasPrefix("Pulse: \(settings.path): line 1, column 13"), "\(line)")
            for _ in 0..<5 { #expect(try daemon.line() == known) }
        }
    }

    /// Two programs: one starts beside a typing error, the other one meets it while it runs. Neither writes.
    @Test func aMistakeThatStandsIsLoggedWhenItStarts() throws {
        try save(#"{ "message": "hi"\n "author": "Ann" }"#.replacing(#"\n"#, with: "\n"))
        let message = "Pulse: \(settings.path): line 2, column 2: expected , or }"
        var line = ""
        repeat { line = try daemon.line() } while line == "alive, says Pulse"
        #expect(line.hasPrefix(message), "\(line)")
        let second = try PipedChild("Pulse", [settings.path], home: home, mergesErrors: true)
        #expect(try second.line().hasPrefix(message))
        #expect(try second.line() == "alive, says Pulse")
        // Nothing was written, so the mended file is read.
        try save(#"{ "message": "hi", "author": "Ann" }"#)
        repeat { line = try second.line() } while line == "alive, says Pulse"
        #expect(line == "hi, says Ann")
        second.send(SIGTERM)
        #expect(try second.exitCode() == 0)
    }

    @Test func aHeldLockDoesNotKeepItFromItsEnd() throws {
        try set("message", "first")
        #expect(try daemon.line() == "first, says Pulse")
        let lock = open(home.file(".settings.json.lock").path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(lock) }
        #expect(flock(lock, LOCK_EX) == 0)
        try end()
        let (lines, reason) = (daemon.linesSoFar(), ".settings.json.lock: still locked after 1 s: held by process")
        #expect(lines.count == 1 && lines[0].contains("\(reason) \(getpid()) "), "\(lines)")
        #expect(try !String(contentsOf: settings, encoding: .utf8).contains("beats"))
    }
}

/// The two keys that the daemon reads together.
private final class PulseWriter: PersistentPrefs, @unchecked Sendable {
    @Pref var message = ""
    @Pref var author = ""
}

@Suite(.waits) struct ExampleUsageTests {
    @Test(arguments: [[], ["one", "two"]])
    func pulseWantsAFile(_ arguments: [String]) throws {
        let result = try Child("Pulse", arguments, home: try TemporaryFolder()).wait()
        #expect(result.code == 64 && result.errors == "usage: Pulse FILE\n")
    }
}
