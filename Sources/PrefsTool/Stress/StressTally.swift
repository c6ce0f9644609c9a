import Foundation
import PersistentPreferences

/// The acknowledged writes, and the stored values that they require.
struct StressTally {
    let plan: StressPlan
    /// The number of acknowledged writes by process and thread.
    private(set) var done: [[Int]]
    /// The number of early exits by process.
    private var earlyExits: [Int]
    /// The number of early exits that `prefs stress` caused.
    private(set) var kills = 0
    private(set) var latencies = Latencies()
    private(set) var timeline = StressTimeline()
    /// The losses, one message each.
    private(set) var losses: [String] = []

    init(_ plan: StressPlan) {
        self.plan = plan
        done = Array(repeating: Array(repeating: 0, count: plan.threads), count: plan.processes)
        earlyExits = Array(repeating: 0, count: plan.processes)
    }

    var writes: Int { done.joined().reduce(0, +) }
    var increments: Int { done.joined().map(StressPrefs.increments).reduce(0, +) }
    /// A killed thread may have stored one write without reporting it.
    var maxIncrements: Int { increments + earlyExits.reduce(0, +) * plan.threads }

    func isDone(_ process: Int) -> Bool { done[process].allSatisfy { $0 == plan.writes } }

    mutating func record(_ message: StressWorker.Message, from process: Int) {
        switch message {
        case .done(let thread, let nanoseconds):
            guard done[process].indices.contains(thread) else { return }
            done[process][thread] += 1
            latencies.add(nanoseconds)
            timeline.addWrite()
        case .failed(let reason):
            losses.append("process \(process): \(reason)")
        }
    }

    mutating func recordEarlyExit(of process: Int, by kill: Bool) {
        earlyExits[process] += 1
        guard kill else { return }
        kills += 1
        timeline.addKill()
    }

    mutating func recordLoss(_ reason: String) {
        losses.append(reason)
    }

    // MARK: - Verdict

    /// Compares each number with the stored values. No worker may be running.
    mutating func check(_ values: [String: StoredValue], file: String) {
        let shared = number(StressPrefs.sharedKey, values)
        checkCount(shared, increments...maxIncrements, "of the increments of all threads")
        for process in 0..<plan.processes {
            for thread in 0..<plan.threads {
                let prefs = StressPrefs(process: process, thread: thread, file: file)
                let (done, earlyExits) = (done[process][thread], earlyExits[process])
                let increments = StressPrefs.increments(among: done)
                let name = "of thread \(thread) of process \(process)"
                checkCount(
                    number(prefs.counterKey, values), increments...(increments + earlyExits),
                    "of the increments \(name)")
                let value = StressPrefs.value(after: done)
                let stored = values[prefs.valueKey]?.integer(as: Int.self)
                // A killed thread may have stored the next value as well.
                let mayBeAhead = earlyExits > 0 && done < plan.writes && stored == StressPrefs.value(after: done + 1)
                if stored != value, !mayBeAhead {
                    losses.append("the value \(name): expected \(text(value)), found \(text(stored))")
                }
            }
        }
    }

    private func text(_ number: Int?) -> String { number.map(String.init) ?? "none" }

    private func number(_ key: String, _ values: [String: StoredValue]) -> Int { values[key]?.integer() ?? 0 }

    private mutating func checkCount(_ stored: Int, _ expected: ClosedRange<Int>, _ what: String) {
        if stored < expected.lowerBound {
            losses.append("\(expected.lowerBound - stored) \(what) were lost: \(expected.lowerBound) were acknowledged")
        } else if stored > expected.upperBound {
            losses.append("\(stored - expected.upperBound) \(what) were stored twice")
        }
    }
}
