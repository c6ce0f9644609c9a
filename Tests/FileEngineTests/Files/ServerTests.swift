import Foundation
import TestSupport
import Testing

@testable import EngineSupport
@testable import PrefsFileEngine

/// File systems of servers and in user space. No file is kept open there, and its numbers and times mean little.
@Suite final class ServerTests: ServerSuite {
    /// SMB removes a file that is open, in place of replacing it. NFS answers from what it knew when the file was opened.
    @Test func noFileIsOpenBetweenAccessesAndDuringTheRename() throws {
        let prefs = root()
        var names: [SystemCalls.Descriptor: String] = [:]
        system.afterOpen = { name, descriptor, _ in names[descriptor] = name }
        var atRename: [String] = []
        system.onCall = { [unowned self] call in
            if call == "rename" { atRename = system.openNow.compactMap { names[$0] }.sorted() }
        }
        for number in 1...3 {
            prefs["a"] = number
            #expect(prefs.outcome == "ok")
            #expect(!atRename.contains("test.plist") && !atRename.contains(".test.plist.lastgood"), "\(atRename)")
            #expect(prefs.ints == ["a": number])
            #expect(system.openDescriptors.isEmpty)
        }
        // Of another program.
        try writePropertyList(["Root": ["a": 9]], to: folder.file())
        #expect(prefs.ints == ["a": 9])
        #expect(system.openDescriptors.isEmpty && system.doubleCloses == 0)
    }

    /// A client of NFS answers from what it knew of the folder before it had the lock.
    @Test func theFolderIsOpenedAnewUnderTheLock() {
        let prefs = root()
        prefs["a"] = 1
        var (isLocked, again, used) = (false, SystemCalls.Descriptor(-1), Set<SystemCalls.Descriptor>())
        system.onCall = { if $0 == "flock" { isLocked = true } }
        system.afterOpen = { [unowned self] name, descriptor, flags in
            let isFolder = name == folder.url.lastPathComponent && flags & 0o10_000_000 == 0
            if isLocked, isFolder { again = descriptor }
        }
        system.beforeOpen = { name, folder, _ in
            if isLocked, [".test.plist.tmp", "test.plist"].contains(name) { used.insert(folder) }
        }
        prefs["a"] = 2
        #expect(prefs.outcome == "ok" && used == [again])
    }

    /// NFS says so of an open file that another client has replaced, and bindfs of one that was replaced behind it.
    @Test(arguments: [("read", ESTALE), ("read", ENOENT), ("fstat", ENOENT)])
    func aFileThatIsReplacedWhileItIsReadIsReadAgain(_ call: String, _ code: Int32) throws {
        try writePropertyList(["Root": ["a": 1]], to: folder.file())
        var looks = 0
        system.afterOpen = { [unowned self] name, _, _ in
            looks += name == "test.plist" ? 1 : 0
            if name == "test.plist", looks == 1 { system.fail(call, with: code) }
        }
        // Reads the file.
        let prefs = root()
        #expect(looks == 2)
        #expect(prefs.ints == ["a": 1] && prefs.outcome == "ok")
    }

    /// After a failed rename, the temporary file shows that nothing was stored, whatever its number.
    @Test func aFailedRenameLeavesTheStateWithChangingNumbers() {
        system.hasChangingNumbers = true
        let prefs = root()
        prefs["a"] = 1
        system.fail("rename", with: ENOENT)
        prefs["a"] = 2
        #expect(prefs.outcome.hasPrefix("not stored: \(folder.file().path): rename: No such file or directory"))
        #expect(prefs.ints == ["a": 1])
    }

    /// bindfs and rclone change the numbers of an open file.
    @Test func numbersThatChangeByThemselvesRejectNothing() throws {
        system.hasChangingNumbers = true
        let prefs = root()
        for number in 1...20 {
            prefs.update { prefs["a"] = number }
            #expect(prefs.outcome == "ok" && prefs.ints == ["a": number])
        }
        #expect(system.openDescriptors.isEmpty && system.doubleCloses == 0)
    }

    @Test func aChangeDuringAnUpdateRejectsIt() throws {
        system.hasChangingNumbers = true
        let prefs = root()
        prefs["a"] = 1
        let error = prefs.update {
            prefs["a"] = 3
            try writePropertyList(["Root": ["a": 2]], to: folder.file())
        }
        #expect(error?.text.contains("was changed by another program during the update") == true)
        #expect(prefs.ints == ["a": 2])
    }

    /// There was no file when the update began, whose bytes could be compared.
    @Test(arguments: [
        (FileSystem.server, true), (.server, false), (.smb, true), (.smb, false), (.local, false), (.overlay, false),
    ])
    func aFileThatIsMadeDuringAnUpdateRejectsIt(_ kind: FileSystem, changesNumbers: Bool) throws {
        (system.kind, system.hasChangingNumbers) = (kind, changesNumbers)
        let prefs = root()
        let error = prefs.update {
            prefs["a"] = 1
            try writePropertyList(["Root": ["b": 2]], to: folder.file())
        }
        let reason = "was replaced by another program during the update"
        #expect(error?.text == "not stored: \(folder.file().path): \(reason)")
        #expect(prefs.ints == ["b": 2])
    }

    /// Stamps of whole seconds, the same size, the same number: only the bytes differ.
    @Test func anEditThatNoStatusShowsIsRead() throws {
        system.frozenTime = FileStatus.Time(seconds: 1_000_000_000, nanoseconds: 0)
        let prefs = root()
        prefs["a"] = 1
        for number in 2...4 {
            let bytes = try Data(contentsOf: folder.file())
            try writePropertyList(["Root": ["a": number]], to: folder.file())
            #expect(try Data(contentsOf: folder.file()).count == bytes.count)
            // The second read compares equal bytes, and is no reason to trust the status.
            for _ in 0..<2 {
                system.elapse(.milliseconds(500))
                #expect(prefs.ints == ["a": number])
            }
        }
    }

    /// The edit is made within the second of the read, and looked at later. Afterwards the status decides.
    @Test func anEditThatNoStatusShowsIsReadLater() throws {
        system.frozenTime = FileStatus.Time(seconds: 1_000_000_000, nanoseconds: 0)
        let prefs = root()
        prefs["a"] = 1
        try writePropertyList(["Root": ["a": 2]], to: folder.file())
        system.elapse(.seconds(4))
        #expect(prefs.ints == ["a": 2])
        system.elapse(.seconds(4))
        #expect(prefs.ints == ["a": 2])
        _ = system.takeCalls()
        #expect(prefs.ints == ["a": 2] && !system.takeCalls().contains("read"))
    }

    /// A reader of a cached value asks for the revision, and reads the file only if there is none.
    @Test func theBytesOfACachedValueAreNotComparedForEver() throws {
        system.frozenTime = FileStatus.Time(seconds: 1_000_000_000, nanoseconds: 0)
        let prefs = root()
        prefs["a"] = 1
        #expect(prefs.ints == ["a": 1])
        for _ in 0..<2 {
            system.elapse(.seconds(4))
            if prefs.location.revision == nil { #expect(prefs.ints == ["a": 1]) }
        }
        _ = system.takeCalls()
        #expect(prefs.location.revision != nil && !system.takeCalls().contains("read"))
    }

    /// A client may answer with a former size.
    @Test func aFileThatIsLongerThanItsStatusIsReadToItsEnd() throws {
        try writePropertyList(["Root": ["a": 1]], to: folder.file())
        system.shownSize = 20
        let prefs = root()
        #expect(prefs.ints == ["a": 1] && prefs.outcome == "ok")
    }

    /// A folder takes the path of another one while a write waits for the lock.
    @Test func aFolderThatIsExchangedDuringTheWaitIsNotWrittenWithoutItsLock() throws {
        let path = folder.url.appending(path: "conf/test.plist").path
        try FileManager.default.createDirectory(
            at: folder.url.appending(path: "conf"), withIntermediateDirectories: true)
        try writePropertyList(["Root": ["a": 1]], to: URL(filePath: path))
        let prefs = FileRoot(path, durability: .powerCut, system: system)
        prefs["a"] = 2
        var (locks, isExchanged) = (0, false)
        system.onCall = { [unowned self] name in
            guard name == "flock" else { return }
            locks += 1
            if isExchanged { return }
            isExchanged = true
            let (conf, old) = (folder.file("conf").path, folder.file("old").path)
            rename(conf, old)
            try? FileManager.default.copyItem(atPath: old, toPath: conf)
        }
        prefs["a"] = 3
        #expect(prefs.outcome == "ok" && prefs.ints == ["a": 3] && locks == 2)
        let former = FileRoot(folder.file("old/test.plist").path, durability: .powerCut, system: system)
        #expect(former.ints == ["a": 2])
    }

    /// Other programs may change them while a body runs.
    @Test(.enabled(if: geteuid() == 0), arguments: [(4_242, 0, 0o600), (0, 4_242, 0o600), (0, 0, 0o644)])
    func aChangedOwnerGroupOrModeIsKept(_ owner: UInt32, _ group: UInt32, _ mode: mode_t) throws {
        let prefs = root()
        prefs["a"] = 1
        let error = prefs.update {
            prefs["a"] = 2
            chown(folder.file().path, owner, group)
            chmod(folder.file().path, mode)
        }
        #expect(error == nil && prefs.ints == ["a": 2])
        var status = stat()
        #expect(stat(folder.file().path, &status) == 0 && status.st_mode & 0o7777 == mode)
        #expect(status.st_uid == owner && status.st_gid == group)
    }

    /// A full server says so when a file is closed, after the write has succeeded.
    @Test(arguments: [ENOSPC, EDQUOT, EIO], [CommitDurability.process, .powerCut])
    func theErrorOfCloseRejectsTheWrite(_ code: Int32, _ durability: CommitDurability) throws {
        let prefs = root(durability)
        prefs["a"] = 1
        let before = try Data(contentsOf: folder.file())
        system.fail("close copy", with: code)
        prefs["a"] = 2
        #expect(prefs.outcome.hasPrefix("not stored: \(folder.file().path): close: \(String(cString: strerror(code)))"))
        #expect(try Data(contentsOf: folder.file()) == before && !folder.names().contains(".test.plist.tmp"))
        prefs["a"] = 3
        #expect(prefs.outcome == "ok" && prefs.ints == ["a": 3])
    }

    /// On a local file system, that would be two calls too many.
    @Test func aLocalFileIsNotClosedTwice() {
        system.kind = nil
        let prefs = root(.process)
        prefs["a"] = 1
        prefs["a"] = 2
        #expect(!system.takeCalls().contains("close copy"))
    }

    /// The second name of a file may have another number or size.
    @Test func aDamagedFileIsCopied() throws {
        let prefs = root()
        prefs["a"] = 1
        try Data("hello".utf8).write(to: folder.file())
        _ = system.takeCalls()
        prefs["a"] = 2
        #expect(prefs.errors.last?.isWarning == true)
        #expect(try folder.quarantined.map { try Data(contentsOf: folder.file($0)) } == [Data("hello".utf8)])
        #expect(!system.takeCalls().contains("link"))
    }

    /// The lock file of a foreign file stays, because a replacement of it would not be noticed.
    @Test(arguments: [true, false]) func theLockFileOfAForeignFileStays(_ isOnServer: Bool) throws {
        system.kind = isOnServer ? .server : nil
        try writePropertyList(["Root": ["a": 1]], to: folder.file())
        let prefs = root()
        ToolHook.$current.withValue(ToolHook(ownFiles: [])) { prefs["a"] = 2 }
        #expect(prefs.outcome == "ok")
        #expect(try folder.names().contains(".test.plist.lock") == isOnServer)
        #expect(try !folder.names().contains(".test.plist.lastgood"))
    }

    /// The clock of the server says nothing of the age of a change, so a program that knows nothing waits once.
    @Test func aFileThatIsReplacedWithAGapIsAwaited() throws {
        root()["a"] = 1
        try FileManager.default.removeItem(at: folder.file(".test.plist.lastgood"))
        let bytes = try Data(contentsOf: folder.file())
        try FileManager.default.removeItem(at: folder.file())
        system.onCall = { [unowned self] name in
            if name == "pause" { try? bytes.write(to: folder.file()) }
        }
        #expect(root().ints == ["a": 1])
    }

    /// The client of SMB shows a name for a second after another client has removed it.
    @Test(arguments: [".test.plist.tmp", ".test.plist.former"])
    func aNameThatAnotherClientHasRemovedIsNoError(_ name: String) throws {
        system.kind = .smb
        let prefs = root()
        prefs["a"] = 1
        try Data().write(to: folder.file(name))
        system.onCall = { [unowned self] call throws(StorageFailure) in
            guard call == "unlink", unlink(folder.file(name).path) == 0 else { return }
            throw StorageFailure("unlink", name, code: ENOENT)
        }
        prefs["a"] = 2
        #expect(prefs.outcome == "ok" && prefs.ints == ["a": 2])
    }

    // MARK: - SMB

    /// The client removes an open file instead of replacing it. So the file is renamed, and no name is taken over another
    /// one. Reads give the former state meanwhile.
    @Test func onSMBTheFormerFileIsRenamed() throws {
        system.kind = .smb
        let (prefs, reader) = (root(), root())
        prefs["a"] = 1
        #expect(reader.ints == ["a": 1])
        var seen: [[String: Int]] = []
        system.onCall = { [unowned self] name in
            if name == "rename" { seen.append(reader.ints) }
            if name == "rename", !FileManager.default.fileExists(atPath: folder.file().path) { seen.append([:]) }
        }
        prefs["a"] = 2
        system.onCall = nil
        #expect(prefs.outcome == "ok" && prefs.ints == ["a": 2] && reader.ints == ["a": 2])
        // Before the file is renamed; before the new one gets its name, when there is no file; and after that.
        #expect(seen == [["a": 1], ["a": 1], [:], ["a": 2]])
        #expect(try folder.names() == [".test.plist.lastgood", ".test.plist.lock", "test.plist"])
        #expect(system.openDescriptors.isEmpty && system.doubleCloses == 0)
    }

    @Test func onSMBAFailedReplacementBringsTheFormerFileBack() throws {
        system.kind = .smb
        let prefs = root()
        prefs["a"] = 1
        let before = try Data(contentsOf: folder.file())
        var renames = 0
        system.onCall = { name throws(StorageFailure) in
            if name == "rename" { renames += 1 }
            if name == "rename", renames == 2 { throw StorageFailure("rename", "", code: EACCES) }
        }
        prefs["a"] = 2
        system.onCall = nil
        #expect(prefs.outcome.hasPrefix("not stored: \(folder.file().path): rename: Permission denied"))
        #expect(try Data(contentsOf: folder.file()) == before && prefs.ints == ["a": 1])
        #expect(try folder.names() == [".test.plist.lastgood", ".test.plist.lock", "test.plist"])
    }

    /// The writer was killed before or after the new file got its name. In the second case, the file may have been removed
    /// since, and does not come back.
    @Test(arguments: [true, false]) func onSMBTheNextWriterEndsWhatAKilledOneBegan(_ isBefore: Bool) throws {
        system.kind = .smb
        let prefs = root()
        prefs["a"] = 1
        #expect(root().ints == ["a": 1])
        try FileManager.default.moveItem(at: folder.file(), to: folder.file(".test.plist.former"))
        if isBefore { try Data("half".utf8).write(to: folder.file(".test.plist.tmp")) }
        #expect(prefs.ints == (isBefore ? ["a": 1] : [:]) || !isBefore)
        prefs["b"] = 2
        #expect(prefs.ints == (isBefore ? ["a": 1, "b": 2] : ["b": 2]))
        let names = try folder.names().filter { !$0.contains(".corrupt-") }
        #expect(names == [".test.plist.lastgood", ".test.plist.lock", "test.plist"])
    }

    /// The client gives a file again within a second after its close, also if it was replaced, unless it had a lock, and
    /// while another process has it open with the same flags. It says EINVAL to an open with other flags meanwhile.
    @Test func onSMBAReplacedFileIsNotReadUnderTheLock() throws {
        system.kind = .smb
        try writePropertyList(["Root": ["a": 1]], to: folder.file())
        let (prefs, other) = (root(), root())
        #expect(prefs.ints == ["a": 1])
        _ = system.takeCalls()
        var (opened, failures, isLocked, reads, updates) = (0, 3, false, Set<Int32>(), Set<Int32>())
        system.onCall = { if ["flock", "unlock"].contains($0) { isLocked = $0 == "flock" } }
        system.beforeOpen = { name, _, flags throws(StorageFailure) in
            guard name == "test.plist" else { return }
            failures -= isLocked ? 1 : 0
            if isLocked, failures >= 0 { throw StorageFailure("open", name, code: EINVAL) }
            opened += 1
            if isLocked { updates.insert(flags) } else { reads.insert(flags) }
        }
        for number in 1...3 {
            other["a"] = number
            #expect(other.outcome == "ok" && prefs.ints == ["a": number])
        }
        #expect(system.takeCalls().filter { $0 == "ends at close" }.count >= opened && failures < 0)
        #expect(reads.allSatisfy { $0 & O_ACCMODE == O_RDONLY })
        // The new file of a write is opened for reading; the file that an update begins from is not.
        #expect(updates.contains { $0 & O_ACCMODE == O_RDWR } && updates.count == 2)
    }

    /// The first rename was done, but reported as an error; the server did not answer after the second one.
    @Test(arguments: [1, 2]) func onSMBAReplacementOfUnknownOutcomeLosesNothing(_ number: Int) throws {
        system.kind = .smb
        let prefs = root()
        prefs["a"] = 1
        var (renames, isDown) = (0, false)
        system.onCall = { [unowned self] name throws(StorageFailure) in
            if name == "rename" { renames += 1 }
            if name == "rename", renames == number {
                isDown = number == 2
                if number == 1 {
                    rename(folder.file().path, folder.file(".test.plist.former").path)
                }
                throw StorageFailure("rename", "", code: EIO)
            }
            if isDown, ["rename", "stat", "readdir", "open"].contains(name) {
                throw StorageFailure(name, "", code: EIO)
            }
        }
        prefs["a"] = 2
        system.onCall = nil
        #expect(prefs.outcome.contains("rename: Input/output error"), "\(prefs.outcome)")
        let next = root()
        next["b"] = 3
        #expect(next.ints == ["a": 1, "b": 3])
        #expect(try folder.names() == [".test.plist.lastgood", ".test.plist.lock", "test.plist"])
    }

    /// The client remembers for a second which single names exist; the list of the folder is from the server.
    @Test func onSMBAFormerFileIsFoundInTheListOfTheFolder() throws {
        system.kind = .smb
        let prefs = root()
        prefs["a"] = 1
        try FileManager.default.moveItem(at: folder.file(), to: folder.file(".test.plist.former"))
        try Data("half".utf8).write(to: folder.file(".test.plist.tmp"))
        for number in 7...9 { try Data("old".utf8).write(to: folder.file(".test.plist.former-7-\(number)")) }
        prefs["b"] = 2
        #expect(system.takeCalls().contains("readdir") && prefs.ints == ["a": 1, "b": 2])
        #expect(try folder.names() == [".test.plist.lastgood", ".test.plist.lock", "test.plist"])
    }

    // MARK: - Locks, on every file system

    @Test(arguments: [true, false]) func theLockIsTakenOnce(_ isLimited: Bool) {
        let prefs = root()
        prefs["a"] = 1
        _ = system.takeCalls()
        LockWait.within(isLimited ? .seconds(10) : nil) { prefs["a"] = 2 }
        #expect(system.takeCalls().filter { $0 == "flock" }.count == 1)
        #expect(prefs.ints == ["a": 2])
    }

    /// SMB says EACCES if another client has the lock and the attempt does not wait.
    @Test func aLockThatAnotherClientHasIsAwaited() {
        let prefs = root()
        system.fail("flock", with: EACCES)
        LockWait.within(.seconds(10)) { prefs["a"] = 2 }
        #expect(prefs.ints == ["a": 2])
    }

    /// The reason may be a security module.
    @Test(arguments: [true, false]) func aLockThatIsForbiddenIsAnError(_ isLimited: Bool) {
        let prefs = root()
        system.onCall = { name throws(StorageFailure) in
            if name == "flock" { throw StorageFailure("flock", "", code: EACCES) }
        }
        LockWait.within(isLimited ? .seconds(10) : nil) { prefs["a"] = 2 }
        #expect(prefs.outcome.hasPrefix("not stored: "), "\(prefs.outcome)")
    }
}
