import Foundation
import TestSupport
import Testing

@testable import EngineSupport
@testable import PrefsFileEngine

/// Calls that a file system refuses, or reports as failed although it has done the work.
@Suite final class RefusedCallTests: FolderSuite {
    // MARK: - What a failure says

    /// A filter of system calls may answer with either code. Only the calls of a watch can be allowed for themselves.
    @Test(arguments: [EPERM, ENOSYS], ["inotify_init", "epoll_create1", "eventfd", "timerfd_create", "open", "fsync"])
    func aForbiddenCallOfAWatchIsExplained(_ code: Int32, _ call: String) {
        let advice = "; allow this call in the filter of system calls (seccomp) of this process"
        let expected = String(cString: strerror(code)) + (["open", "fsync"].contains(call) ? "" : advice)
        #expect(StorageFailure(call, "", code: code).reason == expected)
    }

    /// With a path that the user knows, whether a call or something else has failed.
    @Test func aFailureKeepsWhatItSaysWithAnotherPath() {
        let call = StorageFailure("open", "name", code: EMFILE).at("/p")
        #expect(call == StorageFailure("open", "/p", code: EMFILE) && call.code == EMFILE)
        let other = StorageFailure(path: "name", reason: "no room", code: ENOSPC).at("/p")
        #expect(other == StorageFailure(path: "/p", reason: "no room", code: ENOSPC) && other.code == ENOSPC)
    }

    // MARK: - chmod

    /// A file system whose files all have one mode, which cannot be changed.
    private func fixedMode(_ mode: mode_t, _ code: Int32) -> RecordingSystemCalls {
        let system = RecordingSystemCalls()
        system.afterOpen = { _, opened, flags in if flags & O_CREAT != 0 { fchmod(opened, mode) } }
        system.onCall = { call throws(StorageFailure) in
            if call == "chmod" { throw StorageFailure("chmod", "", code: code) }
        }
        return system
    }

    @Test(arguments: [EPERM, ENOTSUP, EOPNOTSUPP, ENOSYS], [true, false])
    func aRefusedModeIsAccepted(_ code: Int32, _ isOnServer: Bool) throws {
        // Without a mode there is no file yet. The last one is that of a local file system that keeps modes.
        let modes: [(mode: mode_t?, fixed: mode_t)] = [
            (0o644, 0o644), (0o644, 0o744), (0o600, 0o700), (nil, 0o700), (0o644, 0o600),
        ]
        for (mode, fixed) in isOnServer ? modes : modes.dropLast() {
            try? FileManager.default.removeItem(at: folder.file())
            unlink(folder.file(".test.plist.lastgood").path)
            if let mode {
                try writePropertyList(["Root": ["a": 1]], to: folder.file())
                chmod(folder.file().path, mode)
            }
            let system = fixedMode(fixed, code)
            if isOnServer { system.kind = .server }
            let prefs = folder.root(system: system)
            prefs["a"] = 2
            #expect(prefs.outcome == "ok" && prefs.ints == ["a": 2])
            for name in ["test.plist", ".test.plist.lastgood"] { #expect(try folder.permissions(name) == Int(fixed)) }
        }
    }

    /// A local file system keeps modes, so the file would lose its own in silence.
    @Test(arguments: [EPERM, ENOTSUP, EOPNOTSUPP, ENOSYS], [FileSystem.local, .overlay])
    func aModeThatALocalFileWouldLoseIsKept(_ code: Int32, _ kind: FileSystem) throws {
        for mode in [0o644, 0o640, 0o400] {
            try? FileManager.default.removeItem(at: folder.file())
            try writePropertyList(["Root": ["a": 1]], to: folder.file())
            chmod(folder.file().path, mode_t(mode))
            let system = fixedMode(0o600, code)
            system.kind = kind
            let prefs = folder.root(system: system)
            prefs["a"] = 2
            let (octal, reason) = (String(mode, radix: 8), String(cString: strerror(code)))
            let expected = "its mode cannot be set to 0\(octal): \(reason); a filter of the process may refuse chmod"
            #expect(prefs.outcome == "not stored: \(folder.file().path): \(expected)")
            #expect(try prefs.ints == ["a": 1] && folder.permissions() == mode)
            #expect(try folder.names() == [".test.plist.lock", "test.plist"])
        }
    }

    /// - Parameter mode: the mode of the file; nil for a new file, which only its owner may use.
    @Test(arguments: [(nil, 0o640), (0o600, 0o640), (0o640, 0o644), (0o644, 0o666), (0o644, 0o4644)])
    func aModeThatGivesOthersMoreIsRejected(_ mode: Int?, _ fixed: Int) throws {
        if let mode {
            try writePropertyList(["Root": ["a": 1]], to: folder.file())
            chmod(folder.file().path, mode_t(mode))
        }
        let prefs = folder.root(system: fixedMode(mode_t(fixed), EPERM))
        prefs["a"] = 2
        #expect(prefs.outcome == "not stored: \(folder.file().path): chmod: Operation not permitted")
        #expect(prefs.ints == (mode == nil ? [:] : ["a": 1]))
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(names == [".test.plist.lock"] + (mode == nil ? [] : ["test.plist"]))
    }

    #if os(Linux)
        /// What a write says under the real filter of a sandbox.
        private func outcome(refusing call: CallFilter.Call, with code: Int32) -> String? {
            nonisolated(unsafe) var outcome: String?
            let folder = folder
            let isFiltered = CallFilter.refuse(call, with: code) {
                let prefs = folder.root(system: RecordingSystemCalls())
                prefs["a"] = 2
                outcome = prefs.outcome
            }
            return isFiltered ? outcome : nil
        }

        @Test(arguments: [0o600, 0o640]) func aFileThatAFilterWouldCloseKeepsItsMode(_ mode: Int) throws {
            try writePropertyList(["Root": ["a": 1]], to: folder.file())
            chmod(folder.file().path, mode_t(mode))
            guard let outcome = outcome(refusing: .fchmod, with: EPERM) else { return }
            let reason =
                "its mode cannot be set to 0640: Operation not permitted; a filter of the process may refuse chmod"
            #expect(outcome == (mode == 0o600 ? "ok" : "not stored: \(folder.file().path): \(reason)"))
            #expect(try folder.permissions() == mode && folder.root().ints == ["a": mode == 0o600 ? 2 : 1])
        }
    #endif

    // MARK: - rename

    /// Does something instead of each rename of the preferences file, and reports an error.
    private final class FailingRename: SystemCalls, @unchecked Sendable {
        let action: @Sendable (_ name: String, _ newName: String, _ folder: Int32) -> Void
        init(_ action: @escaping @Sendable (String, String, Int32) -> Void) { self.action = action }

        override func rename(_ name: String, to newName: String, in folder: Descriptor) throws(StorageFailure) {
            guard newName == "test.plist" else { return try super.rename(name, to: newName, in: folder) }
            action(name, newName, folder)
            throw StorageFailure("rename", name, code: EIO)
        }
    }

    /// A program that repeats a failed update must not count twice.
    @Test func aRenameThatWasDoneIsASuccess() {
        let prefs = folder.root(system: FailingRename { renameat($2, $0, $2, $1) })
        for number in 1...3 {
            #expect(prefs.update { prefs["a"] = (prefs["a"] as? Int ?? 0) + 1 } == nil)
            #expect(prefs.ints == ["a": number] && folder.root().ints == ["a": number])
        }
        #expect(prefs.errors == [])
    }

    /// The rename was not done, or neither name shows the new file.
    @Test(arguments: [true, false]) func aRenameThatWasNotDoneIsReported(_ isKnown: Bool) throws {
        folder.root()["a"] = 1
        let prefs = folder.root(system: FailingRename { name, _, folder in if !isKnown { unlinkat(folder, name, 0) } })
        prefs["a"] = 2
        let outcome = "\(folder.file().path): rename: Input/output error"
        #expect(prefs.outcome == (isKnown ? "not stored: \(outcome)" : "unknown: \(outcome)"))
        #expect(prefs.ints == ["a": 1] && folder.root().ints == ["a": 1])
        #expect(!FileManager.default.fileExists(atPath: folder.file(".test.plist.tmp").path))
    }

    /// The server may still do the rename, so the bytes in quarantine may then be the only ones.
    @Test func damageStaysInQuarantineWhileTheOutcomeIsUnknown() throws {
        folder.root()["a"] = 1
        let damage = Data("bplist00 damaged".utf8)
        try damage.write(to: folder.file())
        let prefs = folder.root(system: FailingRename { name, _, folder in unlinkat(folder, name, 0) })
        prefs["a"] = 2
        #expect(prefs.outcome == "unknown: \(folder.file().path): rename: Input/output error")
        #expect(try folder.quarantined.map { try Data(contentsOf: folder.file($0)) } == [damage])
    }

    // MARK: - Locks and leases

    /// Like NFS: locks only what is open for writing.
    private final class LockingWritableFiles: SystemCalls, @unchecked Sendable {
        override func lock(_ descriptor: Descriptor, waits: Bool) throws(StorageFailure) {
            guard fcntl(descriptor, F_GETFL) & O_ACCMODE == O_RDWR else {
                throw StorageFailure("flock", "", code: EBADF)
            }
            try super.lock(descriptor, waits: waits)
        }
    }

    @Test(arguments: [nil, Duration.seconds(30)])
    func aLockFileIsLockedThroughAWritableDescriptor(_ timeout: Duration?) {
        folder.root()["a"] = 1
        let prefs = folder.root(system: LockingWritableFiles())
        LockWait.within(timeout) { prefs["a"] = 2 }
        #expect(prefs.outcome == "ok" && prefs.ints == ["a": 2])
    }

    @Test(arguments: [EACCES, EPERM, EROFS]) func aLockFileThatMayNotBeWrittenIsLockedToo(_ code: Int32) {
        folder.root()["a"] = 1
        let system = RecordingSystemCalls()
        system.beforeOpen = { name, _, flags throws(StorageFailure) in
            if name.hasSuffix(".lock"), flags & (O_ACCMODE | O_CREAT) == O_RDWR {
                throw StorageFailure("open", name, code: code)
            }
        }
        let prefs = folder.root(system: system)
        prefs["a"] = 2
        #expect(prefs.outcome == "ok" && prefs.ints == ["a": 2])
    }

    @Test(arguments: [nil, Duration.seconds(30)]) func aFileThatCannotBeLockedIsNotCalledLocked(_ timeout: Duration?) {
        folder.root()["a"] = 1
        let system = RecordingSystemCalls()
        let prefs = folder.root(system: system)
        system.fail("flock", with: ENOLCK)
        LockWait.within(timeout) { prefs["a"] = 2 }
        let reason = String(cString: strerror(ENOLCK))
        #expect(prefs.outcome == "not stored: \(folder.file(".test.plist.lock").path): flock: \(reason)")
        #expect(prefs.ints == ["a": 1])
    }

    #if os(Linux)
        // MARK: - Attributes

        /// Where the call does not exist, no file has attributes. After another error, a file may have some.
        @Test(arguments: [ENOSYS, EIO, EPERM]) func aMissingCallForAttributesMeansThatThereAreNone(_ code: Int32) throws
        {
            try writePropertyList(["Root": ["a": 1]], to: folder.file())
            guard let outcome = outcome(refusing: .flistxattr, with: code) else { return }
            let reason = "its extended attributes cannot be kept: \(String(cString: strerror(code)))"
            #expect(outcome == (code == ENOSYS ? "ok" : "not stored: \(folder.file().path): \(reason)"))
            #expect(folder.root().ints == ["a": code == ENOSYS ? 2 : 1])
        }

        /// A FIFO takes the name of a leased file. It is not opened, because that would block for ever.
        @Test func aFIFOInPlaceOfALeasedFileDoesNotBlock() throws {
            let system = RecordingSystemCalls()
            system.beforeOpen = { name, folder, flags throws(StorageFailure) in
                guard name == "test.plist", flags & O_NONBLOCK != 0 else { return }
                unlinkat(folder, name, 0)
                mkfifoat(folder, name, 0o600)
                throw StorageFailure("open", name, code: EWOULDBLOCK)
            }
            try writePropertyList(["Root": ["a": 1]], to: folder.file())
            #expect(folder.root(system: system).outcome == "unreadable: \(folder.file().path): is a FIFO")
        }
    #endif
}
