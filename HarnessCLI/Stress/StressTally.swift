import Foundation
import PersistentPreferences

/// What was acknowledged, and what has to be stored therefore.
struct StressTally {
    let plan: StressPlan
    /// By process and thread.
    private(set) var done: [[Int]]
    /// By process.
    private(set) var kills: [Int]
    private(set) var latencies = Latencies()
    /// What went wrong, a clause each.
    private(set) var losses: [String] = []

    init(_ plan: StressPlan) {
        self.plan = plan
        done = Array(repeating: Array(repeating: 0, count: plan.threads), count: plan.processes)
        kills = Array(repeating: 0, count: plan.processes)
    }

    var writes: Int { done.joined().reduce(0, +) }
    var allKills: Int { kills.reduce(0, +) }
    var increments: Int { done.joined().map(StressPrefs.increments).reduce(0, +) }
    /// A thread that is killed may have stored one write that nobody has heard of.
    var mostIncrements: Int { increments + allKills * plan.threads }

    func isDone(_ process: Int) -> Bool { done[process].allSatisfy { $0 == plan.writes } }

    mutating func take(_ message: StressWorker.Message, from process: Int) {
        switch message {
        case .done(let thread, let nanoseconds):
            guard done[process].indices.contains(thread) else { return }
            done[process][thread] += 1
            latencies.add(nanoseconds)
        case .refused(let reason):
            losses.append("a write of process \(process) was refused: \(reason)")
        }
    }

    mutating func noteKill(of process: Int) {
        kills[process] += 1
    }

    mutating func noteLoss(_ reason: String) {
        losses.append(reason)
    }

    // MARK: - The verdict

    /// Compares with what is stored in the end, number by number.
    mutating func check(_ values: [String: Any], file: String) {
        let shared = number(StressPrefs.sharedKey, values)
        compare(shared, increments...mostIncrements, "of the increments of all threads")
        for process in 0..<plan.processes {
            for thread in 0..<plan.threads {
                let prefs = StressPrefs(process: process, thread: thread, file: file)
                let (done, kills) = (done[process][thread], kills[process])
                let increments = StressPrefs.increments(among: done)
                let name = "of thread \(thread) of process \(process)"
                compare(
                    number(prefs.counterKey, values), increments...(increments + kills), "of the increments \(name)")
                guard let value = StressPrefs.value(after: done) else { continue }
                let stored = values[prefs.valueKey] as? Int
                if stored != value {
                    losses.append(
                        "the value \(name) is \(stored.map(String.init) ?? "not there"), and \(value) was stored last")
                }
            }
        }
    }

    private func number(_ key: String, _ values: [String: Any]) -> Int { values[key] as? Int ?? 0 }

    private mutating func compare(_ stored: Int, _ expected: ClosedRange<Int>, _ what: String) {
        if stored < expected.lowerBound {
            losses.append("\(expected.lowerBound - stored) \(what) were lost: \(expected.lowerBound) were acknowledged")
        } else if stored > expected.upperBound {
            losses.append("\(stored - expected.upperBound) \(what) were stored twice")
        }
    }
}
