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
        let prefs = prefs()
        system.failFlush(2)
        prefs["a"] = 1
        #expect(
            prefs.outcome.hasSuffix("the new state is stored, but an older one may return after a power cut or damage"))
        _ = syncs()
        prefs["a"] = 1
        #expect(prefs.outcome == "ok")
        #expect(syncs() == 3)
        prefs["a"] = 1
        prefs.values = ["a": 1]
        #expect(syncs() == 0)
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

    /// In memory as on disk. The same date again changes nothing.
    @Test(arguments: [(FileFormat.xml, 5.75, 5.0), (.xml, -1.25, -2.0), (.xml, -0.0, 0.0), (.binary, -1.25, -1.25)])
    func xmlRoundsADateDown(_ format: FileFormat, _ seconds: TimeInterval, _ stored: TimeInterval) {
        let prefs = AnyPrefs(store: PropertyListFileStore(url: folder.file(), format: format, system: system))
        for isFirst in [true, false] {
            prefs["a"] = ["nested": [Date(timeIntervalSinceReferenceDate: seconds)]]
            #expect(system.takeCalls().contains("rename") == isFirst)
            for _ in 0..<2 {
                let read = (prefs["a"] as? [String: [Date]])?["nested"]?.first?.timeIntervalSinceReferenceDate
                #expect(read?.bitPattern == stored.bitPattern)
                prefs.flush()
            }
        }
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
        let prefs = prefs()
        prefs["a"] = 1
        prefs.deleteAll()
        #expect(prefs.outcome == "ok")
        for write in [{ prefs["a"] = 1 }, { prefs.deleteAll() }] {
            system.failFlush(2)
            write()
            #expect(prefs.outcome.hasSuffix("an older one may return after a power cut or damage"))
        }
        _ = syncs()
        prefs.deleteAll()
        #expect(prefs.outcome == "ok")
        #expect(syncs() == 2)
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
        let (first, second) = (prefs(), prefs())
        var isRenamed = false
        var flushes: Int?
        system.onCall = { [self] name in
            if isRenamed {
                system.onCall = nil
                _ = syncs()
                second["a"] = 1
                flushes = syncs()
            }
            isRenamed = name == "rename"
        }
        first["a"] = 1
        // The file, its folder, and the folder above.
        #expect(flushes == 3)
        _ = syncs()
        second["a"] = 1
        #expect(syncs() == 0)
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

    // MARK: - The last good copy, which never brings back what a commit has deleted

    /// A deleted value does not come back, even if there was no room for a new copy.
    @Test(arguments: ["write", "open", "rename"]) func theCopyDoesNotOutliveADeletion(_ call: String) throws {
        let prefs = prefs()
        prefs.values = ["a": 1, "b": 2]
        var calls = 0
        let isWrite = call == "write"
        // Only a copy of the first edition is renamed into place.
        if call == "rename" { try Data(contentsOf: folder.file()).write(to: folder.file(".test.plist.lastgood")) }
        system.onCall = { [system] name throws(StorageFailure) in
            // The copy is written after the file has its name.
            if name == "rename" { calls += 1 }
            guard name == call, calls >= (call == "rename" ? 2 : 1), !system.isHealed else { return }
            throw StorageFailure(name, "", code: isWrite ? ENOSPC : EACCES)
        }
        prefs.deleteAll()
        system.isHealed = true
        let names = try folder.names()
        #expect(
            !names.contains(".test.plist.lastgood") && !names.contains(".test.plist.tmp"), "\(names) \(prefs.outcome)")
        try folder.damage()
        #expect(self.prefs().values.isEmpty)
        #expect(AnyPrefs(store: PropertyListFileStore(url: folder.file())).values.isEmpty)
    }

    @Test func aCopyThatCannotBeRemovedIsReported() throws {
        let prefs = prefs()
        prefs.values = ["a": 1, "b": 2]
        var renames = 0
        system.onCall = { name throws(StorageFailure) in
            if name == "rename" { renames += 1 }
            if renames > 0, name == "write" || name == "unlink" { throw StorageFailure(name, "", code: EIO) }
        }
        prefs["a"] = nil
        system.onCall = nil
        let failure = try #require(prefs.lastError?.detail(of: PrefsError.durabilityUnconfirmed), "\(prefs.outcome)")
        #expect(failure.operation == "unlink" && failure.path.hasSuffix(".lastgood"))
        #expect(prefs.ints == ["b": 2])
    }
}
