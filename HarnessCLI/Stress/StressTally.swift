/// The acknowledged writes, and the stored values that they require.
struct StressTally {
    let plan: StressPlan
    /// The number of acknowledged writes by process and thread.
    private(set) var done: [[Int]]
    private(set) var latencies = Latencies()
    /// The number of early exits by process. At each, a thread may have stored one write without reporting it.
    var earlyExits: [Int]
    /// The number of early exits that `prefs stress` caused.
    var kills = 0
    /// The duration of the writes.
    var seconds = 0.0
    /// The shared counter when it was checked last.
    private(set) var stored = 0
    /// The losses, one message each.
    var losses: [String] = []

    init(_ plan: StressPlan) {
        self.plan = plan
        done = Array(repeating: Array(repeating: 0, count: plan.threads), count: plan.processes)
        earlyExits = Array(repeating: 0, count: plan.processes)
    }

    // The numbers of acknowledged writes and increments, and the most increments that may be stored.
    var writes: Int { done.joined().reduce(0, +) }
    var increments: Int { done.joined().map(Self.increments).reduce(0, +) }
    var maxIncrements: Int { increments + earlyExits.reduce(0, +) * plan.threads }

    func isDone(_ process: Int) -> Bool { done[process].allSatisfy { $0 == plan.writes } }

    /// Records a line of a worker: a write, or why the worker ends.
    mutating func record(_ line: String) {
        let numbers = line.split(separator: " ").compactMap { Int($0) }
        if numbers.count == 3, done.indices.contains(numbers[0]), done[numbers[0]].indices.contains(numbers[1]) {
            done[numbers[0]][numbers[1]] += 1
            latencies.add(nanoseconds: numbers[2])
        } else {
            losses.append("process \(line)")
        }
    }

    /// Compares each number with the stored values. No worker may be running.
    mutating func check(_ values: [String: Any]) {
        stored = values[StressPrefs.sharedKey] as? Int ?? 0
        check(stored, increments...maxIncrements, "of the increments of all threads")
        for process in done.indices {
            for (thread, writes) in done[process].enumerated() {
                let own = StressPrefs.ownKeys(process, thread)
                let name = "of thread \(thread) of process \(process)"
                let least = Self.increments(among: writes)
                let count = values[own.counter] as? Int ?? 0
                check(count, least...(least + earlyExits[process]), "of the increments \(name)")
                // A killed thread may have stored the next value as well.
                let mayBeAhead = earlyExits[process] > 0 && writes < plan.writes
                let expected = (mayBeAhead ? [writes, writes + 1] : [writes]).map(Self.lastValue)
                let value = values[own.value] as? Int
                if !expected.contains(value) {
                    let (expected, found) = (expected[0].map(String.init), value.map(String.init))
                    losses.append("the value \(name): expected \(expected ?? "none"), found \(found ?? "none")")
                }
            }
        }
    }

    /// The number of increments among the first writes of a thread.
    private static func increments(among writes: Int) -> Int { (writes + 1) / 2 }

    /// The value after the first writes of a thread; nil if these writes did not store it.
    private static func lastValue(among writes: Int) -> Int? { writes < 2 ? nil : writes / 2 * 2 - 1 }

    private mutating func check(_ stored: Int, _ expected: ClosedRange<Int>, _ what: String) {
        if stored < expected.lowerBound {
            losses.append("\(expected.lowerBound - stored) \(what) were lost: \(expected.lowerBound) were acknowledged")
        } else if stored > expected.upperBound {
            losses.append("\(stored - expected.upperBound) \(what) were stored twice")
        }
    }
}
