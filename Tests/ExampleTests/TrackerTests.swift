import EngineSupport
import Foundation
import TestSupport
import Testing

/// The example of a program with settings from its options, variables, the user's file and a file of the system, run as
/// a process.
@Suite(.waits) struct TrackerTests {
    private typealias Run = (lines: [String], errors: String, code: Int32)

    private static let usage = "Tracker report [OPTION ...] FILE ... | save OPTION ... | settings"

    private let home: TemporaryFolder
    private let system: URL
    private let log: String

    init() throws {
        home = try TemporaryFolder()
        system = home.file("system")
        log = home.file("log.txt").path
        for folder in [system, usersFile.deletingLastPathComponent()] {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }
        try Data("# Monday\nweb 50\nadm 20\n\nweb 40\n".utf8).write(to: home.file("log.txt"))
    }

    private var usersFile: URL { home.file(".config/tracker/config.json") }

    private func tracker(_ arguments: [String], _ environment: [String: String] = [:]) throws -> Run {
        let surroundings = ["HOME": home.path, "XDG_CONFIG_DIRS": "\(home.path)/none:\(system.path)"]
        let result = try Child("Tracker", arguments, environment: surroundings.merging(environment) { $1 }).wait()
        return (result.output.split(separator: "\n").map(String.init), result.errors, result.code)
    }

    /// A report of the log, with its options and variables. The run of spaces that fills a line is one space here.
    private func report(_ options: String..., with environment: [String: String] = [:]) throws -> Run {
        let run = try tracker(["report"] + options + [log], environment)
        let lines = run.lines.map { $0.split(separator: " ").joined(separator: " ") }
        return (lines, run.errors, run.code)
    }

    /// Writes the file of the system.
    private func write(_ text: String) throws {
        try Data(text.utf8).write(to: system.appending(path: "tracker.json"))
    }

    @Test func theDefaultsCount() throws {
        let run = try tracker(["report", log])
        let gaps = [3: 51, 5: 49].mapValues { String(repeating: " ", count: $0) }
        #expect(run.lines == ["adm\(gaps[3]!)0.33 h", "web\(gaps[3]!)1.50 h", "total\(gaps[5]!)1.83 h"])
        #expect(run.errors.isEmpty && run.code == 0)
        #expect(try home.names() == [".config", "log.txt", "system"], "a report writes nothing")
    }

    @Test func eachLayerWinsOverThoseBelow() throws {
        try write(#"{"digits": 1, "total": false, "names": {"adm": "Office"}}"#)
        #expect(try report().lines == ["Office 0.3 h", "web 1.5 h"])
        #expect(try tracker(["save", "--digits", "3", "--rounding=30m"]).code == 0)
        #expect(try report().lines == ["Office 0.500 h", "web 2.000 h"])
        let variables = ["TRACKER_DIGITS": "0", "TRACKER_CURRENCY": "CHF", "TRACKER_HOURLY_RATE": "80"]
        #expect(try report(with: variables).lines == ["Office 0 h 40.00 CHF", "web 2 h 160.00 CHF"])
        let run = try report("--digits=4", "--project", "web", "--rounding", "1m", with: variables)
        #expect(run.lines == ["web 1.5000 h 120.00 CHF"])
        #expect(run.errors.isEmpty && run.code == 0)
        let stored = try String(contentsOf: usersFile, encoding: .utf8)
        #expect(stored == "{\n  \"digits\": 3,\n  \"rounding\": \"30m\"\n}\n")
    }

    @Test func helpIsAnsweredFromTheDeclarations() throws {
        for words in [["--help"], ["report", "--help", "--columns", "50"]] {
            let run = try tracker(words)
            #expect(run.code == 0 && run.errors.isEmpty, "\(run.errors)")
            #expect(run.lines.first == "usage: \(Self.usage)")
            #expect(run.lines.count { $0.hasPrefix("      --") } == 12, "one for each option")
            #expect(run.lines.contains { $0.contains("(in 20...500; default 60;") })
            #expect(run.lines.dropFirst().allSatisfy { $0.count <= 80 })
        }
    }

    @Test(arguments: [
        (["--colums", "50"], "--colums: arguments: no key has this argument; did you mean \"--columns\"?\n"),
        (["--fast"], "unknown option --fast\n"),
        (["--digits", "5"], "--digits: arguments: must be in 0...4, found 5\n"),
        (["--digits"], "--digits: arguments: expected Int, found \""),
    ])
    func aWrongOptionEndsTheProgram(_ options: [String], _ message: String) throws {
        for command in [["report"] + options + [log], ["save"] + options, ["settings"] + options] {
            let run = try tracker(command)
            #expect(run.code == 64 && run.lines.isEmpty)
            let isWithoutValue = options == ["--digits"] && command.last == "--digits"
            let expected = isWithoutValue ? "--digits: arguments: expected a value after it\n" : message
            #expect(run.errors.hasPrefix("Tracker: " + expected), "\(run.errors)")
            #expect(run.errors.hasSuffix("Tracker: usage: " + Self.usage + "\n"))
        }
        #expect(!FileManager.default.fileExists(atPath: usersFile.path))
    }

    @Test(arguments: [
        [], ["frobnicate"], ["report"], ["settings", "all"], ["save", "digits", "--digits", "3"], ["--digits", "3"],
        ["save"],
    ])
    func unknownWordsAreRejected(_ arguments: [String]) throws {
        let run = try tracker(arguments)
        #expect(run.code == 64 && run.lines.isEmpty)
        #expect(run.errors.hasPrefix("Tracker: "))
        #expect(!FileManager.default.fileExists(atPath: usersFile.path))
    }

    @Test func wordsAfterTwoDashesAreFiles() throws {
        #expect(try tracker(["report", "--no-total", "--", log]).lines.count == 2)
        let run = try tracker(["report", "--", "--digits"])
        #expect(run.code == 1 && run.errors == "Tracker: --digits: cannot be read as UTF-8 text\n")
    }

    @Test func aWrongLineOfALogIsNamed() throws {
        try Data("web 10\nweb ten\n".utf8).write(to: home.file("log.txt"))
        let run = try report()
        #expect(run.code == 1 && run.lines.isEmpty)
        #expect(run.errors == "Tracker: \(log):2: expected a project and its minutes, such as: website 90\n")
    }

    @Test func settingsTellWhereEachValueComesFrom() throws {
        try write(#"{"columns": 40}"#)
        _ = try tracker(["save", "--rounding", "15m"])
        let run = try tracker(["settings", "--verbose"], ["TRACKER_SKIPPED": "adm,fun"])
        #expect(
            run.lines == [
                "title = nil (default)", "project =  (default)", #"skipped = ["adm", "fun"] (environment)"#,
                "names = [:] (default)", "rounding = PT15M (stored)", "hourlyRate = 0 (default)",
                "currency = EUR (default)", "digits = 2 (default)", "columns = 40 (system)", "order = name (default)",
                "total = true (default)", "verbose = true (arguments)",
            ])
        #expect(run.errors.isEmpty && run.code == 0)
    }

    @Test func wrongValuesAreNamedAndTheNextLayerCounts() throws {
        let file = system.appending(path: "tracker.plist")
        try writePropertyList(["digits": 1, "total": "t"], to: file, as: .xml)
        let run = try report(with: ["TRACKER_DIGIT": "0", "TRACKER_DIGITS": "99", "TRACKER_ORDER": "time"])
        #expect(run.lines == ["web 1.5 h", "adm 0.3 h", "total 1.8 h"])
        #expect(run.code == 0)
        #expect(
            run.errors == """
                Tracker: TRACKER_DIGITS: environment: must be in 0...4, found 99
                Tracker: total in \(file.path): system: expected Bool, found a string
                Tracker: TRACKER_DIGIT: environment: no key has this variable; did you mean "TRACKER_DIGITS"?

                """)
    }

    /// Swift repairs other bytes, and a repaired text is another one.
    @Test(
        arguments: [
            (#"TRACKER_TITLE="a$B" exec "$0" report "$1""#, "TRACKER_TITLE: environment: is not UTF-8", 0),
            (#"exec "$0" report "--title=$B" "$1""#, "--title: arguments: is not UTF-8", 64),
            (#"exec "$0" report "$1" --title "$B""#, "--title: arguments: is not UTF-8", 64),
            (#"XDG_CONFIG_DIRS="/$B" exec "$0" report "$1""#, "system: XDG_CONFIG_DIRS is not UTF-8", 0),
            // The character itself is text.
            (#"TRACKER_TITLE=$(printf '\357\277\275') exec "$0" report "$1""#, "", 0),
        ])
    func whatIsNotUTF8IsIgnoredAndNamed(_ script: String, _ error: String, _ code: Int32) throws {
        let words = ["-c", "B=$(printf '\\377'); \(script)", try Child.executable("Tracker").path, log]
        let surroundings = ["HOME": home.path, "XDG_CONFIG_DIRS": system.path]
        let result = try Child(URL(filePath: "/bin/bash"), words, environment: surroundings).wait()
        let usage = code == 64 ? "Tracker: usage: \(Self.usage)\n" : ""
        #expect(result.errors == (error.isEmpty ? "" : "Tracker: \(error)\n") + usage)
        #expect(result.code == code)
    }

    /// The file that an administrator edits.
    @Test func aMisspeltKeyOfTheSystemsFileIsNamed() throws {
        try write(#"{"colums": 40}"#)
        let place = "colums in \(system.appending(path: "tracker.json").path)"
        #expect(
            try report().errors
                == "Tracker: \(place): system: is not a key of TrackerPrefs; did you mean \"columns\"?\n")
    }

    @Test func aSaveChangesOnlyItsLineOfThePersonsFile() throws {
        let text = "{\n  // Of the office.\n  \"columns\": 30,\n  \"digits\": 9, // wrong\n  \"colour\": 1,\n}\n"
        try Data(text.utf8).write(to: usersFile)
        let run = try report("--no-total")
        #expect(run.lines == ["adm 0.33 h", "web 1.50 h"])
        #expect(
            run.errors == "Tracker: colour: is not a key of TrackerPrefs\nTracker: digits: must be in 0...4\n")
        #expect(try tracker(["save", "--columns", "40"]).code == 0)
        let changed = text.replacingOccurrences(of: "30", with: "40")
        #expect(try String(contentsOf: usersFile, encoding: .utf8) == changed)
        #expect(try tracker(["save", "--digits", "1"]).code == 0)
        #expect(try report("--no-total").lines == ["adm 0.3 h", "web 1.5 h"])
    }

    @Test func whatAVariableSetsIsNotSaved() throws {
        let run = try tracker(["save", "--digits", "3", "--columns", "50"], ["TRACKER_DIGITS": "1"])
        #expect(run.code == 1)
        #expect(
            run.errors == "Tracker: \"digits\" is set by the layer environment (TRACKER_DIGITS); "
                + "the stored state is unchanged\n")
        #expect(!FileManager.default.fileExists(atPath: usersFile.path))
    }
}
