import Foundation
import TestSupport
import Testing

/// Every read returns the latest committed value, or a value that is being written: the histories of several processes
/// are linearizable (contracts 1 and 2).
@Suite(.waits) struct HistoryTests {
    private static let processes = 4
    private static let callsOfAThread = 80

    @Test func historiesOfFourProcessesAreLinearizable() throws {
        let seeds = Hazard.count("PREFS_HISTORIES", default: Hazard.count(1, long: 2))
        let firstSeed = Hazard.count("PREFS_SEED", default: 1)
        var operations = 0
        var contended = 0
        var bad = 0
        for seed in firstSeed..<firstSeed + seeds {
            for isOnDefaultStore in [true, false] {
                let history = try record(seed: seed, isOnDefaultStore)
                operations += history.count
                // Operations that do not overlap cannot be out of order.
                let overlap = LinearizabilityChecker.contended(history)
                #expect(overlap > 0, "PREFS_SEED=\(seed)")
                contended += overlap
                let byKey = Dictionary(grouping: history, by: \.key)
                #expect(byKey.keys.sorted() == ["a", "b", "x", "y"])
                var violations = byKey.values.compactMap(LinearizabilityChecker.violation)
                if let torn = LinearizabilityChecker.tornPair("x", "y", in: history) { violations.append(torn) }
                if !violations.isEmpty { bad += 1 }
                for violation in violations {
                    Issue.record("PREFS_SEED=\(seed), \(isOnDefaultStore ? "default" : "file") store: \(violation)")
                }
            }
        }
        Hazard.report(
            """
            histories: \(seeds) seeds on both stores, \(operations) operations of \(Self.processes) processes × 2 threads and \
            a reading process, \(contended) overlapping one of another process, \(bad) not linearizable
            """)
    }

    /// The operations of all processes: four that read and write, and one that only reads until they have ended.
    private func record(seed: Int, _ isOnDefaultStore: Bool) throws -> [HistoryOperation] {
        let home = try TemporaryFolder()
        let children = try (0...Self.processes).map { process in
            let calls = process < Self.processes ? Self.callsOfAThread : 0
            var arguments = ["history", "\(seed)", "\(calls)", "\(process)"]
            if !isOnDefaultStore { arguments.append(home.file().path) }
            return try PipedChild("Probe", arguments, home: home)
        }
        for child in children { #expect(try child.line() == "ready") }
        for child in children { try child.tell("go") }
        let histories = try children.dropLast().map(history)
        try children.last?.tell("stop")
        return try histories.joined() + (children.last.map(history) ?? [])
    }

    private func history(of child: PipedChild) throws -> [HistoryOperation] {
        var history: [HistoryOperation] = []
        while case let line = try child.line(), line != "end" {
            history.append(try #require(HistoryOperation(line), "\(line)"))
        }
        #expect(try child.exitCode() == 0)
        return history
    }
}
