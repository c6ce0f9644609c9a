@testable import PrefsSupport
import Foundation
import TestSupport
import Testing

@testable import EngineSupport
@testable import PersistentPreferences
@testable import PrefsFileEngine

/// What a commit stores, and the last good copy beside it. `CrashTests` and its neighbors cut the power.
@Suite struct DurabilityTests {
    private let folder = TemporaryFolder.fresh
    private let system = RecordingSystemCalls()

    private func prefs() -> AnyPrefs { folder.prefs(system: system) }

    private func syncs() -> Int {
        system.takeCalls().filter { $0 == "fsync" }.count
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
    @Test(arguments: [
        (FileFormat.plainXML, 5.75, 5.0), (.plainXML, -1.25, -2.0), (.plainXML, -0.0, 0.0), (.binary, -1.25, -1.25),
    ])
    func xmlRoundsADateDown(_ format: FileFormat, _ seconds: TimeInterval, _ stored: TimeInterval) {
        let prefs = AnyPrefs(store: .propertyList(url: folder.file(), format: format, system: system))
        for isFirst in [true, false] {
            prefs["a"] = ["nested": [Date(timeIntervalSinceReferenceDate: seconds)]]
            #expect(system.takeCalls().contains("rename") == isFirst)
            for _ in 0..<2 {
                let read = (prefs["a"] as? [String: [Date]])?["nested"]?.first?.timeIntervalSinceReferenceDate
                #expect(read?.bitPattern == stored.bitPattern)
                prefs.reload()
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

    @Test func whatIsMadeAndRemovedInOneUpdateMakesNoFile() throws {
        let prefs = prefs()
        let error = prefs.update {
            prefs["a"] = 1
            prefs.deleteRoot()
        }.failure
        #expect(error == nil)
        #expect(try folder.names() == [".test.plist.lock"])
    }

    /// Another thread's equal write, between the rename and the flush of the first, must not succeed before it.
    @Test func anEqualWriteWaitsForTheFlushOfWhatItIsEqualTo() {
        let (first, second) = (prefs(), prefs())
        let file = FileRegistry.shared.file(at: folder.file().path, system: system)
        let steps = Locked<[String]>([])
        let ended = DispatchSemaphore(value: 0)
        system.onCall = { [system] name in
            guard name == "rename" else { return }
            // The calls after the rename.
            system.onCall = { name in
                let isFirst = steps.withLock { steps in
                    defer { if name == "fsync" { steps.append("flush") } }
                    return name == "fsync" && steps.isEmpty
                }
                guard isFirst else { return }
                Thread.detachNewThread {
                    second["a"] = 1
                    steps.withLock { $0.append("equal write: \(second.outcome)") }
                    ended.signal()
                }
                while file.queue.waiting == 0, steps.withLock({ $0.count }) == 1 { usleep(100) }
            }
        }
        first["a"] = 1
        ended.wait()
        // The flushes of the folder and of the folder above it.
        #expect(steps.withLock { $0 } == ["flush", "flush", "equal write: ok"])
        system.onCall = nil
        _ = syncs()
        second["a"] = 1
        #expect(syncs() == 0)
    }

    /// As long as the file is being replaced, a write that equals it relies on it.
    @Test func anEqualWriteFlushesWhatIsBeingReplaced() {
        let careless = AnyPrefs(store: .propertyList(url: folder.file(), durability: .crash, system: system))
        careless["a"] = 1
        let (first, second) = (prefs(), prefs())
        let file = FileRegistry.shared.file(at: folder.file().path, system: system)
        let waits = Locked<Bool?>(nil)
        let ended = DispatchSemaphore(value: 0)
        system.onCall = { name in
            guard name == "rename", waits.withLock({ $0 }) == nil else { return }
            let isOver = Locked(false)
            Thread.detachNewThread {
                second["a"] = 1
                isOver.withLock { $0 = true }
                ended.signal()
            }
            while file.queue.waiting == 0, !isOver.withLock({ $0 }) { usleep(100) }
            waits.withLock { $0 = file.queue.waiting > 0 }
        }
        first["a"] = 2
        ended.wait()
        system.onCall = nil
        // The second write waits for its turn. It has changed nothing, so it counts as the earlier one.
        #expect(waits.withLock { $0 } == true)
        #expect(second.ints == ["a": 2] && second.outcome == "ok", "\(second.outcome)")
    }

    /// The file that was not flushed is still there.
    @Test func aWriteThatFailsLeavesTheFlushThatIsOwed() {
        let careless = AnyPrefs(store: .propertyList(url: folder.file(), durability: .crash, system: system))
        careless["a"] = 1
        let prefs = prefs()
        system.fail("rename", with: EIO)
        prefs["b"] = 2
        #expect(prefs.outcome.contains("rename: Input/output error"))
        _ = syncs()
        prefs["a"] = 1
        #expect(prefs.outcome == "ok" && syncs() == 3)
        prefs["a"] = 1
        #expect(syncs() == 0)
        #expect(careless.ints == ["a": 1])
    }

    @Test func anEqualWriteInAnUpdateRaisesItsDurability() {
        let careless = AnyPrefs(store: .propertyList(url: folder.file(), durability: .crash, system: system))
        let prefs = prefs()
        prefs["a"] = 1
        for isRaised in [false, true] {
            _ = syncs()
            careless.update {
                careless["b"] = isRaised ? 1 : 2
                if isRaised { prefs["a"] = 1 }
            }
            #expect(careless.outcome == "ok" && prefs.outcome == "ok")
            #expect(syncs() == (isRaised ? 2 : 0))
        }
    }

    @Test func anEqualWriteToAFileThatCannotBeReadIsRejected() throws {
        prefs()["a"] = 1
        let prefs = prefs()
        try writePropertyList(["AnyPrefs": ["a": 1]], to: folder.file())
        let before = try FolderState(folder)
        system.fail("open", with: EACCES)
        prefs["a"] = 1
        #expect(prefs.outcome.contains("open: Permission denied"), "\(prefs.outcome)")
        system.heal()
        #expect(try FolderState(folder) == before)
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
        prefs.deleteRoot()
        system.isHealed = true
        let names = try folder.names()
        #expect(
            !names.contains(".test.plist.lastgood") && !names.contains(".test.plist.tmp"), "\(names) \(prefs.outcome)")
        try folder.damage()
        #expect(self.prefs().values.isEmpty)
        #expect(AnyPrefs(store: .propertyList(url: folder.file())).values.isEmpty)
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
