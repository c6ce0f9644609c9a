import Foundation
import TestSupport
import Testing

/// Writers are killed at any moment, and no acknowledged write is lost (contract 2).
@Suite(.waits) struct KillTortureTests {
    @Test func noKillLosesAnAcknowledgedWrite() throws {
        let kills = Hazard.count("PREFS_KILLS", default: Hazard.count(14, long: 50))
        let seed = UInt64(Hazard.count("PREFS_SEED", default: 1))
        var tallies: [KillTorture.Tally] = []
        var parts: [String] = []
        for (number, (target, writers)) in KillTorture.configurations.enumerated() {
            var torture = try KillTorture(target, writers: writers, seed: seed + UInt64(number))
            // The shares add up to all.
            let shares = KillTorture.configurations.count
            torture.run(kills: kills * (number + 1) / shares - kills * number / shares)
            let tally = torture.tally
            tallies.append(tally)
            parts.append("\(target.rawValue) \(writers) writer\(writers > 1 ? "s" : "") \(tally.kills)")
            for violation in tally.violations { Issue.record("\(violation); PREFS_SEED=\(seed)") }
            #expect(tally.acknowledged >= tally.kills)
        }
        func sum(_ count: KeyPath<KillTorture.Tally, Int>) -> Int { tallies.map { $0[keyPath: count] }.reduce(0, +) }
        Hazard.report(
            """
            torture: \(sum(\.kills)) kills (\(parts.joined(separator: ", "))), \
            \(sum(\.unacknowledged)) after an unacknowledged commit, \(sum(\.interrupted)) with a temporary file to tidy up, \
            \(sum(\.torn)) with a torn copy; \
            \(sum(\.acknowledged)) acknowledged writes, \(sum(\.violations.count)) lost or damaged
            """)
    }
}

extension KillTorture {
    static let configurations = Target.allCases.flatMap { target in [1, TortureWriter.limit].map { (target, $0) } }
}
