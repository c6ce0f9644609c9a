@testable import PrefsSupport
import Foundation
import Testing

@testable import EngineSupport
@testable import PersistentPreferences
@testable import PrefsFileEngine

/// The system calls of the engine: their number for a read and a write.
@Suite struct EngineTests {
    private let folder = TemporaryFolder.fresh
    private let system = RecordingSystemCalls()
    private let prefs: AnyPrefs

    init() {
        prefs = AnyPrefs(values: ["a": 1], store: .propertyList(url: folder.file(), system: system))
        _ = prefs.values
        _ = system.takeCalls()
    }

    @Test func aReadAndAnEqualWriteAreOneFstat() {
        let accesses = [
            { _ = prefs["a"] }, { _ = prefs.values }, { prefs["a"] = 1 }, { prefs.values = ["a": 1] },
            { prefs.values["a"] = NSNumber(value: 1) },
        ]
        for access in accesses {
            access()
            #expect(system.takeCalls() == ["fstat"])
        }
        prefs.resetAll()
        _ = system.takeCalls()
        prefs.resetAll()
        #expect(system.takeCalls() == ["fstat"])
    }

    @Test func aWriteIsSyncedRenamedAndSyncedAgain() {
        for write in [{ prefs["a"] = 2 }, { prefs.update { for number in 3..<50 { prefs["a"] = number } } }] {
            write()
            let steps = system.takeCalls().filter { ["flock", "fsync", "rename"].contains($0) }
            // The last good copy is written in place and not synced.
            #expect(steps == ["flock", "fsync", "rename", "fsync"])
        }
        prefs.update { for number in [1, 49] { prefs["a"] = number } }
        #expect(!system.takeCalls().contains("rename"), "there and back")
    }

    @Test func anUnflushedWriteIsNotSynced() {
        let other = AnyPrefs(
            store: .propertyList(url: folder.file("other.plist"), durability: .crash, system: system))
        _ = system.takeCalls()
        other["a"] = 2
        let steps = system.takeCalls().filter { ["fsync", "rename"].contains($0) }
        #expect(steps == ["rename", "rename"])
    }

    @Test func deletingNothingCreatesNothing() throws {
        let other = AnyPrefs(store: .propertyList(url: folder.file("deep/other.plist"), system: system))
        other.deleteRoot()
        other.resetAll()
        other.values = [:]
        #expect(other.outcome == "ok")
        #expect(try !folder.names().contains("deep"))
    }

    @Test func descriptorsAreNotLeaked() {
        let system = RecordingSystemCalls()
        for name in ["one", "two"] {
            let prefs = AnyPrefs(store: .propertyList(url: folder.file(name), system: system))
            for number in 0..<10 {
                prefs["a"] = number
                system.fail("fsync", with: EIO)
                prefs["a"] = -1
                prefs.reload()
            }
        }
        #expect(system.openDescriptors.isEmpty && system.doubleCloses == 0)
    }
}
