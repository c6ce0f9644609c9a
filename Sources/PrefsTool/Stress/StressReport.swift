import Foundation

/// The result of a stress, as text and as JSON.
struct StressReport {
    let tally: StressTally
    let seconds: Double
    /// The stored value of the shared counter.
    let stored: Int

    private static let percentiles = [50, 90, 99]

    private var rate: Int { Int(Double(tally.writes) / max(seconds, 0.001)) }

    func text(_ style: Style, width: Int) -> String {
        var table = Table()
        table.add("writes", "\(tally.writes) in \(rounded(seconds)) s, \(rate) a second")
        let latencies = Self.percentiles.map { "p\($0) \(milliseconds(tally.latencies.percentile($0)))" }
        table.add("latency", (latencies + ["longest \(milliseconds(tally.latencies.longest))"]).joined(separator: ", "))
        if tally.plan.kills { table.add("kills", "\(tally.kills)") }
        let most = tally.maxIncrements
        let range = most == tally.increments ? "" : ", and at most \(most) may be stored"
        table.add("counted", "\(stored) increments stored, \(tally.increments) acknowledged\(range)")
        let verdict =
            tally.losses.isEmpty
            ? style.green("no write was lost") + "\n"
            : tally.losses.map { style.red("LOST: ") + $0.printable + "\n" }.joined()
        return table.text() + "writes by latency\n" + latencyChart.text(width: width) + "writes a second\n"
            + timeChart.text(width: width) + verdict
    }

    private var latencyChart: BarChart {
        BarChart(
            tally.latencies.histogram().map { range, count in
                BarChart.Row(
                    label: "\(short(range.lowerBound))–\(short(range.upperBound)) ms", value: Double(count),
                    figure: "\(count)")
            })
    }

    /// The kills stand in the rows of their time.
    private var timeChart: BarChart {
        BarChart(
            tally.timeline.periods(8).map { period in
                let kills =
                    period.kills > 0
                    ? " " + String(repeating: "x", count: min(period.kills, 9)) + " \(period.kills) killed" : ""
                return BarChart.Row(
                    label: "to \(rounded(period.end)) s", value: Double(period.rate), figure: "\(period.rate)\(kills)")
            })
    }

    var json: String {
        var latencies = ["max": Int(tally.latencies.longest / 1_000)]
        for percent in Self.percentiles { latencies["p\(percent)"] = Int(tally.latencies.percentile(percent) / 1_000) }
        return JSONText.object([
            ("processes", tally.plan.processes), ("threads", tally.plan.threads), ("writes", tally.writes),
            ("seconds", rounded(seconds)), ("writesPerSecond", rate), ("latencyMicroseconds", latencies),
            (
                "latencyHistogram",
                tally.latencies.histogram().map {
                    JSONText.object([
                        ("fromMicroseconds", Double($0.lowerBound) / 1e3),
                        ("toMicroseconds", Double($0.upperBound) / 1e3), ("writes", $1),
                    ])
                }
            ),
            (
                "periods",
                tally.timeline.periods(60).map {
                    JSONText.object([
                        ("endSeconds", $0.end), ("kills", $0.kills), ("writes", $0.writes),
                        ("writesPerSecond", $0.rate),
                    ])
                }
            ),
            ("kills", tally.kills), ("incrementsAcknowledged", tally.increments),
            ("incrementsAtMost", tally.maxIncrements), ("incrementsStored", stored), ("losses", tally.losses),
            ("isWhole", tally.losses.isEmpty),
        ]).json + "\n"
    }

    private func milliseconds(_ nanoseconds: UInt64) -> String { "\(rounded(Double(nanoseconds) / 1e6)) ms" }

    /// Two digits.
    private func short(_ nanoseconds: UInt64) -> String {
        let number = Double(nanoseconds) / 1e6
        let digits = number < 1 ? 100.0 : number < 10 ? 10 : 1
        let text = number < 0.01 ? "\((number * 10_000).rounded() / 10_000)" : "\((number * digits).rounded() / digits)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    private func rounded(_ number: Double) -> Double { (number * 100).rounded() / 100 }
}
