import Foundation
import TestSupport
import Testing

@testable import EngineSupport
@testable import PrefsFileEngine

/// Calls that a file system refuses, or reports as failed although it has done the work.
@Suite final class RefusedCallTests: FolderSuite {
    // MARK: - chmod

    /// A file system whose files all have one mode, which cannot be changed.
    private final class FixedMode: SystemCalls, @unchecked Sendable {
        let (mode, code): (mode_t, Int32)
        init(_ mode: mode_t, _ code: Int32) { (self.mode, self.code) = (mode, code) }

        override func open(
            _ name: String, in folder: Descriptor, _ flags: Int32, mode: mode_t
        ) throws(StorageFailure) -> Descriptor {
            let descriptor = try super.open(name, in: folder, flags, mode: mode)
            if flags & O_CREAT != 0 { fchmod(descriptor, self.mode) }
            return descriptor
        }

        override func setPermissions(_ mode: UInt32, of descriptor: Descriptor) throws(StorageFailure) {
            throw StorageFailure("chmod", "", code: code)
        }
    }

    @Test(arguments: [EPERM, ENOTSUP, EOPNOTSUPP, ENOSYS]) func aRefusedModeIsAccepted(_ code: Int32) throws {
        try writePropertyList(["Root": ["a": 1]], to: folder.file())
        for (mode, fixed) in [(mode_t(0o644), mode_t(0o644)), (0o644, 0o600), (0o644, 0o744), (0o600, 0o700)] {
            chmod(folder.file().path, mode)
            unlink(folder.file(".test.plist.lastgood").path)
            let prefs = folder.root(system: FixedMode(fixed, code))
            prefs["a"] = Int(mode) * 1_000 + Int(fixed)
            #expect(prefs.outcome == "ok")
            for name in ["test.plist", ".test.plist.lastgood"] { #expect(try folder.permissions(name) == Int(fixed)) }
        }
    }

    @Test func aNewFileWithTheModeOfTheFileSystemIsAccepted() throws {
        let prefs = folder.root(system: FixedMode(0o700, ENOTSUP))
        prefs["a"] = 1
        #expect(prefs.outcome == "ok" && prefs.ints == ["a": 1])
        #expect(try folder.permissions(".test.plist.lastgood") == 0o700)
    }

    /// - Parameter mode: the mode of the file; nil for a new file, which only its owner may use.
    @Test(arguments: [(nil, 0o640), (0o600, 0o640), (0o640, 0o644), (0o644, 0o666), (0o644, 0o4644)])
    func aModeThatGivesOthersMoreIsRejected(_ mode: Int?, _ fixed: Int) throws {
        if let mode {
            try writePropertyList(["Root": ["a": 1]], to: folder.file())
            chmod(folder.file().path, mode_t(mode))
        }
        let prefs = folder.root(system: FixedMode(mode_t(fixed), EPERM))
        prefs["a"] = 2
        #expect(prefs.outcome == "not stored: \(folder.file().path): chmod: Operation not permitted")
        #expect(prefs.ints == (mode == nil ? [:] : ["a": 1]))
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(names == [".test.plist.lock"] + (mode == nil ? [] : ["test.plist"]))
    }

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

    // MARK: - Leases

    #if os(Linux)
        /// A FIFO takes the name of a leased file. It is not opened, because that would block for ever.
        @Test func aFIFOInPlaceOfALeasedFileDoesNotBlock() throws {
            final class Swapping: SystemCalls, @unchecked Sendable {
                override func open(
                    _ name: String, in folder: Descriptor, _ flags: Int32, mode: mode_t
                ) throws(StorageFailure) -> Descriptor {
                    if name == "test.plist", flags & O_NONBLOCK != 0 {
                        unlinkat(folder, name, 0)
                        mkfifoat(folder, name, 0o600)
                        throw StorageFailure("open", name, code: EWOULDBLOCK)
                    }
                    return try super.open(name, in: folder, flags, mode: mode)
                }
            }
            try writePropertyList(["Root": ["a": 1]], to: folder.file())
            #expect(folder.root(system: Swapping()).outcome == "unreadable: \(folder.file().path): is a FIFO")
        }
    #endif
}
