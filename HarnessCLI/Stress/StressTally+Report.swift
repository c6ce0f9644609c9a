import Foundation
import PrefsJSON
import PrefsTool

extension StressTally {
    /// The result of the stress. The exit code is 1 if a write was lost.
    func outcome(_ style: Style, asJSON: Bool) throws -> Outcome {
        let (isWhole, rate) = (losses.isEmpty, Int(Double(writes) / max(seconds, 0.001)))
        let (roundedSeconds, code) = ((seconds * 100).rounded() / 100, isWhole ? 0 : Outcome.failureCode)
        let steps = [("p50", 50), ("p90", 90), ("p99", 99), ("max", 100)].map { ($0, latencies.percentile($1)) }
        guard !asJSON else {
            let report: [String: Any] = [
                "processes": plan.processes, "threads": plan.threads, "writes": writes, "seconds": roundedSeconds,
                "writesPerSecond": rate, "kills": kills,
                "latencyMicroseconds": Dictionary(uniqueKeysWithValues: steps),
                "incrementsAcknowledged": increments, "incrementsAtMost": maxIncrements, "incrementsStored": stored,
                "losses": losses, "isWhole": isWhole,
            ]
            let json = try JSONSerialization.data(
                withJSONObject: report, options: [.sortedKeys, .withoutEscapingSlashes])
            return Outcome(output: String(decoding: json, as: UTF8.self) + "\n", as: .json, code: code)
        }
        var table = Table()
        table.add("writes", "\(writes) in \(roundedSeconds) s, \(rate) a second")
        table.add("latency", steps.map { "\($0) \(Double($1) / 1_000) ms" }.joined(separator: ", "))
        if kills > 0 { table.add("kills", "\(kills)") }
        let range = maxIncrements == increments ? "" : ", and at most \(maxIncrements) may be stored"
        table.add("counted", "\(stored) increments stored, \(increments) acknowledged\(range)")
        let verdict =
            isWhole ? [style.green("no write was lost")] : losses.map { style.red("LOST: ") + $0.printable }
        return Outcome(output: table.text() + verdict.map { $0 + "\n" }.joined(), code: code)
    }
}
