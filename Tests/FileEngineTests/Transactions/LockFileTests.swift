import Foundation
import TestSupport
import Testing

@testable import EngineSupport
@testable import PrefsFileEngine

/// The descriptor of the lock file, and errors of `flock`.
@Suite final class LockFileTests: FolderSuite {
    /// Like NFS: locks only what is open for writing.
    private class LockingWritableFiles: SystemCalls, @unchecked Sendable {
        override func lock(_ descriptor: Descriptor, waits: Bool) throws(StorageFailure) {
            guard fcntl(descriptor, F_GETFL) & O_ACCMODE == O_RDWR else {
                throw StorageFailure("flock", "", code: EBADF)
            }
            try super.lock(descriptor, waits: waits)
        }
    }

    /// Lets the lock file be opened read-only.
    private final class Barring: SystemCalls, @unchecked Sendable {
        let code: Int32
        init(_ code: Int32) { self.code = code }

        override func open(
            _ name: String, in folder: Descriptor, _ flags: Int32, mode: mode_t
        ) throws(StorageFailure) -> Descriptor {
            if name.hasSuffix(".lock"), flags & (O_ACCMODE | O_CREAT) == O_RDWR {
                throw StorageFailure("open", name, code: code)
            }
            return try super.open(name, in: folder, flags, mode: mode)
        }
    }

    override init() throws {
        try super.init()
        folder.root()["a"] = 1
    }

    @Test(arguments: [nil, Duration.seconds(30)])
    func aLockFileIsLockedThroughAWritableDescriptor(_ timeout: Duration?) {
        let prefs = folder.root(system: LockingWritableFiles())
        LockWait.within(timeout) { prefs["a"] = 2 }
        #expect(prefs.outcome == "ok" && prefs.ints == ["a": 2])
    }

    @Test(arguments: [EACCES, EPERM, EROFS]) func aLockFileThatMayNotBeWrittenIsLockedToo(_ code: Int32) {
        let prefs = folder.root(system: Barring(code))
        prefs["a"] = 2
        #expect(prefs.outcome == "ok" && prefs.ints == ["a": 2])
    }

    @Test(arguments: [nil, Duration.seconds(30)]) func aFileThatCannotBeLockedIsNotCalledLocked(_ timeout: Duration?) {
        let system = RecordingSystemCalls()
        let prefs = folder.root(system: system)
        system.fail("flock", with: ENOLCK)
        LockWait.within(timeout) { prefs["a"] = 2 }
        let reason = String(cString: strerror(ENOLCK))
        #expect(prefs.outcome == "not stored: \(folder.file(".test.plist.lock").path): flock: \(reason)")
        #expect(prefs.ints == ["a": 1])
    }
}
