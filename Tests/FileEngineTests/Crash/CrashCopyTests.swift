import Foundation
import PrefsPropertyLists
import Testing
import TestSupport

@testable import EngineSupport
@testable import PrefsFileEngine
@testable import PrefsJSON

/// Kills and power cuts while the last good copy is written in place. Then another program damages the file, so that
/// the copy is read.
@Suite struct CrashCopyTests {
    /// A scenario whose states have equal keys and numbers of one length, so that a mixture of two copies is a property
    /// list, too.
    private static func scenario(_ format: FileFormat) -> CrashScenario {
        let keys = (1...6).map { "key\($0)" }
        @Sendable func state(_ number: Int) -> [String: Int] {
            Dictionary(uniqueKeysWithValues: keys.map { ($0, number) })
        }
        return CrashScenario(
            name: "copies in \(format)", format: format,
            steps: [
                { $0.values = state(1_111) }, { $0.values = state(2_222) }, { $0.values = state(3_333) },
                { $0.values = ["key1": 4_444] }, { $0.values = state(5_555) },
            ],
            states: [[:], state(1_111), state(2_222), state(3_333), ["key1": 4_444], state(5_555)])
    }

    @Test(arguments: [FileFormat.binary, .plainXML, .json])
    func aTornCopyIsRecognized(_ format: FileFormat) throws {
        let scenario = Self.scenario(format)
        var (looked, torn) = (0, 0)
        for point in Hazard.each(2, of: scenario.points()) {
            for (index, state)
                in ([point.volume] + point.volume.statesAfterPowerCut(isThorough: CrashScenario.isThorough))
                .enumerated()
            {
                var volume = state
                guard let file = volume.inode(at: CrashScenario.path) else { continue }
                volume[file].bytes = CrashScenario.damage
                let (prefs, machine) = volume.reopened(format)
                let found = prefs.ints
                let allowed = scenario.states[...min(point.acknowledged + 1, scenario.steps.count)]
                #expect(allowed.contains(found), "\(point): \(found)")
                looked += 1
                if found.isEmpty { torn += 1 }
                // Without a power cut, and between two steps, the copy belongs to the last commit.
                if index == 0, point.call == "the next step" {
                    #expect(found == scenario.states[point.acknowledged], "\(point)")
                }
                prefs["c"] = 9
                guard prefs.lastError?.isWarning == true else {
                    // The first writer was killed before its copy, so nothing shows that this package has written the
                    // file.
                    #expect(prefs.outcome.hasPrefix("not ours: ") && found.isEmpty, "\(point): \(prefs.outcome)")
                    continue
                }
                // The next commit has written the copy again.
                let next = try #require(machine.volume.inode(at: CrashScenario.path))
                machine.volume[next].bytes = CrashScenario.damage
                #expect(machine.volume.reopened(format).prefs.ints == found.merging(["c": 9]) { $1 }, "\(point)")
            }
        }
        #expect(looked > 100 && torn > 0)
        Hazard.report("torn copies: \(looked) states of the disk, \(torn) without a usable copy")
    }

    /// A reader finds the damaged file. Before it reads the copy, a writer replaces the file and writes half of the
    /// copy.
    @Test func aReadDuringTheWriteOfTheCopyFindsTheNewState() throws {
        let (isRead, isHalfWritten, mayFinish, isWritten) = (Gate(), Gate(), Gate(), Gate())
        let (reader, writer) = (RecordingSystemCalls(), RecordingSystemCalls())
        reader.beforeOpen = { name, _, _ in
            guard name == ".test.plist.lastgood" else { return }
            isRead.open()
            isHalfWritten.pass()
        }
        reader.onCall = { call in
            guard call == "pause" else { return }
            mayFinish.open()
            isWritten.pass()
        }
        // The writes to the copy follow its opening, and the first of them writes half of it.
        var writes = 0
        writer.afterOpen = { name, _, flags in
            if name == ".test.plist.lastgood", flags & O_RDWR != 0 {
                writer.onCall = { call in
                    if call == "write" { writes += 1 }
                    guard call == "write", writes == 2 else { return }
                    isHalfWritten.open()
                    mayFinish.pass()
                }
            }
        }
        let folder = try TemporaryFolder()
        folder.root()["a"] = 1
        try Data(CrashScenario.damage).write(to: folder.file())
        // The file was damaged long enough ago; the copy is younger.
        reader.age = (folder.file().path, .milliseconds(500))
        inThreads(2) { number in
            if number == 0 {
                let prefs = folder.root(system: reader)
                #expect(prefs.ints == ["a": 1, "b": 2] && prefs.outcome == "ok", "\(prefs.ints) \(prefs.outcome)")
            } else {
                let prefs = folder.root(system: writer)
                isRead.pass()
                prefs["b"] = 2
                #expect(prefs.lastError?.isWarning == true, "\(prefs.outcome)")
                isWritten.open()
            }
        }
    }
}
