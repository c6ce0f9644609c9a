import Foundation
import TestSupport
import Testing

/// The example of a daemon. It receives a change by `prefs set -f` at once, although its interval is an hour.
@Suite struct PulseTests {
    private let home: TemporaryFolder
    private let settings: String
    private let daemon: PipedChild

    init() throws {
        home = try TemporaryFolder()
        settings = home.file("settings.plist").path(percentEncoded: false)
        daemon = try PipedChild("Pulse", [settings], home: home, mergesErrors: true)
        #expect(try daemon.line() == "alive")
    }

    private func write(_ words: String...) throws {
        #expect(try Child("prefs", ["set", "-f", settings] + words, home: home).wait().code == 0)
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func changesOfAnotherProcessAreReportedUntilTheEnd(signal: Int32) throws {
        // The file is missing at first, then it is replaced.
        for message in ["first", "second"] {
            try write("PulsePrefs.message", message)
            #expect(try daemon.line() == message)
        }
        daemon.send(signal)
        #expect(try daemon.exitCode() == 0)
        #expect(daemon.linesSoFar().isEmpty)
        #expect(try home.names() == [".local", ".settings.plist.lastgood", ".settings.plist.lock", "settings.plist"])
    }

    @Test func aShorterIntervalHoldsFromNowOn() throws {
        try write("PulsePrefs.interval", "0.1")
        for _ in 0..<3 { #expect(try daemon.line() == "alive") }
    }

    @Test func aMismatchIsLoggedAndTheDefaultIsUsed() throws {
        try write("PulsePrefs.interval", "0")
        #expect(try daemon.line() == "Pulse: interval: must be in 0.1...86400.0")
        #expect(try daemon.line() == "alive")
        daemon.send(SIGTERM)
        #expect(try daemon.exitCode() == 0)
    }
}

@Suite struct ExampleUsageTests {
    @Test(arguments: [[], ["one", "two"]])
    func pulseWantsAFile(_ arguments: [String]) throws {
        let result = try Child("Pulse", arguments, home: try TemporaryFolder()).wait()
        #expect(result.code == 64 && result.errors == "usage: Pulse FILE\n")
    }
}
