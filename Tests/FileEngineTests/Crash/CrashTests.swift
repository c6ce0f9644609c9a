import TestSupport
import Testing

@testable import PrefsFileEngine

/// The power is cut before every system call of a write. Every state that the disk may have then is checked.
@Suite struct CrashTests {
    private struct Tally {
        var (points, states) = (0, 0)
        /// The states that were checked before, with the allowed values.
        var seen: [[String: [UInt8]]: Set<[[String: Int]]>] = [:]
    }

    @Test func theOldStateOrTheNewOneAndTheNewOneOnceAcknowledged() {
        var tally = Tally()
        for (number, story) in CrashScenario.all.enumerated() {
            // In the usual form, at every other call.
            for point in Hazard.each(2, of: story.points(), from: number) { check(point, story, &tally) }
        }
        Hazard.report("crashes: \(tally.states) states of the disk after \(tally.points) power cuts")
    }

    /// A writer is killed before every call, another writer continues, and then the power is cut.
    @Test func whatAKilledWriterLeftSurvivesWithTheNextChange() {
        var tally = Tally()
        for (number, story) in CrashScenario.all.enumerated() {
            for killed in Hazard.each(2, of: story.points(), from: number) {
                let found = killed.volume.reopened(story.format).prefs.ints
                // Writes the values that it finds, which changes nothing. Then makes a change, which is flushed with them.
                let next = CrashScenario(
                    name: "\(story), killed \(killed)", format: story.format,
                    steps: [{ $0.values = found }, { $0["c"] = 5 }],
                    states: [found, found, found.merging(["c": 5]) { $1 }])
                for point in next.points(on: killed.volume) where point.acknowledged == 2 {
                    check(point, next, &tally)
                }
            }
        }
        Hazard.report("kills and crashes: \(tally.states) states of the disk after \(tally.points) power cuts")
    }

    private func check(_ point: CrashPoint, _ story: CrashScenario, _ tally: inout Tally) {
        tally.points += 1
        let allowed = Array(story.states[point.acknowledged...].prefix(2))
        for state in [point.volume] + point.volume.statesAfterPowerCut(isThorough: CrashScenario.isThorough) {
            guard tally.seen[state.listing(), default: []].insert(allowed).inserted else { continue }
            tally.states += 1
            let (prefs, machine) = state.reopened(story.format)
            let ints = prefs.ints
            let isRight = allowed.contains(ints) && prefs.errors.isEmpty
            #expect(isRight, "\(story): \(point): \(ints) \(prefs.errors) \(state.listing().keys)")
            prefs["c"] = 9
            #expect(prefs.outcome == "ok", "\(story): \(point)")
            #expect(
                machine.volume.reopened(story.format).prefs.ints == ints.merging(["c": 9]) { $1 }, "\(story): \(point)")
            #expect(machine.volume.leftovers == [], "\(story): \(point)")
        }
    }
}
