import Foundation

/// The result of a stress, as text and as JSON.
struct StressReport {
    let tally: StressTally
    let seconds: Double
    /// The stored value of the shared counter.
    let stored: Int

    private static let percentiles = [50, 90, 99]

    private var rate: Int { Int(Double(tally.writes) / max(seconds, 0.001)) }

    func text(_ style: Style) -> String {
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
        return table.text() + verdict
    }

    var json: String {
        var latencies: [String: Any] = ["max": Int(tally.latencies.longest / 1_000)]
        for percent in Self.percentiles { latencies["p\(percent)"] = Int(tally.latencies.percentile(percent) / 1_000) }
        return JSONText.object([
            ("processes", tally.plan.processes), ("threads", tally.plan.threads), ("writes", tally.writes),
            ("seconds", rounded(seconds)), ("writesPerSecond", rate), ("latencyMicroseconds", latencies),
            ("kills", tally.kills), ("incrementsAcknowledged", tally.increments),
            ("incrementsAtMost", tally.maxIncrements), ("incrementsStored", stored), ("losses", tally.losses),
            ("isWhole", tally.losses.isEmpty),
        ]) + "\n"
    }

    private func milliseconds(_ nanoseconds: UInt64) -> String { "\(rounded(Double(nanoseconds) / 1e6)) ms" }

    private func rounded(_ number: Double) -> Double { (number * 100).rounded() / 100 }
}
