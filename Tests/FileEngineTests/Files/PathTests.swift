import Foundation
import TestSupport
import Testing

@testable import EngineSupport
@testable import PrefsFileEngine

/// The files that paths lead to: links, spellings, folders that move, names that are not UTF-8.
@Suite final class PathTests: FolderSuite {
    @Test func linksAreFollowedAndKept() throws {
        let manager = FileManager.default
        try manager.createDirectory(at: folder.file("real"), withIntermediateDirectories: true)
        try manager.createSymbolicLink(atPath: folder.file("link.plist").path, withDestinationPath: "middle.plist")
        try manager.createSymbolicLink(atPath: folder.file("middle.plist").path, withDestinationPath: "real/it.plist")
        let linked = folder.root("link.plist")
        linked["a"] = 1
        #expect(linked.outcome == "ok")
        #expect(try manager.destinationOfSymbolicLink(atPath: folder.file("link.plist").path) == "middle.plist")
        #expect(try propertyList(at: folder.file("real/it.plist"))["Root"] as? [String: Int] == ["a": 1])
        let direct = folder.root("real/it.plist")
        linked.update {
            // Two paths lead to one file.
            direct["b"] = 2
            #expect(linked["b"] as? Int == 2)
        }
        #expect(direct.ints == ["a": 1, "b": 2])
    }

    @Test func aLinkWithANewTargetIsFollowedThere() throws {
        let manager = FileManager.default
        folder.root("one.plist")["a"] = 1
        folder.root("two.plist")["a"] = 2
        try manager.createSymbolicLink(atPath: folder.file("link.plist").path, withDestinationPath: "one.plist")
        let linked = folder.root("link.plist")
        #expect(linked.ints == ["a": 1])
        try manager.removeItem(at: folder.file("link.plist"))
        try manager.createSymbolicLink(atPath: folder.file("link.plist").path, withDestinationPath: "two.plist")
        #expect(linked.ints == ["a": 2])
        linked["b"] = 3
        #expect(folder.root("two.plist").ints == ["a": 2, "b": 3])
        #expect(folder.root("one.plist").ints == ["a": 1])
    }

    @Test func aFileThatBecomesALinkIsFollowed() throws {
        let prefs = folder.root()
        prefs["a"] = 1
        try FileManager.default.moveItem(at: folder.file(), to: folder.file("moved.plist"))
        try FileManager.default.createSymbolicLink(
            atPath: folder.file().path, withDestinationPath: "moved.plist")
        #expect(prefs.ints == ["a": 1])
        prefs["b"] = 2
        #expect(try propertyList(at: folder.file("moved.plist"))["Root"] as? [String: Int] == ["a": 1, "b": 2])
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.file().path) == "moved.plist")
    }

    /// A link of one user leads to a link of another one, who owns the file: the first could lead this process anywhere.
    @Test(.enabled(if: geteuid() == 0), arguments: [true, false]) func theOwnerOfEachLinkOwnsTheTarget(_ isFirst: Bool)
        throws
    {
        func link(_ name: String, to target: String, of owner: uid_t) throws {
            try FileManager.default.createSymbolicLink(atPath: folder.file(name).path, withDestinationPath: target)
            #expect(lchown(folder.file(name).path, owner, 0) == 0)
        }
        folder.root("it.plist")["a"] = 1
        #expect(chown(folder.file("it.plist").path, 4_242, 0) == 0)
        try link("first.plist", to: "second.plist", of: isFirst ? 4_243 : 4_242)
        try link("second.plist", to: "it.plist", of: isFirst ? 4_242 : 4_243)
        let prefs = folder.root("first.plist")
        #expect(prefs.ints == [:])
        let link = folder.file(isFirst ? "first.plist" : "second.plist").path
        let reason = "is a link of user 4243, who does not own the target; it is not followed"
        #expect(prefs.outcome == "unreadable: \(link): \(reason)")
        #expect(lchown(link, 4_242, 0) == 0)
        #expect(prefs.ints == ["a": 1] && prefs.outcome == "ok")
    }

    /// In a path, and in the target of a link: the folder above the one that a link leads to.
    @Test func twoDotsLeadAboveWhatALinkLeadsTo() throws {
        let manager = FileManager.default
        for name in ["a", "c/d"] {
            try manager.createDirectory(at: folder.file(name), withIntermediateDirectories: true)
        }
        try manager.createSymbolicLink(atPath: folder.file("a/inner").path, withDestinationPath: "../c/d")
        for (name, target) in [("link.plist", "a/inner/../x.plist"), ("next.plist", "a/../link.plist")] {
            try manager.createSymbolicLink(atPath: folder.file(name).path, withDestinationPath: target)
        }
        folder.root("a/x.plist")["n"] = 1
        folder.root("c/x.plist")["n"] = 2
        for (number, path) in ["link.plist", "next.plist", "a/inner/../x.plist", "c/d/../x.plist"].enumerated() {
            let prefs = folder.root(path)
            #expect(prefs.ints["n"] == 2, "\(path)")
            prefs["p\(number)"] = number
            #expect(prefs.outcome == "ok", "\(path)")
        }
        #expect(folder.root("a/x.plist").ints == ["n": 1])
        #expect(folder.root("c/x.plist").ints == ["n": 2, "p0": 0, "p1": 1, "p2": 2, "p3": 3])
    }

    @Test func aRingOfLinksIsReported() throws {
        try FileManager.default.createSymbolicLink(atPath: folder.file("x").path, withDestinationPath: "y")
        try FileManager.default.createSymbolicLink(atPath: folder.file("y").path, withDestinationPath: "x")
        let prefs = folder.root("x")
        #expect(prefs.values.isEmpty)
        #expect(prefs.outcome.contains("Too many levels of symbolic links"))
    }

    @Test func twoSpellingsOfALetterAreTwoFiles() throws {
        let composed = folder.root("caf\u{E9}.plist")
        let decomposed = folder.root("cafe\u{301}.plist")
        composed["a"] = 1
        decomposed["a"] = 2
        #expect(composed.ints == ["a": 1])
        #expect(decomposed.ints == ["a": 2])
    }

    @Test func aNameThatBeginsWithACombiningMarkIsAName() throws {
        let prefs = folder.root("\u{301}x.plist")
        prefs["a"] = 1
        #expect(prefs.outcome == "ok")
        #expect(try folder.names().contains("\u{301}x.plist"))
        #expect(FileNames(path: "/d/\u{301}x").folder == "/d")
    }

    @Test func aLinkToANameThatIsNotUTF8IsRejected() throws {
        let link = folder.file("link.plist").path
        let target: [CChar] = [0x74, -1, 0]
        #expect(symlink(target, link) == 0)
        let prefs = folder.root("link.plist")
        let message = "unreadable: \(link): leads to a name that is not UTF-8"
        #expect(prefs.outcome == message)
        prefs["a"] = 1
        #expect(prefs.outcome == message)
        #expect(try folder.names() == ["link.plist"])
    }

    /// In a folder with a lock file, the write does not read the file before it has the lock.
    @Test(arguments: [false, true])
    func aWriteInAFolderPutInTheOldOnesPlaceKeepsWhatIsThere(_ hasLockFile: Bool) throws {
        let (inner, other) = (folder.file("inner"), folder.file("other"))
        let prefs = folder.root("inner/test.plist")
        prefs["a"] = 1
        try FileManager.default.createDirectory(at: other, withIntermediateDirectories: true)
        try writePropertyList(["Root": ["b": 5], "Other": ["x": 1]], to: other.appending(path: "test.plist"))
        if hasLockFile { try Data().write(to: other.appending(path: ".test.plist.lock")) }
        #expect(prefs.ints == ["a": 1])
        try FileManager.default.moveItem(at: inner, to: folder.file("moved"))
        try FileManager.default.moveItem(at: other, to: inner)
        prefs["c"] = 2
        #expect(prefs.outcome == "ok")
        let list = try propertyList(at: inner.appending(path: "test.plist"))
        #expect(list["Root"] as? [String: Int] == ["b": 5, "c": 2])
        #expect(list["Other"] as? [String: Int] == ["x": 1])
    }

    @Test func aFolderThatCannotBeMadeIsReported() {
        let system = RecordingSystemCalls()
        system.fail("mkdir", with: ENOENT)
        let prefs = folder.root("deep/er/test.plist", system: system)
        prefs["a"] = 1
        #expect(prefs.outcome.hasSuffix("mkdir: No such file or directory"))
    }

    /// A link is exchanged between the calls for its owner and for its target. The owner of the link that is followed
    /// counts.
    @Test(.enabled(if: Hazard.canRun("links of other users", if: geteuid() == 0, else: "only root can make them")))
    func aLinkExchangedWhileItIsRead() throws {
        let (link, secret) = (folder.file("link.plist").path, folder.file("secret.plist").path)
        try writePropertyList(["Root": ["a": 7]], to: URL(filePath: secret))
        try writePropertyList(["Root": ["a": 1]], to: folder.file("own.plist"))
        #expect(symlink("own.plist", link) == 0)
        let system = RecordingSystemCalls()
        var isExchanged = false
        system.onCall = { call in
            guard call == "readlink", !isExchanged else { return }
            isExchanged = true
            unlink(link)
            symlink(secret, link)
            lchown(link, 22_222, 22_222)
        }
        let prefs = FileRoot(link, system: system)
        #expect(
            prefs.outcome.contains("is a link of user 22222, who does not own the target; it is not followed"),
            "\(prefs.outcome)")
        #expect(prefs.values.isEmpty)
    }

    /// Chains, `..` and rings: the rule holds for each link of the path.
    @Test(.enabled(if: Hazard.canRun("links of other users", if: geteuid() == 0, else: "only root can make them")))
    func eachLinkOfAChainIsChecked() throws {
        func link(_ name: String, _ target: String, owner: uid_t) {
            #expect(symlink(target, folder.path + "/" + name) == 0)
            lchown(folder.path + "/" + name, owner, owner)
        }
        for (name, owner) in [("root", 0), ("one", 11_111), ("two", 22_222)] as [(String, uid_t)] {
            mkdir(folder.path + "/" + name, 0o755)
            try writePropertyList(["Root": ["a": Int(owner)]], to: folder.file(name + "/x.plist"))
            for path in [name, name + "/x.plist"] { chown(folder.path + "/" + path, owner, owner) }
        }
        link("a", "one/x.plist", owner: 11_111)
        link("b", "a", owner: 0)
        link("c", "two", owner: 22_222)
        link("d", "c/../one/x.plist", owner: 11_111)
        link("e", "a", owner: 22_222)
        link("f", "c/../root/x.plist", owner: 22_222)
        link("g", "b", owner: 11_111)
        link("h", "/", owner: 22_222)
        // A target that is not there yet belongs to the owner of the nearest folder.
        link("i", "one/new.plist", owner: 11_111)
        link("j", "two/new/new.plist", owner: 11_111)
        // The root folder belongs to nobody else, also if the link is in a folder of its owner.
        link("two/k", "/", owner: 22_222)
        let refused: (String, uid_t) -> String = { name, user in
            "unreadable: \(self.folder.path)/\(name): is a link of user \(user), who does not own the target; it is not followed"
        }
        let rest = folder.path.dropFirst()
        let cases: KeyValuePairs = [
            "a": "11111", "b": "11111", "c/x.plist": "22222", "d": "11111", "g": "11111", "e": refused("e", 22_222),
            "f": refused("f", 22_222), "h/\(rest)/a": refused("h", 22_222),
            "i": "-1", "j": refused("j", 11_111), "two/k/\(rest)/a": refused("two/k", 22_222),
        ]
        for (name, expected) in cases {
            let prefs = folder.root(name)
            let shown = prefs.outcome == "ok" ? "\(prefs.ints["a"] ?? -1)" : prefs.outcome
            #expect(shown == expected, "\(name)")
        }
    }

    /// Folders are hidden as in a sandbox, which hides the folders above its own. A folder that may not be searched is an error:
    /// a link may be in it.
    @Test(arguments: [EPERM, EACCES]) func foldersThatCannotBeExaminedCountAsFolders(_ code: Int32) throws {
        final class Sandbox: SystemCalls, @unchecked Sendable {
            let folder: String
            let code: Int32
            init(_ folder: String, _ code: Int32) { (self.folder, self.code) = (folder, code) }
            override func status(
                ofPath name: String, in folder: Descriptor, followsLinks: Bool
            ) throws(StorageFailure) -> FileStatus? {
                let isAbove = self.folder.hasPrefix(name + "/")
                if isAbove { throw StorageFailure("stat", name, code: code) }
                return try super.status(ofPath: name, in: folder, followsLinks: followsLinks)
            }
        }
        let prefs = folder.root(system: Sandbox(folder.path, code))
        prefs["a"] = 1
        #expect((prefs.outcome == "ok") == (code == EPERM), "\(prefs.outcome)")
        #expect(folder.root().ints == (code == EPERM ? ["a": 1] : [:]))
    }

    /// A program exchanges a folder for a link and back again, between the call that finds the link and the call that
    /// asks for the reason. The file does not count as missing.
    @Test func aFolderThatIsExchangedForAMomentIsOpenedOnceMore() throws {
        mkdir(folder.file("inner").path, 0o700)
        try writePropertyList(["Root": ["a": 1]], to: folder.file("inner/test.plist"))
        let system = RecordingSystemCalls()
        var exchanges = 0
        system.beforeOpen = { name, _, _ throws(StorageFailure) in
            guard name == "inner", exchanges < 3 else { return }
            exchanges += 1
            throw StorageFailure("open", name, code: ENOTDIR)
        }
        #expect(folder.root("inner/test.plist", system: system).ints == ["a": 1])
        #expect(exchanges == 3)
    }

    /// In the path, and in the target of a link.
    @Test(arguments: [
        "in/./it.plist", "in//it.plist", "./in/it.plist", "in/../in/it.plist", ".//in/./../in/.//it.plist",
    ])
    func eachSpellingOfAPathLeadsToOneFile(_ spelling: String) throws {
        mkdir(folder.file("in").path, 0o700)
        #expect(symlink(spelling, folder.file("link.plist").path) == 0)
        let direct = folder.root("in/it.plist")
        for (number, other) in [folder.root(spelling), folder.root("link.plist")].enumerated() {
            // A write to another file would be rejected.
            direct.update {
                other["\(number)"] = number
                #expect(other.outcome == "ok" && direct["\(number)"] as? Int == number)
            }
        }
        #expect(direct.outcome == "ok" && direct.ints == ["0": 0, "1": 1])
    }

    @Test(arguments: ["", ".", ".."]) func aPathThatEndsWithAFolderNamesNoFile(_ last: String) throws {
        folder.root("x")["a"] = 1
        for path in ["x/\(last)", "new/\(last)"] {
            let prefs = folder.root(path)
            #expect(prefs.outcome == "unreadable: \(folder.path)/\(path): does not name a file")
            prefs["a"] = 2
            #expect(prefs.outcome == "unreadable: \(folder.path)/\(path): does not name a file")
        }
        #expect(folder.root("x").ints == ["a": 1])
    }

    /// A folder that may not be read, or that a sandbox hides, is above the folder of the file.
    @Test(arguments: [EACCES, EPERM, EIO]) func aFolderAboveThatCannotBeOpenedIsNotFlushed(_ code: Int32) throws {
        mkdir(folder.file("in").path, 0o700)
        let (system, above) = (RecordingSystemCalls(), FileNames(path: folder.path).file)
        system.beforeOpen = { name, _, flags throws(StorageFailure) in
            // With O_PATH, a folder is opened only to look names up.
            if name == above, flags & 0o10_000_000 == 0 { throw StorageFailure("open", name, code: code) }
        }
        let prefs = folder.root("in/test.plist", system: system)
        prefs["a"] = 1
        #expect((prefs.outcome == "ok") == (code != EIO), "\(prefs.outcome)")
    }

    /// The flush of a folder, on file systems that have none.
    @Test(arguments: [(EINVAL, true), (ENOTSUP, true), (EIO, false), (ENOSPC, false)])
    func aFlushOfAFolderThatIsNotSupportedIsNone(_ code: Int32, _ isAccepted: Bool) throws {
        let system = RecordingSystemCalls()
        let opened = OpenFile(try system.openFolder(folder.path), system)
        system.fail("fsync", with: EINTR, code)
        let result = Result { try system.synchronizeFolder(opened.descriptor) }
        #expect((result.failure == nil) == isAccepted)
    }

    @Test func aFileInPlaceOfAFolderHasNoFiles() throws {
        folder.root("x")["a"] = 1
        let prefs = folder.root("x/in/test.plist")
        #expect(prefs.outcome == "ok" && prefs.ints == [:])
        #expect(try SystemCalls.real.openFile(FileNames(path: folder.path + "/x/test.plist")) == nil)
        #expect(try SystemCalls.real.openFile(FileNames(path: folder.path + "/new/test.plist")) == nil)
        prefs["a"] = 2
        #expect(prefs.outcome.hasPrefix("not stored: "), "\(prefs.outcome)")
        #expect(folder.root("x").ints == ["a": 1])
    }

    /// What was missing before may be there now.
    @Test func aMissingFileThatMayNotBeLookedAtIsAnError() {
        let system = RecordingSystemCalls()
        let prefs = folder.root(system: system)
        #expect(prefs.ints == [:] && prefs.outcome == "ok")
        system.onCall = { call throws(StorageFailure) in
            if call == "stat" { throw StorageFailure("stat", "", code: EACCES) }
        }
        #expect(prefs.ints == [:] && prefs.outcome.hasPrefix("unreadable: "), "\(prefs.outcome)")
        system.onCall = nil
        #expect(prefs.ints == [:] && prefs.outcome == "ok")
    }
}
