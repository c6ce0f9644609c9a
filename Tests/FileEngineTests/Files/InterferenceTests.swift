import Foundation
import TestSupport
import Testing

@testable import EngineSupport
@testable import PrefsFileEngine

/// Actions of other programs in the middle of a commit.
@Suite final class InterferenceTests: FolderSuite {
    private let system = RecordingSystemCalls()

    /// Calls the closure once, before a flush. The first one is that of the new file, or of a damaged file.
    private func atFlush(_ number: Int = 1, of system: RecordingSystemCalls, _ action: @escaping () -> Void) {
        var flushes = 0
        system.onCall = { call in
            guard call == "fsync" else { return }
            flushes += 1
            if flushes == number { action() }
        }
    }

    private lazy var prefs = folder.root(system: system)
    private var lock: URL { folder.file(".test.plist.lock") }

    override init() throws {
        try super.init()
        prefs["a"] = 1
    }

    @Test func aLinkPutInTheFilesPlaceIsNotReplaced() throws {
        let (file, target) = (folder.file(), folder.file("target.plist"))
        try writePropertyList(["Root": ["a": 7]], to: target)
        atFlush(of: system) {
            try? FileManager.default.removeItem(at: file)
            try? FileManager.default.createSymbolicLink(at: file, withDestinationURL: target)
        }
        prefs["a"] = 2
        #expect(prefs.outcome == "not stored: \(file.path): was replaced by a link")
        // The next access follows the link.
        #expect(prefs.ints == ["a": 7])
        prefs["b"] = 3
        #expect(try propertyList(at: target)["Root"] as? [String: Int] == ["a": 7, "b": 3])
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: file.path) == target.path)
    }

    @Test func aLockFileReplacedDuringTheWaitIsLockedAgain() throws {
        var locks = 0
        system.onCall = { [lock] call in
            guard call == "flock" else { return }
            locks += 1
            guard locks == 1 else { return }
            unlink(lock.path)
            try? Data().write(to: lock)
        }
        prefs["a"] = 2
        #expect(prefs.outcome == "ok")
        #expect(locks == 2)
    }

    @Test func aFolderMovedDuringAnUpdateGetsTheCommit() throws {
        let inner = folder.file("inner")
        let moved = folder.file("moved")
        let prefs = folder.root("inner/test.plist", system: system)
        prefs["a"] = 1
        atFlush(of: system) { try? FileManager.default.moveItem(at: inner, to: moved) }
        prefs["a"] = 2
        // One folder has one whole state, and neither folder has leftovers.
        let root = try propertyList(at: moved.appending(path: "test.plist"))["Root"]
        #expect(root as? [String: Int] == ["a": 2])
        #expect(try FileManager.default.contentsOfDirectory(atPath: moved.path).filter { $0.hasSuffix("tmp") } == [])
    }

    /// The lock file is removed before or after the file is replaced. Another writer has then written its temporary
    /// file, and is about to give it the file's name. Neither the end of the commit nor its copy touches that temporary file.
    @Test(arguments: [(1, "its lock file was removed during the update", 1), (2, "ok", 2)])
    func aWriterWithoutItsLockFileLeavesTheOtherWriterAlone(flush: Int, outcome: String, stored: Int) throws {
        let otherSystem = RecordingSystemCalls()
        let other = folder.root(system: otherSystem)
        let (isWritten, isOver, isDone) = (Gate(), Gate(), Gate())
        atFlush(of: otherSystem) {
            isWritten.open()
            isOver.pass()
        }
        atFlush(flush, of: system) { [lock] in
            unlink(lock.path)
            Thread.detachNewThread {
                other["b"] = 3
                isDone.open()
            }
            isWritten.pass()
        }
        prefs["a"] = 2
        #expect(prefs.outcome.hasSuffix(outcome))
        isOver.open()
        isDone.pass()
        #expect(other.outcome == "ok")
        #expect(folder.root().ints == ["a": stored, "b": 3])
        prefs["a"] = 4
        #expect(folder.root().ints == ["a": 4, "b": 3])
        #expect(try folder.names() == [".test.plist.lastgood", ".test.plist.lock", "test.plist"])
    }

    /// If the other writer finishes first, its copy has a newer state. It is unknown which copy is newer, so no copy
    /// stays.
    @Test func aCopyIsNotMadeOverThatOfANewerState() throws {
        let other = folder.root(system: SystemCalls())
        atFlush(2, of: system) { [lock] in
            unlink(lock.path)
            inThreads(1) { _ in other["b"] = 3 }
        }
        prefs["a"] = 2
        #expect(prefs.outcome == "ok" && other.outcome == "ok")
        #expect(folder.root(system: SystemCalls()).ints == ["a": 2, "b": 3])
        try Data("damage".utf8).write(to: folder.file())
        #expect(folder.root(system: SystemCalls()).ints == [:])
        #expect(other.ints == ["a": 2, "b": 3])
    }

    /// Others change the file while the new file is flushed. It keeps the bytes and the mode that they have chosen, and
    /// only an edit rejects the write.
    @Test(arguments: [true, false]) func whatOthersChangeDuringTheUpdateStays(_ isEdit: Bool) throws {
        let file = folder.file()
        chmod(file.path, 0o644)
        let theirs = try PropertyListSerialization.data(
            fromPropertyList: ["Root": ["a": 5, "b": 6]], format: .xml, options: 0)
        atFlush(of: system) {
            if isEdit { try? theirs.write(to: file) } else { chmod(file.path, 0o600) }
        }
        prefs["a"] = 2
        let reason = "was changed by another program during the update"
        #expect(prefs.outcome == (isEdit ? "not stored: \(file.path): \(reason)" : "ok"))
        #expect(prefs.ints == (isEdit ? ["a": 5, "b": 6] : ["a": 2]))
        #expect(try folder.permissions() == (isEdit ? 0o644 : 0o600))
        prefs["a"] = 3
        #expect(prefs.outcome == "ok")
    }

    /// Others change the mode before each rename, without an end.
    @Test func aFileThatChangesAtEachAttemptIsGivenUp() throws {
        var flushes = 0
        system.onCall = { [folder] call in
            guard call == "fsync" else { return }
            flushes += 1
            chmod(folder.file().path, flushes.isMultiple(of: 2) ? 0o600 : 0o640)
        }
        prefs["a"] = 2
        system.onCall = nil
        let reason = "was changed by another program during every attempt"
        #expect(prefs.outcome == "not stored: \(folder.file().path): \(reason)")
        #expect(flushes == Attempts.all.count && prefs.ints == ["a": 1])
        #expect(try folder.names() == [".test.plist.lastgood", ".test.plist.lock", "test.plist"])
    }

    /// The state was stored without a flush, in a folder that was removed since this process has flushed the folder's name.
    @Test func anEqualWriteFlushesAFolderThatWasMadeAgain() throws {
        let path = folder.file("inner/test.plist").path
        let prefs = FileRoot(path, system: system), careless = FileRoot(path, durability: .process, system: system)
        prefs["a"] = 1
        try FileManager.default.removeItem(at: folder.file("inner"))
        careless["a"] = 2
        #expect(prefs.ints == ["a": 2])
        _ = system.takeCalls()
        prefs["a"] = 2
        // The bytes, the name of the file, and that of the folder.
        #expect(prefs.outcome == "ok" && system.takeCalls().filter { $0 == "fsync" }.count == 3)
    }

    enum Meeting { case repairInUpdate, repairInFlush, lossOfLockFile }

    /// Another program repairs a damaged file during the update, so that the file is not quarantined, or after it was
    /// quarantined, so that only the second name still has the bytes. If the write fails for another reason, the damage
    /// keeps its one name.
    @Test(arguments: [
        (Meeting.repairInUpdate, "was replaced meanwhile", nil),
        (.repairInFlush, "was replaced by another program during the update", "damage"),
        (.lossOfLockFile, "its lock file was removed during the update", nil),
    ])
    func damageThatIsNotReplacedHasOneName(_ meeting: Meeting, _ reason: String, _ quarantined: String?) throws {
        let (file, theirs, damage) = (folder.file(), folder.file("theirs.plist"), Data("damage".utf8))
        try writePropertyList(["Root": ["a": 5]], to: theirs)
        let expected = meeting == .lossOfLockFile ? damage : try Data(contentsOf: theirs)
        try damage.write(to: file)
        #expect(prefs.ints == ["a": 1])
        switch meeting {
        case .repairInUpdate: break
        case .repairInFlush: atFlush(of: system) { rename(theirs.path, file.path) }
        case .lossOfLockFile: atFlush(of: system) { [lock] in unlink(lock.path) }
        }
        prefs.update {
            prefs["a"] = 2
            if meeting == .repairInUpdate { rename(theirs.path, file.path) }
        }
        #expect(prefs.outcome == "not stored: \(file.path): \(reason)")
        #expect(prefs.ints == ["a": meeting == .lossOfLockFile ? 1 : 5])
        #expect(try Data(contentsOf: file) == expected)
        let kept = try folder.quarantined.map { try String(contentsOf: folder.file($0), encoding: .utf8) }
        #expect(kept == (quarantined.map { [$0] } ?? []))
    }
}
