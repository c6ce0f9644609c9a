import Foundation
import TestSupport
import Testing

@testable import EngineSupport
@testable import PrefsFileEngine

/// Contract 11: nothing leaks and nobody is locked out, even if root writes.
@Suite(.enabled(if: Hazard.canRun("files of other users", if: geteuid() == 0, else: "only root can write for others")))
final class OwnershipTests: FolderSuite {
    private func owner(_ name: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: folder.path + "/" + name)[.ownerAccountID] as? Int
    }

    @Test func rootLeavesAFileToItsOwner() throws {
        let prefs = folder.root()
        try writePropertyList(["Root": ["a": 1]], to: folder.file())
        chown(folder.file().path, 12_345, 54_321)
        chmod(folder.file().path, 0o640)
        prefs["a"] = 2
        for name in ["test.plist", ".test.plist.lock", ".test.plist.lastgood"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.file(name).path)
            #expect(attributes[.ownerAccountID] as? Int == 12_345, "\(name)")
            #expect(attributes[.groupOwnerAccountID] as? Int == 54_321, "\(name)")
        }
        #expect(try folder.permissions() == 0o640)
    }

    /// Others could hold the lock for ever.
    @Test func aLockFileThatOthersCanOpenIsClosed() throws {
        let prefs = folder.root()
        prefs["a"] = 1
        chmod(folder.file(".test.plist.lock").path, 0o664)
        prefs["a"] = 2
        #expect(prefs.outcome == "ok")
        #expect(try folder.permissions(".test.plist.lock") == 0o600)
    }

    /// This package makes no such file, so it does not change the mode.
    @Test(arguments: ["contents", "a second name"])
    func aForeignFileInPlaceOfALockFileIsRejectedIfOthersCanOpenIt(_ sign: String) throws {
        let (prefs, lock) = (folder.root(), folder.file(".test.plist.lock"))
        prefs["a"] = 1
        if sign == "contents" { try Data("x".utf8).write(to: lock) }
        if sign == "a second name" { #expect(link(lock.path, folder.file("second").path) == 0) }
        chmod(lock.path, 0o640)
        prefs["a"] = 2
        let reason = "is open to other users and has contents or a second name; expected an empty file with one name"
        #expect(prefs.outcome == "not stored: \(lock.path): \(reason)")
        #expect(try folder.permissions(".test.plist.lock") == 0o640 && prefs.ints == ["a": 1])
        // A file that only its owner can open is used.
        chmod(lock.path, 0o600)
        prefs["a"] = 2
        #expect(prefs.outcome == "ok")
    }

    /// The owner of the folder could hold the lock for ever. Only where there is no file, its lock file is the first one.
    @Test(arguments: [true, false]) func aLockFileOfTheFoldersOwnerIsRejectedIfThereIsAFile(_ isThere: Bool) throws {
        chown(folder.path, 12_345, 12_345)
        let lock = folder.file(".test.plist.lock")
        try Data().write(to: lock)
        chown(lock.path, 12_345, 12_345)
        chmod(lock.path, 0o600)
        if isThere {
            try writePropertyList(["Root": ["a": 1]], to: folder.file())
            chown(folder.file().path, 54_321, 54_321)
        }
        let prefs = folder.root()
        prefs["a"] = 2
        let reason = "belongs to user 12345; expected the caller, root or the owner of the preferences file"
        #expect(isThere ? prefs.outcome.contains(reason) : prefs.outcome == "ok", "\(prefs.outcome)")
        #expect(prefs.ints == ["a": isThere ? 1 : 2])
    }

    /// A lock file of root would keep out the owner of the file, or of the folder. If the owner of the folder has no number in
    /// this user namespace, its root keeps the files that it makes.
    @Test(arguments: [EPERM, EINVAL, EOVERFLOW, EDQUOT], [true, false])
    func aRejectedWriteLeavesNoLockFileOfRoot(_ code: Int32, _ hasFile: Bool) throws {
        let system = RecordingSystemCalls()
        chown(folder.path, 12_345, 54_321)
        if hasFile {
            try writePropertyList(["Root": ["a": 1]], to: folder.file())
            chown(folder.file().path, 12_345, 54_321)
        }
        let prefs = folder.root(system: system)
        system.onCall = { name throws(StorageFailure) in
            if name == "chown" { throw StorageFailure("chown", "", code: code) }
        }
        prefs["a"] = 2
        if [EINVAL, EOVERFLOW].contains(code), !hasFile {
            #expect(prefs.outcome == "ok" && prefs.ints == ["a": 2])
            return
        }
        #expect(prefs.outcome.hasPrefix("not stored: "), "\(prefs.outcome)")
        let takesFile = prefs.outcome.contains("belongs to another user; a write would change its owner")
        #expect(takesFile == (hasFile && code != EDQUOT), "\(prefs.outcome)")
        #expect(prefs.ints == (hasFile ? ["a": 1] : [:]))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == (hasFile ? ["test.plist"] : []))
        system.onCall = nil
        prefs["a"] = 3
        #expect(prefs.outcome == "ok")
        #expect(try owner(".test.plist.lock") == 12_345)
    }

    /// Owners and groups have no number in some user namespaces.
    @Test func aLockFileDoesNotNeedTheGroupOfTheFile() throws {
        let system = RecordingSystemCalls()
        try writePropertyList(["Root": ["a": 1]], to: folder.file())
        chown(folder.file().path, 0, 54_321)
        chmod(folder.file().path, 0o600)
        system.fail("chown", with: EINVAL, EINVAL)
        let prefs = folder.root(system: system)
        prefs["a"] = 2
        #expect(prefs.outcome == "ok" && prefs.ints == ["a": 2])
        #expect(try owner(".test.plist.lock") == 0)
    }

    @Test func whatRootMakesInAUsersFolderIsThatUsers() throws {
        chown(folder.path, 12_345, 54_321)
        folder.root("deep/er/test.plist")["a"] = 1
        let deep = ["deep", "deep/er"]
        for name in deep + ["test.plist", ".test.plist.lock", ".test.plist.lastgood"].map({ "deep/er/\($0)" }) {
            #expect(try owner(name) == 12_345, "\(name)")
        }
        // Where everybody may write, it is root's own.
        chmod(folder.path, 0o1777)
        folder.root()["a"] = 1
        #expect(try owner("test.plist") == 0)
    }

    @Test func aFileOfAnothersGroupIsNotTakenFromIt() throws {
        let system = RecordingSystemCalls()
        try writePropertyList(["Root": ["a": 1]], to: folder.file())
        let message =
            "not stored: \(folder.file().path): its group cannot be kept, and another group would change who has access"
        // Mode 0604 denies access to the members of the group. With another group, they would gain access.
        for (mode, outcome) in [(mode_t(0o640), message), (0o604, message), (0o644, "ok"), (0o600, "ok")] {
            chown(folder.file().path, 0, 54_321)
            chmod(folder.file().path, mode)
            let prefs = folder.root(system: system)
            system.onCall = { name throws(StorageFailure) in
                if name == "chown" { throw StorageFailure("chown", "", code: EPERM) }
            }
            prefs["a"] = Int(mode)
            #expect(prefs.outcome == outcome, "\(String(mode, radix: 8))")
            system.onCall = nil
        }
    }

    /// The new folder is exchanged for another one of root's, or for a link, before it is given to the owner of the folder
    /// above.
    @Test(arguments: [true, false]) func aFolderPutInTheNewOnesPlaceIsNotGivenAway(_ isLink: Bool) throws {
        let system = RecordingSystemCalls()
        var isExchanged = false
        system.beforeOpen = { name, folder, _ in
            guard name == "conf", !isExchanged, renameat(folder, name, folder, "made") == 0 else { return }
            isExchanged = true
            if isLink { symlinkat("victim", folder, name) } else { renameat(folder, "victim", folder, name) }
        }
        let user = folder.path + "/user"
        for path in [user, user + "/victim"] { mkdir(path, 0o700) }
        try Data("secret".utf8).write(to: URL(filePath: user + "/victim/f"))
        chown(user, 12_345, 54_321)
        let prefs = folder.root("user/conf/test.plist", system: system)
        prefs["a"] = 1
        if !isLink { #expect(prefs.outcome == "not stored: \(user)/conf: was replaced by another folder") }
        #expect(try owner(isLink ? "user/victim" : "user/conf") == 0)
    }

    @Test func aLastGoodCopyPlantedByAnotherUserIsNotUsed() throws {
        try Data("damaged".utf8).write(to: folder.file())
        try writePropertyList(["Root": ["a": 666]], to: folder.file(".test.plist.lastgood"))
        chown(folder.file(".test.plist.lastgood").path, 12_345, 54_321)
        let prefs = folder.root(system: RecordingSystemCalls())
        #expect(prefs.outcome.hasPrefix("not ours: "))
        #expect(prefs.values.isEmpty)
    }

    /// This process has not read the file before.
    @Test(arguments: [12_345, 54_321], [12_345, 54_321])
    func besideAFileThatCannotBeReadOnlyACopyOfItsOwnerIsRead(_ owner: uid_t, _ ownerOfCopy: uid_t) throws {
        folder.root()["a"] = 1
        unlink(folder.file().path)
        mkdir(folder.file().path, 0o700)
        chown(folder.file().path, owner, owner)
        chown(folder.file(".test.plist.lastgood").path, ownerOfCopy, ownerOfCopy)
        let prefs = folder.root(system: RecordingSystemCalls())
        #expect(prefs.outcome == "unreadable: \(folder.file().path): is a folder")
        #expect(prefs.ints == (owner == ownerOfCopy ? ["a": 1] : [:]))
    }

    @Test(arguments: [0o666, 0o644, 0o640, 0o600, 0o400, 0o4755, 0o2775, 0o1644, 0o6711])
    func allBitsOfTheModeAreKeptAndTheLastGoodCopyIsForItsOwnerAlone(_ mode: Int) throws {
        try writePropertyList(["Root": ["a": 1]], to: folder.file())
        chmod(folder.file().path, mode_t(mode))
        folder.root()["a"] = 2
        #expect(try folder.permissions() == mode)
        #expect(try folder.permissions(".test.plist.lastgood") == mode & 0o600)
    }
}
