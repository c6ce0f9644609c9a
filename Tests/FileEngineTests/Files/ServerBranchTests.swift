import Foundation
import PrefsPropertyLists
import TestSupport
import Testing

@testable import EngineSupport
@testable import PrefsFileEngine

/// What only a server or SMB does, one moment in each test: a number or a stamp that is another one at the second look, a name that is gone,
/// an open that is refused.
@Suite final class ServerBranchTests: ServerSuite {
    /// In the place of the rename with that number, does something and reports an error.
    private func failRename(_ number: Int, _ code: Int32, _ action: @escaping () -> Void) {
        var renames = 0
        system.onCall = { name throws(StorageFailure) in
            renames += name == "rename" ? 1 : 0
            guard name == "rename", renames == number else { return }
            action()
            throw StorageFailure("rename", "", code: code)
        }
    }

    /// Another root has these values and can write, and nothing is left beside the file.
    private func expectOwnFile(_ ints: [String: Int], sourceLocation: SourceLocation = #_sourceLocation) throws {
        system.onCall = nil
        #expect(root().ints == ints, sourceLocation: sourceLocation)
        root()["b"] = 3
        #expect(root().ints == ints.merging(["b": 3]) { $1 }, sourceLocation: sourceLocation)
        let names = [".test.plist.lastgood", ".test.plist.lock", "test.plist"]
        #expect(try folder.names() == names, sourceLocation: sourceLocation)
    }

    /// Each look shows another number; or the stamp changes between the looks at the damaged file.
    @Test(arguments: [true, false]) func aDamagedFileIsCopiedWhateverItsStatus(_ hasChangingNumbers: Bool) throws {
        let prefs = root()
        prefs["a"] = 1
        try Data("hello".utf8).write(to: folder.file())
        system.hasChangingNumbers = hasChangingNumbers
        var isLocked = false
        system.onCall = { [unowned self] call in
            isLocked = isLocked || call == "flock"
            // Between the read of the damaged bytes and the look after it.
            if isLocked, call == "read", !hasChangingNumbers { utimes(folder.file().path, nil) }
        }
        prefs["a"] = 2
        system.onCall = nil
        #expect(prefs.errors.last?.isWarning == true, "\(prefs.outcome)")
        #expect(try folder.quarantined.map { try Data(contentsOf: folder.file($0)) } == [Data("hello".utf8)])
        #expect(root().ints == ["a": 2])
    }

    /// The share, the mode or the mount says so of an open for writing.
    @Test(arguments: [EACCES, EPERM, EROFS]) func onSMBAFileThatMayNotBeOpenedForWritingIsReplaced(_ code: Int32) throws
    {
        system.kind = .smb
        let (prefs, other) = (root(), root())
        prefs["a"] = 1
        var refused = 0
        system.beforeOpen = { name, _, flags throws(StorageFailure) in
            guard name == "test.plist", flags & O_ACCMODE == O_RDWR else { return }
            refused += 1
            throw StorageFailure("open", name, code: code)
        }
        other["b"] = 2
        prefs.update { prefs["c"] = 3 }
        #expect(prefs.outcome == "ok" && other.outcome == "ok" && refused > 1)
        #expect(root().ints == ["a": 1, "b": 2, "c": 3])
    }

    /// The new file has its name, the temporary one is gone, and the server reports an error.
    @Test(arguments: [FileSystem.server, .smb])
    func aRenameThatWasDoneAndReportedAsAnErrorIsTold(_ kind: FileSystem) throws {
        system.kind = kind
        let prefs = root()
        prefs["a"] = 1
        system.hasChangingNumbers = true
        failRename(kind == .smb ? 2 : 1, EIO) { [unowned self] in
            rename(folder.file(".test.plist.tmp").path, folder.file().path)
        }
        prefs["a"] = 2
        #expect(prefs.outcome.hasPrefix("unknown: \(folder.file().path): rename: "), "\(prefs.outcome)")
        // Its name was not flushed, so an equal write is not over before that.
        system.onCall = nil
        #expect(prefs.ints == ["a": 2])
        _ = system.takeCalls()
        prefs["a"] = 2
        #expect(prefs.outcome == "ok" && system.takeCalls().contains("fsync"))
        try expectOwnFile(["a": 2])
    }

    /// The open file is that of the lower layer, which nothing changes.
    @Test func anOpenFileOfAnOverlayDoesNotShowItsReplacement() throws {
        final class Overlay: SystemCalls, @unchecked Sendable {
            private let first = Locked<[UInt64: FileStatus]>([:])

            override func fileSystem(of descriptor: Descriptor) -> FileSystem { .overlay }

            override func status(of descriptor: Descriptor) throws(StorageFailure) -> FileStatus {
                let status = try super.status(of: descriptor)
                if status.kind != .file { return status }
                return first.withLock { first in
                    first[status.inode] = first[status.inode] ?? status
                    return first[status.inode] ?? status
                }
            }

            override func nextStamp() -> FileStatus.Time { FileStatus.Time(seconds: 9_000_000_000, nanoseconds: 1) }
        }
        try writePropertyList(["Root": ["a": 1]], to: folder.file())
        let prefs = folder.root(system: Overlay())
        #expect(prefs.ints == ["a": 1] && prefs.location.revision != nil)
        for number in 2...3 {
            try writePropertyList(["Root": ["a": number]], to: folder.file("new"))
            #expect(rename(folder.file("new").path, folder.file().path) == 0)
            #expect(prefs.location.revision == nil && prefs.ints == ["a": number])
        }
    }

    // MARK: - Two files of one replacement on SMB

    /// Another machine gives a file of its own the name, between the two renames.
    @Test func onSMBAFileThatComesBetweenTheRenamesStays() throws {
        system.kind = .smb
        let prefs = root()
        prefs["a"] = 1
        try writePropertyList(["Root": ["a": 9]], to: folder.file("new"))
        failRename(2, EACCES) { [unowned self] in rename(folder.file("new").path, folder.file().path) }
        prefs["a"] = 2
        #expect(prefs.outcome.hasPrefix("not stored: \(folder.file().path): rename: "), "\(prefs.outcome)")
        try expectOwnFile(["a": 9])
    }

    /// The temporary file is gone when the second rename fails: the former file has its name back, and nobody knows what becomes of the
    /// new one.
    @Test func onSMBATemporaryFileThatIsGoneLeavesTheOutcomeUnknown() throws {
        system.kind = .smb
        let prefs = root()
        prefs["a"] = 1
        failRename(2, EIO) { [unowned self] in unlink(folder.file(".test.plist.tmp").path) }
        prefs["a"] = 2
        #expect(prefs.outcome.hasPrefix("unknown: \(folder.file().path): rename: "), "\(prefs.outcome)")
        try expectOwnFile(["a": 1])
    }

    /// The new file gets its name after the look at it, and before the look at the former one.
    @Test func onSMBTheNewFileIsReadThatGotItsNameMeanwhile() throws {
        system.kind = .smb
        // It knows what file system this is.
        let prefs = root()
        prefs["a"] = 1
        try FileManager.default.moveItem(at: folder.file(), to: folder.file(".test.plist.former"))
        try writePropertyList(["Root": ["a": 2]], to: folder.file(".test.plist.tmp"))
        var formers = 0
        system.afterOpen = { [unowned self] name, _, _ in
            guard name == ".test.plist.former" else { return }
            formers += 1
            rename(folder.file(".test.plist.tmp").path, folder.file().path)
        }
        #expect(prefs.ints == ["a": 2])
        #expect(formers == 1)
    }

    /// The former file, too, is gone when it is looked for.
    @Test func onSMBTheNewFileIsReadWhoseFormerFileIsGone() throws {
        system.kind = .smb
        let prefs = root()
        prefs["a"] = 1
        try FileManager.default.removeItem(at: folder.file())
        try writePropertyList(["Root": ["a": 2]], to: folder.file(".test.plist.tmp"))
        var looks: [String] = []
        system.beforeStatus = { [unowned self] name in
            guard name == "test.plist" || name == ".test.plist.former" else { return }
            if name == ".test.plist.former", !looks.contains(name) {
                rename(folder.file(".test.plist.tmp").path, folder.file().path)
            }
            looks.append(name)
        }
        #expect(prefs.ints == ["a": 2] && prefs.outcome == "ok")
        system.beforeStatus = nil
        #expect(looks.contains(".test.plist.former") && looks.last == "test.plist", "\(looks)")
    }

    /// The replacement ends before the look at the temporary file; then the next one may have begun, whose former file is the newest.
    @Test(arguments: [false, true]) func onSMBAFileThatIsReplacedDuringOneReadIsFound(_ isReplacedAgain: Bool) throws {
        system.kind = .smb
        let prefs = root()
        prefs["a"] = 1
        let (file, former, new) = (folder.file(), folder.file(".test.plist.former"), folder.file(".test.plist.tmp"))
        try FileManager.default.moveItem(at: file, to: former)
        try writePropertyList(["Root": ["a": 2]], to: new)
        var (looks, formers) = (0, 0)
        system.beforeStatus = { name in
            guard name.hasSuffix(new.lastPathComponent) else { return }
            looks += 1
            if looks == 1 { rename(new.path, file.path) }
        }
        system.beforeOpen = { name, _, _ in
            guard name == former.lastPathComponent else { return }
            formers += 1
            guard formers == 2, isReplacedAgain else { return }
            rename(file.path, former.path)
            try? Data("half".utf8).write(to: new)
        }
        #expect(prefs.ints == ["a": 2] && prefs.outcome == "ok")
        #expect(looks == (isReplacedAgain ? 2 : 1) && formers == 2)
    }

    /// Another program has the former files open, so that they stay for a while. Each has a name of its own, and the next writer
    /// removes them, whatever else it finds.
    @Test(arguments: [true, false]) func onSMBFormerFilesThatStayHaveNamesOfTheirOwn(_ isLocked: Bool) throws {
        system.kind = .smb
        let prefs = root()
        prefs["a"] = 0
        system.onCall = { name throws(StorageFailure) in
            if name == "unlink" { throw StorageFailure("unlink", "", code: EACCES) }
        }
        for number in 1...3 {
            prefs["a"] = number
            #expect(prefs.outcome == "ok")
        }
        #expect(try folder.names().filter { $0.contains(".former") }.count == 3)
        system.onCall = nil
        // A writer that was killed before it has renamed its former file.
        if isLocked { try Data("old".utf8).write(to: folder.file(".test.plist.former")) }
        prefs.update {}
        #expect(
            try prefs.ints == ["a": 3] && folder.names() == [".test.plist.lastgood", ".test.plist.lock", "test.plist"])
    }

    // MARK: - Locks and flushes

    /// The lock file, too, has another number at each look.
    @Test func aLockFileWithChangingNumbersIsThatOfTheLock() throws {
        system.hasChangingNumbers = true
        let prefs = root()
        let others = (0..<3).map { _ in root() }
        for (number, other) in others.enumerated() {
            other["b\(number)"] = number
            prefs["a"] = number
            #expect(prefs.outcome == "ok" && other.outcome == "ok")
        }
        #expect(prefs.ints == ["a": 2, "b0": 0, "b1": 1, "b2": 2])
        #expect(system.takeCalls().filter { $0 == "flock" }.count == 6)
    }

    /// What this process has stored without a flush is flushed by an equal write, although the file is closed, and has
    /// another number at each look.
    @Test(arguments: [false, true]) func anEqualWriteFlushesAFileThatIsNotOpen(_ hasChangingNumbers: Bool) throws {
        system.hasChangingNumbers = hasChangingNumbers
        let (prefs, careless) = (root(), FileRoot(folder.file().path, durability: .process, system: system))
        careless["a"] = 1
        #expect(prefs.ints == ["a": 1])
        _ = system.takeCalls()
        prefs["a"] = 1
        #expect(prefs.outcome == "ok")
        #expect(system.takeCalls().contains("fsync") && system.openDescriptors.isEmpty && system.doubleCloses == 0)
    }

    /// A file that is gone when it should be flushed. The flush is the last that opens it.
    @Test func aFileThatIsGoneBeforeItsFlushIsNotStored() throws {
        let (prefs, careless) = (root(), FileRoot(folder.file().path, durability: .process, system: system))
        careless["a"] = 1
        _ = (prefs.ints, system.takeCalls())
        prefs["a"] = 1
        let calls = system.takeCalls()
        let opens = calls.prefix { $0 != "fsync" }.count { $0 == "open" }
        careless["a"] = 2
        _ = (prefs.ints, system.takeCalls())
        var count = 0
        system.onCall = { [unowned self] call in
            if call == "open" { count += 1 }
            if call == "open", count == opens { unlink(folder.file().path) }
        }
        prefs["a"] = 2
        system.onCall = nil
        let reason = "was removed by another program during the update"
        #expect(prefs.outcome == "not stored: \(folder.file().path): \(reason)")
    }

    /// The file is gone after the rename, so its bytes are read before.
    @Test(arguments: [FileSystem.server, .smb])
    func theToolGetsTheFormerBytes(_ kind: FileSystem) throws {
        system.kind = kind
        let prefs = root()
        prefs["a"] = 1
        let former = try Data(contentsOf: folder.file())
        let seen = Locked<[FileReplacement]>([])
        let hook = ToolHook(committed: { replacement in seen.withLock { $0.append(replacement) } })
        ToolHook.$current.withValue(hook) { prefs["a"] = 2 }
        #expect(seen.withLock { $0.map(\.before) } == [former])
    }

    /// The link may be one that another machine has replaced by the lock file.
    @Test(arguments: [true, false]) func anEmptyLinkInPlaceOfTheLockFileStays(_ isOnServer: Bool) throws {
        system.kind = isOnServer ? .server : .local
        let lock = folder.file(".test.plist.lock").path
        try FileManager.default.createSymbolicLink(atPath: lock, withDestinationPath: "nothing")
        let prefs = root()
        prefs["a"] = 1
        #expect(prefs.outcome.contains("is a link") == isOnServer, "\(prefs.outcome)")
        #expect(((try? FileManager.default.destinationOfSymbolicLink(atPath: lock)) == "nothing") == isOnServer)
    }

    /// Half of the bytes are read before the change, and half of them after it; the status changes by itself. What is read is well-formed.
    @Test(arguments: [true, false]) func aChangeInTheMiddleOfAReadIsNoMixture(_ hasChangingNumbers: Bool) throws {
        func text(_ number: Int) -> Data {
            let (a, b) = ("<key>a</key><integer>\(number)</integer>", "<key>b</key><integer>\(number)</integer>")
            let blanks = String(repeating: " ", count: 1_000)
            return Data("<plist><dict><key>Root</key><dict>\(a)\(blanks)\(b)</dict></dict></plist>".utf8)
        }
        try text(1).write(to: folder.file())
        let prefs = root()
        system.hasChangingNumbers = hasChangingNumbers
        try text(2).write(to: folder.file())
        var reads = 0
        system.onCall = { [unowned self] call in
            reads += call == "read" ? 1 : 0
            guard call == "read", reads == 2, let file = FileHandle(forUpdatingAtPath: folder.file().path) else {
                return
            }
            try? file.write(contentsOf: text(3))
        }
        // The first read may still give the last known state, because the file is being saved.
        let found = (0..<3).map { _ in prefs.ints }
        #expect(found.allSatisfy { $0["a"] == $0["b"] } && found.last == ["a": 3, "b": 3] && reads > 2, "\(found)")
    }

    /// The client keeps every other file for a second after its close.
    @Test func onSMBEveryFileEndsAtItsClose() throws {
        system.kind = .smb
        let (prefs, other) = (root(), root())
        // The descriptors that are open, with what each is for.
        var kept: [SystemCalls.Descriptor: Int] = [:]
        var (opened, left) = (0, [Int]())
        system.afterOpen = { name, descriptor, flags in
            guard name == "test.plist" else { return }
            if let number = kept[descriptor] { left.append(number) }
            opened += 1
            kept[descriptor] = opened
        }
        system.onEndAtClose = { kept[$0] = nil }
        for number in 1...3 {
            prefs["a"] = number
            prefs.update { prefs["b"] = number }
            other["c"] = number
            #expect(other.ints == ["a": number, "b": number, "c": number])
        }
        #expect(opened > 9 && kept.isEmpty && left.isEmpty, "\(kept) \(left) of \(opened)")
    }
}
