import Foundation
import TestSupport
import Testing

@testable import PrefsFileEngine

/// Power cuts after the writes of several writers, one after the other or one inside the other.
@Suite struct CrashSequenceTests {
    @Test func anEqualWriteInsideAnUnflushedUpdateIsFlushed() {
        let machine = SimulatedMachine(CrashScenario.volume())
        let process = SimulatedProcess(machine)
        let (sure, hasty) = (CrashScenario.prefs(on: process), CrashScenario.prefs(on: process, durability: .process))
        sure["b"] = 0
        hasty.update {
            hasty["a"] = 1
            sure["a"] = 1
        }
        #expect(sure.outcome == "ok")
        machine.volume.expectAfterPowerCut(["a": 1, "b": 0])
    }

    @Test func aFolderMadeByAnotherProcessIsFlushed() throws {
        var volume = CrashScenario.volume(folders: 1)
        _ = volume.create(.folder, ".config", in: try #require(volume.inode(at: "/home")), mode: 0o700)
        let machine = SimulatedMachine(volume)
        let process = SimulatedProcess(machine)
        CrashScenario.prefs(on: process, durability: .process)["a"] = 1
        let sure = CrashScenario.prefs(on: process)
        sure["b"] = 2
        #expect(sure.outcome == "ok")
        machine.volume.expectAfterPowerCut(["a": 1, "b": 2])
    }

    /// Another process removes the folder and makes it again, after this process has flushed its entry.
    @Test func aFolderThatIsMadeAgainIsFlushed() throws {
        let machine = SimulatedMachine(CrashScenario.volume())
        let prefs = CrashScenario.prefs(on: SimulatedProcess(machine))
        prefs["a"] = 1
        let home = try #require(machine.volume.inode(at: "/home"))
        machine.volume.change(home, .remove(".config"))
        _ = machine.volume.create(.folder, ".config", in: home, mode: 0o700)
        prefs["b"] = 2
        #expect(prefs.errors.last?.isWarning == true, "what was known is kept: \(prefs.outcome)")
        machine.volume.expectAfterPowerCut(["b": 2])
    }

    /// Two writers are killed one after the other, each at every call; a third one's change is acknowledged.
    @Test func whatTwoKilledWritersLeftIsFlushed() {
        var looked = 0
        let second = CrashScenario(name: "second", steps: [{ $0["b"] = 2 }], states: [[:]])
        for (number, first) in CrashScenario.all[0].points().enumerated() {
            // In the usual form, the second one is killed at every third call.
            for killed in Hazard.each(3, of: second.points(on: first.volume), from: number) {
                let machine = SimulatedMachine(killed.volume)
                let prefs = CrashScenario.prefs(on: SimulatedProcess(machine))
                let found = prefs.ints
                prefs["c"] = 5
                #expect(prefs.outcome == "ok")
                machine.volume.expectAfterPowerCut(
                    found.merging(["c": 5]) { $1 }, isThorough: false, "killed \(first), then \(killed)")
                looked += 1
            }
        }
        #expect(looked > Hazard.count(33, long: 100))
    }

    /// A successful flush proves nothing about a newer state whose flush has failed.
    @Test func aFailedFlushIsNotForgotten() throws {
        let machine = SimulatedMachine(CrashScenario.volume())
        let process = SimulatedProcess(machine)
        let careless = CrashScenario.prefs(on: process, durability: .process)
        careless["a"] = 1
        let (first, second) = (CrashScenario.prefs(on: process), CrashScenario.prefs(on: process))
        var flushes = 0
        process.onCall = { call throws(StorageFailure) in
            guard call == "fsync" else { return }
            flushes += 1
            // The first writer makes three: of the file, its name and the name of its folder.
            if flushes == 5 { throw StorageFailure("fsync", "", code: EIO) }
        }
        first["a"] = 1
        #expect(first.outcome == "ok" && flushes == 3)
        second["b"] = 2
        #expect(second.outcome.hasPrefix("not confirmed: "))
        let before = machine.volume.inode(at: CrashScenario.path)
        second["b"] = 2
        #expect(second.outcome == "ok")
        #expect(machine.volume.inode(at: CrashScenario.path) != before, "a second flush of the same file was believed")
    }
}
