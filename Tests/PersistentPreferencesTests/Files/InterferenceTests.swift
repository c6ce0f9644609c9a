import Foundation
import TestSupport
import Testing

@testable import PersistentPreferences

/// What others do in the middle of a commit.
@Suite struct InterferenceTests {
    private let folder: TemporaryFolder
    private let system = Interfering()

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Lets something happen right after a call, once.
    private final class Interfering: SystemCalls, @unchecked Sendable {
        nonisolated(unsafe) var afterSync: (() -> Void)?
        nonisolated(unsafe) var afterLock: (() -> Void)?
        nonisolated(unsafe) var locks = 0

        override func synchronize(_ descriptor: Descriptor) throws(StorageFailure) {
            try super.synchronize(descriptor)
            afterSync?()
            afterSync = nil
        }

        override func lock(_ descriptor: Descriptor, waits: Bool) throws(StorageFailure) {
            try super.lock(descriptor, waits: waits)
            locks += 1
            afterLock?()
            afterLock = nil
        }
    }

    private func prefs() -> AnyPrefs {
        AnyPrefs(store: PropertyListFileStore(url: folder.file(), system: system))
    }

    @Test func aLinkPutInTheFilesPlaceIsNotReplaced() throws {
        let prefs = prefs()
        prefs["a"] = 1
        let (file, target) = (folder.file(), folder.file("target.plist"))
        try writePropertyList(["AnyPrefs": ["a": 7]], to: target)
        system.afterSync = {
            try? FileManager.default.removeItem(at: file)
            try? FileManager.default.createSymbolicLink(at: file, withDestinationURL: target)
        }
        prefs["a"] = 2
        #expect(prefs.outcome == "\(file.path): a link took the place of the file; the stored state is unchanged")
        // The next access follows it.
        #expect(prefs.ints == ["a": 7])
        prefs["b"] = 3
        #expect(try propertyList(at: target)["AnyPrefs"] as? [String: Int] == ["a": 7, "b": 3])
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: file.path) == target.path)
    }

    @Test func aSidecarReplacedWhileItWasWaitedForIsLockedAnew() throws {
        let prefs = prefs()
        prefs["a"] = 1
        let sidecar = folder.file(".test.plist.lock")
        system.afterLock = {
            try? FileManager.default.removeItem(at: sidecar)
            try? Data().write(to: sidecar)
        }
        system.locks = 0
        prefs["a"] = 2
        #expect(prefs.outcome == "ok")
        #expect(system.locks == 2)
    }

    @Test func aFolderMovedMeanwhileTakesTheCommitWithIt() throws {
        let inner = folder.file("inner")
        let moved = folder.file("moved")
        let prefs = AnyPrefs(
            store: PropertyListFileStore(url: inner.appending(path: "test.plist"), system: system))
        prefs["a"] = 1
        system.afterSync = { try? FileManager.default.moveItem(at: inner, to: moved) }
        prefs["a"] = 2
        // One whole state in one folder, and nothing left behind in either.
        let root = try propertyList(at: moved.appending(path: "test.plist"))["AnyPrefs"]
        #expect(root as? [String: Int] == ["a": 2])
        #expect(try FileManager.default.contentsOfDirectory(atPath: moved.path).filter { $0.hasSuffix("tmp") } == [])
    }
}
