@testable import PrefsSupport
import Foundation
import Testing

@testable import EngineSupport
@testable import PersistentPreferences

/// The copy of the last commit: it never brings back what a commit has deleted.
@Suite struct LastGoodCopyTests {
    private let folder = TemporaryFolder.fresh
    /// System calls whose pauses take no time.
    private let system = RecordingSystemCalls()

    private func prefs() -> AnyPrefs { folder.prefs(system: system) }

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

    /// If the older copy cannot be removed either, the write says so.
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
