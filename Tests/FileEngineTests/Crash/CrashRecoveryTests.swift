import PrefsPropertyLists
import Testing
import TestSupport

@testable import PrefsFileEngine
@testable import PrefsJSON

/// Power cuts and failed flushes during a recovery.
@Suite struct CrashRecoveryTests {
    /// A disk with two flushed commits, whose file another program has then damaged.
    private static func damagedVolume(_ format: FileFormat) -> SimulatedVolume {
        let machine = SimulatedMachine(CrashScenario.volume())
        let prefs = CrashScenario.prefs(on: SimulatedProcess(machine), format)
        prefs["a"] = 1
        prefs["b"] = 2
        var volume = machine.volume
        volume.flushAll()
        guard let file = volume.inode(at: CrashScenario.path) else { return volume }
        volume[file].bytes = CrashScenario.damage
        volume.flushAll()
        return volume
    }

    @Test(arguments: [(FileFormat.binary, true), (.json, true), (.binary, false)])
    func neitherTheDamagedBytesNorTheLastGoodStateAreLost(_ format: FileFormat, hasSecondNames: Bool) throws {
        let good = ["a": 1, "b": 2]
        let story = CrashScenario(
            name: "recovery", format: format, hasSecondNames: hasSecondNames, steps: [{ $0["c"] = 5 }],
            states: [good, good.merging(["c": 5]) { $1 }])
        let points = story.points(on: Self.damagedVolume(format))
        #expect(points.last?.acknowledged == 1)
        var states = 0
        for point in points {
            let isThorough = CrashScenario.isThorough || !hasSecondNames
            for state in [point.volume] + point.volume.statesAfterPowerCut(isThorough: isThorough) {
                states += 1
                let files = state.listing()
                #expect(files.values.contains(CrashScenario.damage), "\(point): the damaged bytes are lost")
                let (prefs, machine) = state.reopened(format)
                #expect(story.states[point.acknowledged...].contains(prefs.ints), "\(point): \(prefs.errors)")
                let isDamaged = files[CrashScenario.path] == CrashScenario.damage
                #expect((prefs.lastError != nil) == isDamaged, "\(point): \(prefs.errors)")
                #expect(machine.volume.listing() == files, "\(point): a read has changed something")
                prefs["a"] = 9
                #expect(prefs.lastError == nil || prefs.lastError?.isWarning == true, "\(point): \(prefs.outcome)")
                let kept = machine.volume.listing().filter { $0.key.contains(".corrupt-") }
                #expect(kept.values.contains(CrashScenario.damage), "\(point)")
                // A process that is killed while it copies the bytes leaves a part of them.
                #expect(!hasSecondNames || kept.values.allSatisfy { $0 == CrashScenario.damage }, "\(point)")
            }
        }
        #expect(states > 40)
    }

    /// The program that has damaged the file has not flushed what it has written.
    @Test func damageThatNobodyHasFlushedIsFlushedBeforeTheFileIsReplaced() throws {
        let machine = SimulatedMachine(CrashScenario.volume())
        CrashScenario.prefs(on: SimulatedProcess(machine))["a"] = 1
        machine.volume.flushAll()
        let file = try #require(machine.volume.inode(at: CrashScenario.path))
        machine.volume.truncate(file, to: 0)
        machine.volume.write(CrashScenario.damage, to: file, at: 0)
        let prefs = CrashScenario.prefs(on: SimulatedProcess(machine))
        prefs["b"] = 2
        #expect(prefs.lastError?.isWarning == true)
        for disk in machine.volume.statesAfterPowerCut(isThorough: true) {
            #expect(disk.reopened().prefs.ints == ["a": 1, "b": 2])
            #expect(disk.listing().values.contains(CrashScenario.damage))
        }
    }

    /// Each flush of a write fails in turn, and loses the bytes that it should save. The write is repeated until it is
    /// acknowledged.
    @Test(arguments: CrashScenario.all)
    func whatIsAcknowledgedAfterAFailedFlushIsThere(_ story: CrashScenario) {
        var (failing, flushes) = (0, 0)
        // The last round has no such flush, so nothing fails in it.
        while flushes >= failing {
            failing += 1
            let machine = SimulatedMachine(CrashScenario.volume(folders: story.folders))
            let process = SimulatedProcess(machine)
            process.failingFlush = failing
            let prefs = CrashScenario.prefs(on: process, story.format)
            for (step, state) in zip(story.steps, story.states.dropFirst()) {
                step(prefs)
                if prefs.lastError != nil { step(prefs) }
                #expect(prefs.outcome == "ok", "\(story), flush \(failing)")
                machine.volume.expectAfterPowerCut(
                    state, story.format, isThorough: CrashScenario.isThorough, "\(story), flush \(failing)")
            }
            flushes = process.flushes
        }
        #expect(failing > 3, "\(story): too few flushes")
    }

    /// A flush after the rename may fail, too, and a second flush then does nothing.
    @Test(arguments: [0, 1, 2, 3])
    func anUnflushedStateIsFlushedByTheEqualWriteThatIsAcknowledged(_ failing: Int) {
        let machine = SimulatedMachine(CrashScenario.volume())
        let process = SimulatedProcess(machine)
        let careless = CrashScenario.prefs(on: process, durability: .process)
        careless["a"] = 1
        #expect(machine.volume.statesAfterPowerCut(isThorough: true).contains { $0.reopened().prefs.ints != ["a": 1] })
        let prefs = CrashScenario.prefs(on: process)
        process.failingFlush = process.flushes + failing
        prefs["a"] = 1
        #expect((prefs.lastError == nil) == (failing == 0))
        prefs["a"] = 1
        #expect(prefs.outcome == "ok")
        machine.volume.expectAfterPowerCut(["a": 1])
        #expect(careless.ints == ["a": 1])
    }
}
