import Foundation

/// One run of the program.
struct Session {
    let place: Place
    let rounds: Int

    func run(_ groups: [Group]) throws {
        let info = ProcessInfo.processInfo
        print(
            "\(info.operatingSystemVersionString), \(info.activeProcessorCount) cores, \(rounds) rounds; "
                + "median (quartiles)")
        for group in groups { print("\n" + (try measure(group).table)) }
    }

    private func measure(_ group: Group) throws -> GroupReport {
        var leftOut: [String] = []
        /// Nil if the row is left out.
        func unlessUnavailable<Result>(_ row: String, _ body: () throws -> Result) throws -> Result? {
            do {
                return try body()
            } catch let reason as Unavailable {
                leftOut.append("  \(row) is left out: \(reason)")
                return nil
            }
        }
        // Each row with its operation, and how often the operation fits into a sample.
        let prepared = try group.rows.compactMap { row in
            try unlessUnavailable(row.name) {
                let operation = try row.prepare(place)
                return (row.name, operation, count: try Self.count(of: operation, in: group.sample))
            }
        }
        var times: [String: [Double]] = [:]
        for round in 0..<rounds {
            // Another row begins in each round, so that the effects of a row reach several others.
            for index in prepared.indices {
                let (name, operation, count) = prepared[(index + round) % prepared.count]
                times[name, default: []].append(try operation.run(count))
            }
        }
        let figures = try group.figures.compactMap { row in
            try unlessUnavailable(row.name) { try row.count(place) }
        }
        return GroupReport(group: group, times: times, figures: figures.flatMap { $0 }, leftOut: leftOut)
    }

    /// The number of repetitions for a sample of the given seconds.
    private static func count(of operation: Operation, in sample: Double) throws -> Int {
        var count = 1
        // Repeats, because the first run is cold.
        for _ in 0..<4 {
            let seconds = max(try operation.run(count), 1e-9)
            count = max(1, min(Int(sample / seconds), count * 100))
        }
        return count
    }
}
