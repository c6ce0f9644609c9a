import Foundation
import TestSupport
import Testing

@testable import PrefsFileEngine

/// Two processes on one simulated machine. At every system call of one process, the other does all of its work.
@Suite struct InterleavingTests {
    @Test func changesOfTwoWritersAreBothThere() throws {
        var (calls, blocked) = (0, 0)
        for hasFile in [false, true] {
            var number = 1
            while let wasBlocked = try interleave(at: number, hasFile: hasFile) {
                calls += 1
                blocked += wasBlocked ? 1 : 0
                number += 1
            }
        }
        // Between its flock and its end, the first process keeps the other one out.
        #expect(blocked > 20 && blocked < calls)
        Hazard.report("interleavings: a writer at each of \(calls) calls of another, kept out \(blocked) times")
    }

    /// Returns whether the second writer had to wait; nil if the first writer makes fewer calls.
    private func interleave(at number: Int, hasFile: Bool) throws -> Bool? {
        let machine = SimulatedMachine(CrashScenario.volume())
        if hasFile { CrashScenario.prefs(on: SimulatedProcess(machine)).values = ["a": 0, "b": 0] }
        let process = SimulatedProcess(machine)
        let (first, second) = (CrashScenario.prefs(on: process), CrashScenario.prefs(on: SimulatedProcess(machine)))
        var calls = 0
        var wasBlocked: Bool?
        process.onCall = { _ in
            calls += 1
            guard calls == number else { return }
            // Its cache and everything else that it has read are outdated.
            let before = second.ints["b"]
            #expect(before == (hasFile ? 0 : nil))
            second["b"] = 2
            wasBlocked = second.lastError != nil
            if case .notStored(let failure) = second.lastError { #expect(failure.code == EWOULDBLOCK) }
        }
        first["a"] = 1
        #expect(first.outcome == "ok", "call \(number)")
        guard let wasBlocked else { return nil }
        if wasBlocked { second["b"] = 2 }
        #expect(second.outcome == "ok", "call \(number)")
        let disks = machine.volume.statesAfterPowerCut(isThorough: false)
        let found = [first, second, machine.volume.reopened().prefs] + disks.map { $0.reopened().prefs }
        let isKept = found.allSatisfy { $0.ints == ["a": 1, "b": 2] }
        #expect(isKept, "call \(number), kept out: \(wasBlocked): \(found.map(\.ints))")
        #expect(machine.volume.leftovers == [], "call \(number)")
        return wasBlocked
    }

    /// A read at every call of a write returns the old state or the new one, and never the old state after the new one.
    @Test func aReadInTheMiddleOfAWriteIsOfOneStateOrTheOther() {
        let machine = SimulatedMachine(CrashScenario.volume())
        let (process, reader) = (SimulatedProcess(machine), CrashScenario.prefs(on: SimulatedProcess(machine)))
        let writer = CrashScenario.prefs(on: process)
        for value in 1...3 {
            var seen: [[String: Int]] = []
            process.onCall = { _ in seen.append(reader.ints) }
            writer.values = ["a": value, "b": -value]
            process.onCall = nil
            let (old, new) = (value == 1 ? [:] : ["a": value - 1, "b": 1 - value], ["a": value, "b": -value])
            let change = seen.firstIndex(of: new) ?? seen.count
            #expect(seen[..<change].allSatisfy { $0 == old })
            #expect(seen[change...].allSatisfy { $0 == new })
            #expect(change > 5 && change < seen.count)
        }
    }
}
