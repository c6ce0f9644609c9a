import Foundation
import TestSupport
import Testing

/// `prefs stress` counts exactly, also if processes are killed, and reports the damage that another program does.
@Suite struct HarnessStressTests {
    @Test(arguments: [false, true]) func everyWriteIsCounted(kills: Bool) throws {
        let home = try HarnessHome()
        let words = ["stress", "--threads", "2", "--processes", "2", "--writes", "9", "--json"]
        let printed = try home.prefs(words + (kills ? ["--kill"] : []))
        #expect(printed.code == 0 && printed.errors == "")
        let report = try #require(
            try JSONSerialization.jsonObject(with: Data(printed.output.utf8)) as? [String: Any])
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

    @Test func theReportEndsWithTheVerdict() throws {
        let printed = try HarnessHome().prefs("stress", "--threads", "1", "--processes", "1", "--writes", "4")
        #expect(printed.code == 0)
        let form = /prefs: 1 process of 1 thread, 4 writes, in (.+)\n/
        let folder = try #require(printed.errors.wholeMatch(of: form)?.1)
        #expect(!FileManager.default.fileExists(atPath: String(folder)))
        let lines = printed.output.split(separator: "\n")
        #expect(lines.count == 4 && lines[0].hasPrefix("writes   4 in ") && lines[1].hasPrefix("latency  p50 "))
        #expect(lines[2] == "counted  2 increments stored, 2 acknowledged" && lines[3] == "no write was lost")
    }

    /// Starts a stress, which runs until it is interrupted unless `writes` is given. Returns its folder.
    private func running(_ home: HarnessHome, writes: Int = 1_000_000) throws -> (child: PipedChild, folder: String) {
        let child = try PipedChild(
            "prefs", ["stress", "--threads", "1", "--processes", "2", "--writes", "\(writes)"], home: home.folder,
            mergesErrors: true)
        let folder = try #require(try child.line().wholeMatch(of: /prefs: .* writes, in (.+)\//)?.1)
        // Waits until the workers write.
        while access("\(folder)/.stress.plist.lastgood", F_OK) != 0 { sched_yield() }
        return (child, String(folder))
    }

    @Test(arguments: [SIGINT, SIGTERM]) func anInterruptionEndsTheWorkers(signal: Int32) throws {
        let (child, folder) = try running(HarnessHome())
        child.send(signal)
        #expect(try child.exitCode() == 128 + signal)
        let form = /prefs: interrupted after [0-9]+ writes?; the workers were stopped/
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
        } while !lines.contains { $0.hasPrefix("LOST: ") || $0 == "no write was lost" }
        #expect(try child.exitCode() == 1)
        lines += child.linesSoFar()
        #expect(lines.contains { $0.hasPrefix("LOST: process ") })
        #expect(!lines.contains("no write was lost"))
        #expect(!FileManager.default.fileExists(atPath: folder))
    }

    /// No thread notices it during the run. The final count does.
    @Test func aCounterThatIsSetBackIsReportedAsALoss() throws {
        let home = try HarnessHome()
        let (child, folder) = try running(home, writes: 600)
        #expect(
            try home.prefs("write", "\(folder)/stress.plist", "Stress", "shared", "-int", "-600") == Printed())
        #expect(try child.exitCode() == 1)
        let losses = child.linesSoFar().filter { $0.hasPrefix("LOST: ") }
        let form = /LOST: ([0-9]+) of the increments of all threads were lost: 600 were acknowledged/
        let lost = try #require(losses.first?.wholeMatch(of: form)?.1)
        #expect(losses.count == 1 && (600...1_200).contains(Int(lost) ?? 0))
    }

    @Test func stressRejectsWrongArguments() throws {
        let home = try HarnessHome()
        #expect(
            try home.prefs("stress", "--threads", "0")
                == .usageError("--threads: expected a number from 1 to 64, found \"0\""))
        #expect(try home.prefs("stress-worker") == .usageError("`stress-worker` is internal to `prefs stress`"))
        #expect(try !home.prefs("help").output.contains("stress-worker"))
    }
}
