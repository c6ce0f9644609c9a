@testable import PrefsSupport
import Foundation
import Testing

@testable import EngineSupport
@testable import PersistentPreferences
@testable import PrefsFileEngine

/// An acknowledged state is durable, even if another process has written it.
@Suite struct DurabilityTests {
    private let folder = TemporaryFolder.fresh
    private let system = RecordingSystemCalls()

    private func prefs(_ durability: PropertyListFileStore.Durability = .powerCut) -> AnyPrefs {
        AnyPrefs(store: PropertyListFileStore(url: folder.file(), durability: durability, system: system))
    }

    private func syncs() -> Int {
        system.takeCalls().filter { $0 == "fsync" }.count
    }

    @Test func anEqualWriteAfterAFailedFlushFlushesAgain() throws {
        let system = FailingFlush(2)
        let prefs = AnyPrefs(store: PropertyListFileStore(url: folder.file(), system: system))
        prefs["a"] = 1
        #expect(
            prefs.outcome.hasSuffix("the new state is stored, but an older one may return after a power cut or damage"))
        prefs["a"] = 1
        #expect(prefs.outcome == "ok")
        #expect(system.syncs == 5)
        prefs["a"] = 1
        prefs.values = ["a": 1]
        #expect(system.syncs == 5)
    }

    @Test func anUpdateThatChangesNothingFlushesWhatIsNotFlushedYet() {
        let (unsure, sure) = (prefs(.process), prefs())
        unsure["a"] = 1
        #expect(syncs() == 0)
        unsure["a"] = 1
        #expect(syncs() == 0)
        // The file, its folder, and the folder above.
        #expect(sure.update { $0["a"] = 1 } == nil)
        #expect(syncs() == 3)
        #expect(sure.update { $0["a"] = 1 } == nil)
        #expect(syncs() == 0)
    }

    @Test func theSurestWriteOfAnUpdateCounts() {
        let (unsure, sure) = (prefs(.process), prefs())
        unsure.update { sure["a"] = 1 }
        #expect(syncs() == 3)
        unsure.update { unsure["a"] = 2 }
        #expect(syncs() == 0)
    }

    @Test func whatCouldNotBeReadAgainIsNotStored() throws {
        prefs()["a"] = 1
        let file = FileRegistry.shared.file(at: folder.file().path, system: system)
        var deep = StoredValue.integer(1)
        for _ in 0..<200 { deep = .array([deep]) }
        do {
            try file.queue.transact(durability: .powerCut, begin: file.begin) { $0["Deep"] = deep }
            Issue.record("stored")
        } catch FileError.notStored(let failure) {
            #expect(failure.reason == "could not be read again: nested deeper than 80 levels")
        }
        #expect(prefs().ints == ["a": 1])
    }

    @Test func aDateThatXMLRoundsToTheStoredOneChangesNothing() {
        let prefs = AnyPrefs(store: PropertyListFileStore(url: folder.file(), format: .xml, system: system))
        prefs["a"] = Date(timeIntervalSinceReferenceDate: 5.75)
        _ = system.takeCalls()
        prefs["a"] = Date(timeIntervalSinceReferenceDate: 5.75)
        #expect(!system.takeCalls().contains("rename"))
        prefs["b"] = Date(timeIntervalSinceReferenceDate: -0.0)
        let stored = (prefs["b"] as? Date)?.timeIntervalSinceReferenceDate
        prefs.flush()
        #expect((prefs["b"] as? Date)?.timeIntervalSinceReferenceDate.bitPattern == stored?.bitPattern)
    }

    @Test func aChangeInPlaceOfWhatCouldNotBeReadStoresNothing() throws {
        func bump(_ values: inout [String: Any]) { values["a"] = (values["a"] as? Int ?? 0) + 1 }
        let prefs = prefs()
        prefs["a"] = 41
        try writePropertyList(["AnyPrefs": ["a": 41, "b": 1]], to: folder.file())
        system.fail("open", with: EMFILE)
        bump(&prefs.values)
        #expect(
            prefs.outcome
                == "\(folder.path)/test.plist: open: Too many open files; raise the limit of this process (ulimit -n); the stored state is unchanged"
        )
        #expect(prefs.errors.count == 1)
        #expect(prefs.ints == ["a": 41, "b": 1])
    }

    @Test func deletingAgainAfterAFailedFlushFlushesAgain() {
        let system = FailingFlush(2)
        let prefs = AnyPrefs(store: PropertyListFileStore(url: folder.file(), system: system))
        prefs["a"] = 1
        prefs.deleteAll()
        #expect(prefs.outcome == "ok")
        system.syncs = 0
        prefs["a"] = 1
        #expect(prefs.outcome.hasSuffix("an older one may return after a power cut or damage"))
        system.syncs = 0
        prefs.deleteAll()
        #expect(prefs.outcome.hasSuffix("an older one may return after a power cut or damage"))
        prefs.deleteAll()
        #expect(prefs.outcome == "ok")
        #expect(system.syncs == 4)
    }

    @Test func whatIsMadeAndRemovedInOneUpdateMakesNoFile() throws {
        let prefs = prefs()
        let error = prefs.update {
            prefs["a"] = 1
            prefs.deleteAll()
        }
        #expect(error == nil)
        #expect(try folder.names() == [".test.plist.lock"])
    }

    /// Another thread's equal write, between the rename and the flush of the first, must not succeed before it.
    @Test func anEqualWriteFlushesWhatItIsEqualTo() {
        final class Racing: SystemCalls, @unchecked Sendable {
            nonisolated(unsafe) var afterRename: (() -> Void)?
            nonisolated(unsafe) var syncs = 0
            override func synchronize(_ descriptor: Descriptor) throws(StorageFailure) {
                syncs += 1
                try super.synchronize(descriptor)
            }
            override func rename(_ name: String, to newName: String, in folder: Descriptor) throws(StorageFailure) {
                try super.rename(name, to: newName, in: folder)
                let action = afterRename
                afterRename = nil
                action?()
            }
        }
        let system = Racing()
        let store = PropertyListFileStore(url: folder.file(), system: system)
        let (first, second) = (AnyPrefs(store: store), AnyPrefs(store: store))
        nonisolated(unsafe) var syncs: Int?
        system.afterRename = {
            let before = system.syncs
            second["a"] = 1
            syncs = system.syncs - before
        }
        first["a"] = 1
        // The file, its folder, and the folder above.
        #expect(syncs == 3)
        let before = system.syncs
        second["a"] = 1
        #expect(system.syncs == before)
    }

    /// The other writer may have been killed before its flush.
    @Test func anEqualWriteFlushesWhatAnotherProcessWrote() throws {
        try writePropertyList(["AnyPrefs": ["a": 1]], to: folder.file())
        let prefs = prefs()
        #expect(syncs() == 0)
        prefs["a"] = 1
        #expect(prefs.outcome == "ok")
        #expect(syncs() == 3)
        prefs["a"] = 1
        prefs.deleteAll()
        #expect(syncs() == 2)
    }

    /// The system may have dropped the bytes, and a second flush of the file may do nothing.
    @Test func afterAFailedFlushTheStateIsWrittenAgain() throws {
        try writePropertyList(["AnyPrefs": ["a": 1]], to: folder.file())
        let prefs = prefs()
        system.fail("fsync", with: EIO)
        prefs["a"] = 1
        #expect(prefs.outcome.hasSuffix("an older one may return after a power cut or damage"))
        _ = system.takeCalls()
        prefs["a"] = 1
        #expect(prefs.outcome == "ok")
        #expect(system.takeCalls().filter { ["write", "fsync", "rename"].contains($0) }.contains("rename"))
        _ = prefs.update { $0["a"] = 1 }
        #expect(!system.takeCalls().contains("rename"))
    }
}
