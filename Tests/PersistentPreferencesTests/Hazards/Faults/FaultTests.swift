@testable import PrefsSupport
import Foundation
import Testing

@testable import EngineSupport
@testable import PersistentPreferences
@testable import PrefsFileEngine

/// Every system call of every kind of write fails, one at a time. Before the rename, the old state stays, on disk and
/// in memory. After the rename, the new state stays, and the error says that it may not survive a power cut.
@Suite struct FaultTests {
    /// A fault at one call.
    private struct Fault: CustomStringConvertible {
        let number: Int
        let code: Int32
        /// Whether all later calls of that name fail, too.
        var persists = false

        var description: String { "call \(number), \(String(cString: strerror(code)))\(persists ? ", for good" : "")" }
    }

    /// The calls that are repeated after an interruption.
    private static let retried: Set = ["open", "flock", "read", "write", "fsync"]
    /// Calls that a write may do without: a check that falls back to loading, and calls that give access to others.
    private static let dispensable: Set = ["stat", "fstat", "realpath", "chown", "readlink"]
    private static let codes = [ENOSPC, EIO, EACCES, EDQUOT, EMFILE]

    /// The faults of a call: an interruption, and each error or, by default, one error in turn. The usual form has one of the two, which
    /// alternate from call to call and from one kind of write to the next.
    private static func faults(at number: Int, of kind: Int) -> [Fault] {
        let usual = [
            Fault(number: number, code: codes[number % 5], persists: (number / 2 + kind / 2).isMultiple(of: 2))
        ]
        let all = codes.flatMap { code in [false, true].map { Fault(number: number, code: code, persists: $0) } }
        // Does not persist, because the call would be repeated without an end.
        let interruption = Fault(number: number, code: EINTR)
        if Hazard.count("PREFS_FAULTS", default: 1) > 1 { return [interruption] + all }
        return Hazard.isLong ? [interruption] + usual : (number + kind).isMultiple(of: 2) ? [interruption] : usual
    }

    @Test func aCallThatFailsLosesNothing() throws {
        var (calls, faults) = (0, 0)
        for (kind, scenario) in FaultScenario.all.enumerated() {
            // In the usual form every other call, beginning with the first or the second one.
            let step = Hazard.count(2, long: 1)
            var number = 1 + kind / 2 % step
            while try Self.faults(at: number, of: kind).allSatisfy({ try inject($0, into: scenario, &faults) }) {
                number += step
            }
            #expect(number > 25, "\(scenario): too few calls for a write")
            calls += number - 1
        }
        Hazard.report("faults: \(faults) at \(calls) calls of \(FaultScenario.all.count) kinds of write")
    }

    /// Injects a fault, and counts it; returns false if there are fewer calls.
    private func inject(_ fault: Fault, into scenario: FaultScenario, _ faults: inout Int) throws -> Bool {
        let rig = try FaultRig(scenario)
        let system = rig.system
        do {
            let early = scenario.isRead ? rig.makePrefs() : nil
            _ = system.takeCalls()
            system.failCall(fault.number, with: fault.code, persists: fault.persists)
            let prefs = early ?? rig.makePrefs()
            scenario.change(prefs)
            guard let call = system.failedCall else { return false }
            system.heal()
            let outcome = prefs.outcome
            let left = scenario.tidyingCalls > 0 ? [] : rig.leftovers()
            let expected = checkError(of: prefs, rig, fault, call)
            let place: Comment = "\(scenario): \(fault): \(call): \(outcome)"
            let state = try rig.onDisk()
            // Checks it in a new object, too, like another process.
            let fresh = PropertyListFile(
                path: rig.folder.file(scenario.file).resolvingSymlinksInPath().path, system: RecordingSystemCalls())
            fresh.setRules { $0.formatOfNewFile = scenario.format }
            let read = try fresh.read().content?["AnyPrefs"]?.object as? [String: Int]
            #expect(state == expected && read == expected && prefs.ints == expected ?? [:], place)
            prefs["c"] = 9
            #expect(prefs.outcome == "ok", place)
            #expect(try rig.onDisk() == (expected ?? [:]).merging(["c": 9]) { $1 }, place)
            #expect(left + rig.leftovers() == [], place)
        }
        #expect(system.openDescriptors.isEmpty && system.doubleCloses == 0, "\(scenario): \(fault)")
        faults += 1
        return true
    }

    /// Checks the error, and returns the expected state.
    private func checkError(of prefs: AnyPrefs, _ rig: FaultRig, _ fault: Fault, _ call: String) -> [String: Int]? {
        let scenario = rig.scenario
        let calls = rig.system.takeCalls().filter { $0 != "close" && $0 != "pause" }
        let isCommitted = calls.prefix(fault.number - 1).contains("rename")
        let place: Comment = "\(scenario): \(fault): \(call): \(prefs.outcome) \(calls)"
        let isCarriedThrough = fault.code == EINTR && Self.retried.contains(call)
        if isCarriedThrough { #expect(prefs.errors == [], place) }
        switch prefs.lastError {
        case nil:
            // A folder that may not be read cannot be flushed.
            let isBarredFolder = fault.code == EACCES && call == "open"
            // The first read of a new instance has reported the fault.
            let isTold = !prefs.errors.isEmpty
            let isTidying = fault.number <= scenario.tidyingCalls
            // The first step under the lock tidies up after killed writers. Its failure is not a failure of the write.
            let isFirstRemoval = call == "unlink" && !isCommitted
            // SMB says EACCES of a lock that another process holds, so a wait for the lock follows, which says the truth.
            let isHeld = fault.code == EACCES && call == "flock" && calls.filter { $0 == "flock" }.count == 2
            let isDispensable = isTidying || isTold || isFirstRemoval || isHeld || Self.dispensable.contains(call)
            #expect(isCommitted && call != "fsync" || isCarriedThrough || isBarredFolder || isDispensable, place)
            return scenario.new
        case .notStored(let failure), .unreadable(let failure):
            #expect(failure.code == fault.code && failure.operation == call, place)
            // If folders are made, the folders above are flushed, too.
            #expect(failure.path.hasPrefix(rig.folder.path) || rig.folder.path.hasPrefix(failure.path), place)
            #expect(!isCommitted, place)
            return scenario.old
        case .durabilityUnconfirmed(let failure):
            #expect(failure.code == fault.code && failure.operation == call, place)
            #expect(isCommitted && ["fsync", "open"].contains(call), place)
            return scenario.new
        default:
            Issue.record(place)
            return nil
        }
    }
}
