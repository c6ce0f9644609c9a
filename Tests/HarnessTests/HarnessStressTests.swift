import Foundation
import PersistentPreferences
import TestSupport
import Testing

@testable import HarnessCLI
@testable import PrefsTool

/// `prefs stress` counts exactly, also if processes are killed, and reports the damage that another program does.
@Suite(.waits) final class HarnessStressTests: HarnessSuite {
    @Test(arguments: Hazard.each(2, of: [true, false])) func everyWriteIsCounted(kills: Bool) throws {
        let words = ["stress", "--threads", "2", "--processes", "2", "--writes", "9", "--json"]
        let printed = try prefs(words + (kills ? ["--kill"] : []))
        #expect(printed.code == 0 && printed.errors == "")
        let report = try #require(try JSONSerialization.jsonObject(with: Data(printed.output.utf8)) as? [String: Any])
        func number(_ key: String) -> Int { report[key] as? Int ?? -1 }
        #expect(number("writes") == 36 && number("incrementsAcknowledged") == 20)
        #expect(report["losses"] as? [String] == [] && report["isWhole"] as? Bool == true)
        #expect(number("incrementsAtMost") == 20 + 2 * number("kills"))
        #expect((20...number("incrementsAtMost")).contains(number("incrementsStored")))
        #expect(kills || number("kills") == 0)
        let latencies = try #require(report["latencyMicroseconds"] as? [String: Int])
        let steps = ["p50", "p90", "p99", "max"].compactMap { latencies[$0] }
        #expect(steps.count == 4 && steps == steps.sorted())
        #expect(try home.folder.names().isEmpty)
    }

    @Test(arguments: [("--threads", 64), ("--processes", 64), ("--writes", 1_000_000), ("--seconds", 86_400)])
    func aNumberHasALimit(option: String, limit: Int) throws {
        func plan(_ number: Int) throws -> StressPlan {
            try StressPlan(Options(["stress", option, "\(number)"], of: PrefsCommands.program))
        }
        let most = try plan(limit)
        let numbers = ["--threads": most.threads, "--processes": most.processes, "--writes": most.writes]
        #expect((numbers[option] ?? most.seconds) == limit)
        for number in [0, limit + 1] { #expect(throws: UsageError.self) { try plan(number) } }
    }

    @Test func theReportEndsWithTheVerdict() throws {
        let printed = try HarnessHome().prefs("stress", "--threads", "1", "--processes", "1", "--writes", "4")
        #expect(printed.code == 0)
        let form = /prefs: 1 process of 1 thread, 4 writes, in (.+)\n/
        let folder = try #require(printed.errors.wholeMatch(of: form)?.1)
        #expect(!FileManager.default.fileExists(atPath: String(folder)))
        let lines = printed.output.split(separator: "\n")
        #expect(lines[0].hasPrefix("writes   4 in ") && lines[1].hasPrefix("latency  p50 "))
        #expect(lines[2...] == ["counted  2 increments stored, 2 acknowledged", "no write was lost"])
    }

    @Test func aTimeEndsTheRun() throws {
        let parent = home.folder.path
        let printed = try prefs(
            "stress", "--seconds", "1", "--processes", "2", "--threads", "1", "--dir", parent, "--kill")
        #expect(printed.code == 0, "\(printed)")
        #expect(printed.output.hasSuffix("\nno write was lost\n"))
        #expect(printed.errors.hasPrefix("prefs: 2 processes of 1 thread, 1 s, in \(parent)/prefs-stress-"))
        #expect(try home.folder.names() == [])
    }

    @Test func aPercentileIsExactTo3Percent() {
        var latencies = Latencies()
        #expect(latencies.percentile(99) == 0)
        for milliseconds in (1...1_000).shuffled() { latencies.add(nanoseconds: milliseconds * 1_000_000) }
        for percent in [1, 50, 90, 99] {
            let exact = percent * 10_000
            #expect((exact...(exact + exact * 3 / 100)).contains(latencies.percentile(percent)))
        }
        #expect(latencies.percentile(100) == 1_000_000)
    }

    // MARK: - Verdict

    /// One process of one thread, which has reported three of its four writes: two increments, and the value 1 between
    /// them.
    private func losses(_ values: [String: Any], afterKill: Bool = false) throws -> [String] {
        let program = Program(name: "prefs", commands: [Stress.command]) {
            PersistentPrefs(key: $0 ?? "", store: $1 ?? PrefsStore.memory())
        }
        let words = ["--processes", "1", "--threads", "1", "--writes", "4"]
        var tally = StressTally(try StressPlan(try Options(words, of: program)))
        for _ in 0..<3 { tally.record("0 0 1000") }
        if afterKill { tally.earlyExits[0] += 1 }
        tally.check(values)
        return tally.losses
    }

    @Test(
        arguments: [
            (shared: 2, own: 2, value: 1, loss: nil),
            (1, 2, 1, "1 of the increments of all threads were lost: 2 were acknowledged"),
            (3, 2, 1, "1 of the increments of all threads were stored twice"),
            (2, 1, 1, "1 of the increments of thread 0 of process 0 were lost: 2 were acknowledged"),
            (2, 3, 1, "1 of the increments of thread 0 of process 0 were stored twice"),
            (2, 2, 3, "the value of thread 0 of process 0: expected 1, found 3"),
            (2, 2, nil, "the value of thread 0 of process 0: expected 1, found none"),
        ] as [(shared: Int, own: Int, value: Int?, loss: String?)])
    func everyNumberIsCompared(shared: Int, own: Int, value: Int?, loss: String?) throws {
        var values = ["shared": shared, "counter 0.0": own]
        values["value 0.0"] = value
        #expect(try losses(values) == [loss].compactMap(\.self))
    }

    @Test func aKilledThreadMayHaveStoredOneMoreWrite() throws {
        for (count, value) in [(2, 1), (2, 3), (3, 1)] {
            #expect(try losses(["shared": count, "counter 0.0": count, "value 0.0": value], afterKill: true) == [])
        }
        #expect(try losses(["shared": 4, "counter 0.0": 4, "value 0.0": 5], afterKill: true).count == 3)
    }

    /// Starts a stress, which runs until it is interrupted unless `writes` is given. Returns its folder.
    private func running(_ home: HarnessHome, writes: Int = 1_000_000) throws -> (child: PipedChild, folder: String) {
        let child = try PipedChild(
            "prefs", ["stress", "--threads", "1", "--processes", "2", "--writes", "\(writes)"], home: home.folder,
            mergesErrors: true)
        let folder = try #require(try child.line().wholeMatch(of: /prefs: .* writes, in (.+)\//)?.1)
        // Waits until the workers write.
        while access("\(folder)/.stress.plist.lastgood", F_OK) != 0 { usleep(500) }
        return (child, String(folder))
    }

    @Test(arguments: [SIGINT, SIGTERM]) func anInterruptionEndsTheWorkers(signal: Int32) throws {
        let (child, folder) = try running(HarnessHome())
        child.send(signal)
        #expect(try child.exitCode() == 128 + signal)
        let form = /prefs: interrupted after [0-9]+ writes; the workers were stopped/
        #expect(try child.line().wholeMatch(of: form) != nil)
        #expect(!FileManager.default.fileExists(atPath: folder))
    }

    @Test func aRemovedFileIsReportedAsALoss() throws {
        let (child, folder) = try running(HarnessHome())
        var lines: [String] = []
        // Repeats, because a writer may replace the file after it was removed.
        repeat {
            unlink("\(folder)/stress.plist")
            lines += child.linesSoFar()
            usleep(500)
        } while !lines.contains { $0.hasPrefix("LOST: ") || $0 == "no write was lost" }
        #expect(try child.exitCode() == 1)
        lines += child.linesSoFar()
        #expect(lines.contains { $0.hasPrefix("LOST: process ") })
        #expect(!lines.contains("no write was lost"))
        #expect(!FileManager.default.fileExists(atPath: folder))
    }

    /// No thread notices it during the run. The final count does.
    @Test func aCounterThatIsSetBackIsReportedAsALoss() throws {
        let (child, folder) = try running(home, writes: 300)
        #expect(try prefs("set", "-f", "\(folder)/stress.plist", "Stress.shared", "-300", "-t", "integer") == Printed())
        #expect(try child.exitCode() == 1)
        let losses = child.linesSoFar().filter { $0.hasPrefix("LOST: ") }
        let form = /LOST: ([0-9]+) of the increments of all threads were lost: 300 were acknowledged/
        let lost = try #require(losses.first?.wholeMatch(of: form)?.1)
        #expect(losses.count == 1 && (300...600).contains(Int(lost) ?? 0))
    }

    @Test func aFileThatNobodyRemovedIsReportedAsALoss() throws {
        let (child, folder) = try running(HarnessHome(), writes: 300)
        #expect(FileManager.default.createFile(atPath: "\(folder)/.stress.plist.stray", contents: nil))
        #expect(try child.exitCode() == 1)
        #expect(child.linesSoFar().filter { $0.hasPrefix("LOST: ") } == ["LOST: .stress.plist.stray was not removed"])
    }

    @Test(.needs("stress: a killed worker", access("/usr/bin/pgrep", X_OK) == 0, else: "there is no pgrep"))
    func aKilledWorkerIsReportedAsALoss() throws {
        let (child, folder) = try running(HarnessHome())
        // The worker's arguments name the file.
        _ = try Child(
            URL(filePath: "/bin/sh"), ["-c", "kill -9 $(pgrep -f -o 'stress-worker \(folder)')"], environment: [:]
        ).wait()
        #expect(try child.exitCode() == 1)
        let losses = child.linesSoFar().filter { $0.hasPrefix("LOST: ") }
        #expect(losses.count == 1 && losses[0].contains(/^LOST: process [01] ended early: signal 9$/))
    }

    @Test func stressRejectsWrongArguments() throws {
        let homeless = try prefs("stress", "--dir", home.path("nowhere"))
        #expect(homeless == .failure("no folder can be made in \(home.path("nowhere")): No such file or directory"))
        #expect(try prefs("stress-worker") == .usageError("`stress-worker` is internal to `prefs stress`"))
        #expect(try !prefs("help").output.contains("stress-worker"))
    }
}
