import Foundation

/// One run of the program.
struct Session {
    let place: Place
    let rounds: Int
    let printsJSON: Bool

    func run(_ plan: [Selection]) throws {
        var reports: [GroupReport] = []
        if !printsJSON { print(Self.surroundings(rounds)) }
        for selection in plan {
            let report = try measure(selection)
            if printsJSON { reports.append(report) } else { print("\n" + report.table) }
        }
        if printsJSON {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            print(String(decoding: try encoder.encode(reports), as: UTF8.self))
        }
    }

    static func surroundings(_ rounds: Int) -> String {
        let info = ProcessInfo.processInfo
        return
            "\(info.operatingSystemVersionString), \(info.activeProcessorCount) cores, \(rounds) rounds; "
            + "median (quartiles)"
    }

    /// A prepared row, and how often its operation fits into a sample.
    private struct Prepared {
        let row: Row
        let operation: Operation
        let count: Int
    }

    private func measure(_ selection: Selection) throws -> GroupReport {
        var left: [GroupReport.LeftOut] = []
        var prepared: [Prepared] = []
        for row in selection.rows {
            do {
                let operation = try row.prepare(place)
                let count = try Self.count(of: operation, in: selection.group.sample)
                prepared.append(Prepared(row: row, operation: operation, count: count))
            } catch let reason as Unavailable {
                left.append(GroupReport.LeftOut(row: row.name, reason: reason.description))
            }
        }
        var times: [String: [Double]] = [:]
        for round in 0..<(prepared.isEmpty ? 0 : rounds) {
            // Another row begins in each round, so that the effects of a row reach several others.
            for index in prepared.indices {
                let one = prepared[(index + round) % prepared.count]
                times[one.row.name, default: []].append(try one.operation.run(one.count))
            }
        }
        let figures = try selection.figures.flatMap { figure in
            do {
                return try figure.count(place)
            } catch let reason as Unavailable {
                left.append(GroupReport.LeftOut(row: figure.name, reason: reason.description))
                return []
            }
        }
        return GroupReport(selection.group, prepared.map(\.row), times, figures, leftOut: left)
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
