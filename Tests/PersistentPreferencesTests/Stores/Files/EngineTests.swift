@testable import PrefsSupport
import Foundation
import Testing

@testable import EngineSupport
@testable import PersistentPreferences
@testable import PrefsFileEngine

/// The system calls of the engine: their number for a read and a write, and the effect of a failure.
@Suite struct EngineTests {
    private let folder = TemporaryFolder.fresh
    private let system = RecordingSystemCalls()
    private let prefs: AnyPrefs

    init() {
        prefs = AnyPrefs(values: ["a": 1], store: PropertyListFileStore(url: folder.file(), system: system))
        _ = prefs.values
        _ = system.takeCalls()
    }

    /// The state on the disk, read by an object without a cache.
    private func onDisk() throws -> [String: Int]? {
        try propertyList(at: folder.file())["AnyPrefs"] as? [String: Int]
    }

    @Test func aReadIsOneFstat() {
        for read in [{ _ = self.prefs["a"] }, { _ = self.prefs.values }] {
            read()
            #expect(system.takeCalls() == ["fstat"])
        }
    }

    @Test func anEqualWriteIsOneFstat() {
        let writes = [
            { prefs["a"] = 1 }, { prefs.values = ["a": 1] }, { prefs.values["a"] = NSNumber(value: 1) },
        ]
        for write in writes {
            write()
            #expect(system.takeCalls() == ["fstat"])
        }
        prefs.clear()
        _ = system.takeCalls()
        prefs.clear()
        #expect(system.takeCalls() == ["fstat"])
    }

    @Test func aWriteIsSyncedRenamedAndSyncedAgain() {
        for write in [{ prefs["a"] = 2 }, { prefs.update { for number in 3..<50 { prefs["a"] = number } } }] {
            write()
            let steps = system.takeCalls().filter { ["flock", "fsync", "rename"].contains($0) }
            // The last good copy is written in place and not synced.
            #expect(steps == ["flock", "fsync", "rename", "fsync"])
        }
    }

    @Test func anUnflushedWriteIsNotSynced() {
        let other = AnyPrefs(
            store: PropertyListFileStore(url: folder.file("other.plist"), durability: .process, system: system))
        _ = system.takeCalls()
        other["a"] = 2
        let steps = system.takeCalls().filter { ["fsync", "rename"].contains($0) }
        #expect(steps == ["rename", "rename"])
    }

    @Test(arguments: [ENOSPC, EIO, EDQUOT, EACCES], ["flock", "write", "fsync", "rename"])
    func aFailureUpToTheRenameLeavesTheOldState(_ code: Int32, _ call: String) throws {
        system.fail(call, with: code)
        prefs["a"] = 2
        let failure = try #require(prefs.lastError?.detail(of: PrefsError.notStored), "\(prefs.outcome)")
        #expect(failure.operation == call && failure.code == code)
        #expect(failure.path.hasPrefix(folder.path))
        #expect(prefs.ints == ["a": 1])
        #expect(try onDisk() == ["a": 1])
        #expect(try folder.names() == [".test.plist.lastgood", ".test.plist.lock", "test.plist"])
        prefs["a"] = 3
        #expect(prefs.outcome == "ok")
        #expect(try onDisk() == ["a": 3])
    }

    @Test func aFailureAfterTheRenameLeavesTheNewState() throws {
        // The first fsync is the file's, the second the folder's.
        system.fail("fsync", with: EINTR, EINTR)
        prefs["a"] = 2
        #expect(prefs.outcome == "ok")
        let file = folder.file("second.plist")
        let second = AnyPrefs(store: PropertyListFileStore(url: file, system: FailingFlush(2)))
        second["a"] = 2
        #expect(
            second.outcome
                == "\(folder.path): fsync: Input/output error; the new state is stored, but an older one may return after a power cut or damage"
        )
        #expect(second.ints == ["a": 2])
        #expect(try propertyList(at: file)["AnyPrefs"] as? [String: Int] == ["a": 2])
    }

    @Test func interruptionsAndShortCountsAreCarriedThrough() throws {
        for call in ["open", "flock", "write", "fsync"] { system.fail(call, with: EINTR) }
        prefs["b"] = 5
        #expect(prefs.outcome == "ok")
        system.fail("read", with: EINTR)
        prefs.flush()
        #expect(prefs.ints == ["a": 1, "b": 5])
        #expect(try onDisk() == ["a": 1, "b": 5])
    }

    @Test func aReadThatFailsIsTriedAgain() throws {
        try writePropertyList(["AnyPrefs": ["a": 7]], to: folder.file())
        system.fail("open", with: EMFILE)
        // What is known of the file: its last good copy.
        #expect(prefs.ints == ["a": 1])
        #expect(prefs.lastError?.detail(of: PrefsError.unreadable)?.code == EMFILE, "\(prefs.outcome)")
        #expect(prefs.ints == ["a": 7])
    }

    @Test func aFailureIsThatOfEveryWriterOfTheBatch() throws {
        // Every fsync fails while the threads write. No thread may report success or read its value.
        for _ in 0..<1_000 { system.fail("fsync", with: EIO) }
        let store = PropertyListFileStore(url: folder.file(), system: system)
        inThreads(8) { number in
            for _ in 0..<10 {
                let error = AnyPrefs(store: store).update { $0["b"] = ($0["b"] as? Int ?? 0) + number }
                if case .notStored = error {} else { Issue.record("\(String(describing: error))") }
            }
        }
        #expect(prefs.ints == ["a": 1])
        #expect(try onDisk() == ["a": 1])
    }

    @Test func writersShareCommits() {
        let store = PropertyListFileStore(url: folder.file(), system: system)
        inThreads(8) { _ in
            for _ in 0..<50 { AnyPrefs(store: store).update { $0["a"] = ($0["a"] as? Int ?? 0) + 1 } }
        }
        #expect(prefs.ints == ["a": 401])
        #expect(system.takeCalls().filter { $0 == "rename" }.count < 400)
    }

    @Test func anEditWithinOneStepOfTheClockIsSeen() throws {
        // The edit keeps the size and is in place, so neither the size nor, within one step, the times show it.
        system.frozenTime = FileStatus.Time(seconds: 1_000, nanoseconds: 1)
        for number in 10..<60 {
            prefs["a"] = 5
            let handle = try FileHandle(forWritingTo: folder.file())
            try handle.write(contentsOf: PropertyListCoder.encode(plain: ["AnyPrefs": ["a": number]], as: .binary))
            try handle.close()
            #expect(prefs.ints == ["a": number])
        }
    }

    @Test func onceTheClockHasMovedOnBytesAreNotLookedAtAgain() {
        system.isClockAhead = false
        system.frozenTime = FileStatus.Time(seconds: 1_000, nanoseconds: 1)
        prefs["a"] = 5
        _ = prefs.values
        #expect(system.takeCalls().suffix(4).contains("read"))
        system.frozenTime = nil
        system.isClockAhead = true
        _ = prefs.values
        _ = prefs.values
        _ = system.takeCalls()
        _ = prefs.values
        #expect(system.takeCalls() == ["fstat"])
    }

    @Test func deletingNothingCreatesNothing() throws {
        let other = AnyPrefs(store: PropertyListFileStore(url: folder.file("deep/other.plist"), system: system))
        other.deleteAll()
        other.clear()
        other.values = [:]
        #expect(other.outcome == "ok")
        #expect(try !folder.names().contains("deep"))
    }

    @Test func descriptorsAreNotLeaked() {
        let system = RecordingSystemCalls()
        for name in ["one", "two"] {
            let prefs = AnyPrefs(store: PropertyListFileStore(url: folder.file(name), system: system))
            for number in 0..<10 {
                prefs["a"] = number
                system.fail("fsync", with: EIO)
                prefs["a"] = -1
                prefs.flush()
            }
        }
        #expect(system.openDescriptors.isEmpty && system.doubleCloses == 0)
    }
}
