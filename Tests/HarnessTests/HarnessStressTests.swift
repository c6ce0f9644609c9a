import Foundation
import TestSupport
import Testing

@testable import PrefsTool

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
        #expect(lines[0].hasPrefix("writes   4 in ") && lines[1].hasPrefix("latency  p50 "))
        #expect(lines[2] == "counted  2 increments stored, 2 acknowledged" && lines.last == "no write was lost")
        // The charts are plain text of 80 columns.
        let middle = try #require(lines.firstIndex(of: "writes a second"))
        #expect(lines[3] == "writes by latency" && middle <= 12 && lines.count - middle <= 10)
        #expect(lines.allSatisfy { $0.count <= 80 && !$0.contains("\u{1B}") })
        let counts = lines[4..<middle].compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }
        #expect(counts.reduce(0, +) == 4)
    }

    @Test func aTimeEndsTheRun() throws {
        let home = try HarnessHome()
        let parent = home.folder.path
        let printed = try home.prefs(
            "stress", "--seconds", "1", "--processes", "2", "--threads", "1", "--dir", parent, "--kill")
        #expect(printed.code == 0, "\(printed)")
        #expect(printed.output.hasSuffix("\nno write was lost\n"))
        #expect(printed.errors.hasPrefix("prefs: 2 processes of 1 thread, 1 s, in \(parent)/prefs-stress-"))
        #expect(try home.folder.names() == [])
    }

    @Test func aFolderThatCannotBeUsedIsReported() throws {
        let home = try HarnessHome()
        #expect(
            try home.prefs("stress", "--dir", home.path("nowhere"))
                == .failure("no folder can be made in \(home.path("nowhere")): No such file or directory"))
    }

    // MARK: - Charts

    @Test func theHistogramCountsEveryDuration() {
        var latencies = Latencies()
        for duration: UInt64 in [0, 1, 900, 1_000, 1_100, 2_000_000, 5_000_000_000] { latencies.add(duration) }
        let rows = latencies.histogram()
        #expect(rows.count <= 8 && rows.reduce(0) { $0 + $1.count } == 7)
        for (left, right) in zip(rows, rows.dropFirst()) { #expect(left.range.upperBound == right.range.lowerBound) }
        #expect(Latencies().histogram().isEmpty)
    }

    @Test func theTimelineKeepsEveryWriteAndKill() {
        var timeline = StressTimeline()
        for _ in 0..<100 { timeline.addWrite() }
        timeline.addKill()
        for _ in 0..<11 { timeline.addWrite() }
        for count in [1, 8, 60] {
            let periods = timeline.periods(count)
            #expect(periods.count <= count)
            #expect(periods.reduce(0) { $0 + $1.writes } == 111 && periods.reduce(0) { $0 + $1.kills } == 1)
        }
    }

    @Test func theLongestBarFillsTheLine() {
        let chart = BarChart([
            BarChart.Row(label: "a", value: 0, figure: "0"), BarChart.Row(label: "bb", value: 1, figure: "1"),
            BarChart.Row(label: "c", value: 1_000, figure: "1000 x"),
        ])
        let lines = [
            "   a  0", "  bb  # 1", "   c  \(String(repeating: "#", count: 26)) 1000 x", "",
        ]
        #expect(chart.text(width: 40) == lines.joined(separator: "\n"))
        #expect(chart.text(width: 5).split(separator: "\n").last == "   c  # 1000 x")
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
            try home.prefs("stress", "--seconds", "0")
                == .usageError("--seconds: expected a number from 1 to 86400, found \"0\""))
        #expect(
            try home.prefs("stress", "--threads", "0")
                == .usageError("--threads: expected a number from 1 to 64, found \"0\""))
        #expect(try home.prefs("stress-worker") == .usageError("`stress-worker` is internal to `prefs stress`"))
        #expect(try !home.prefs("help").output.contains("stress-worker"))
    }
}
