import Foundation
import TestSupport
import Testing

@testable import PersistentPreferences

/// Where a path leads: links, spellings, folders that move, names that are no text.
@Suite struct PathTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test func linksAreFollowedAndKept() throws {
        let manager = FileManager.default
        try manager.createDirectory(at: folder.file("real"), withIntermediateDirectories: true)
        try manager.createSymbolicLink(atPath: folder.file("link.plist").path, withDestinationPath: "middle.plist")
        try manager.createSymbolicLink(atPath: folder.file("middle.plist").path, withDestinationPath: "real/it.plist")
        let linked = folder.prefs("link.plist")
        linked["a"] = 1
        #expect(linked.outcome == "ok")
        #expect(try manager.destinationOfSymbolicLink(atPath: folder.file("link.plist").path) == "middle.plist")
        #expect(try propertyList(at: folder.file("real/it.plist"))["AnyPrefs"] as? [String: Int] == ["a": 1])
        let direct = folder.prefs("real/it.plist")
        linked.update {
            // One file, though reached by two paths.
            direct["b"] = 2
            #expect(linked["b"] as? Int == 2)
        }
        #expect(direct.ints == ["a": 1, "b": 2])
    }

    @Test func aLinkThatIsTurnedElsewhereIsFollowedThere() throws {
        let manager = FileManager.default
        folder.prefs("one.plist")["a"] = 1
        folder.prefs("two.plist")["a"] = 2
        try manager.createSymbolicLink(atPath: folder.file("link.plist").path, withDestinationPath: "one.plist")
        let linked = folder.prefs("link.plist")
        #expect(linked.ints == ["a": 1])
        try manager.removeItem(at: folder.file("link.plist"))
        try manager.createSymbolicLink(atPath: folder.file("link.plist").path, withDestinationPath: "two.plist")
        #expect(linked.ints == ["a": 2])
        linked["b"] = 3
        #expect(folder.prefs("two.plist").ints == ["a": 2, "b": 3])
        #expect(folder.prefs("one.plist").ints == ["a": 1])
    }

    @Test func aFileThatBecomesALinkIsFollowed() throws {
        let prefs = folder.prefs()
        prefs["a"] = 1
        try FileManager.default.moveItem(at: folder.file(), to: folder.file("moved.plist"))
        try FileManager.default.createSymbolicLink(
            atPath: folder.file().path, withDestinationPath: "moved.plist")
        #expect(prefs.ints == ["a": 1])
        prefs["b"] = 2
        #expect(try propertyList(at: folder.file("moved.plist"))["AnyPrefs"] as? [String: Int] == ["a": 1, "b": 2])
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.file().path) == "moved.plist")
    }

    @Test func aRingOfLinksIsReported() throws {
        try FileManager.default.createSymbolicLink(atPath: folder.file("x").path, withDestinationPath: "y")
        try FileManager.default.createSymbolicLink(atPath: folder.file("y").path, withDestinationPath: "x")
        let prefs = folder.prefs("x")
        #expect(prefs.values.isEmpty)
        #expect(prefs.outcome.contains("Too many levels of symbolic links"))
    }

    @Test func twoSpellingsOfALetterAreTwoFiles() throws {
        let composed = folder.prefs("caf\u{E9}.plist")
        let decomposed = folder.prefs("cafe\u{301}.plist")
        composed["a"] = 1
        decomposed["a"] = 2
        #expect(composed.ints == ["a": 1])
        #expect(decomposed.ints == ["a": 2])
    }

    @Test func aNameThatBeginsWithACombiningMarkIsAName() throws {
        let prefs = folder.prefs("\u{301}x.plist")
        prefs["a"] = 1
        #expect(prefs.outcome == "ok")
        #expect(try folder.names().contains("\u{301}x.plist"))
        #expect(FileNames(path: "/d/\u{301}x").folder == "/d")
    }

    @Test func aLinkToANameThatIsNoTextIsRefused() throws {
        let link = folder.file("link.plist").path
        let target: [CChar] = [0x74, -1, 0]
        #expect(symlink(target, link) == 0)
        let prefs = folder.prefs("link.plist")
        let trouble = "\(link): leads to a name that is not UTF-8; the file was left as it is"
        #expect(prefs.outcome == trouble)
        prefs["a"] = 1
        #expect(prefs.outcome == trouble)
        #expect(try folder.names() == ["link.plist"])
    }

    @Test func aWriteInAFolderPutInTheOldOnesPlaceKeepsWhatIsThere() throws {
        let (inner, other) = (folder.file("inner"), folder.file("other"))
        let prefs = folder.prefs("inner/test.plist")
        prefs["a"] = 1
        try FileManager.default.createDirectory(at: other, withIntermediateDirectories: true)
        try writePropertyList(["AnyPrefs": ["b": 5], "Other": ["x": 1]], to: other.appending(path: "test.plist"))
        #expect(prefs.ints == ["a": 1])
        try FileManager.default.moveItem(at: inner, to: folder.file("moved"))
        try FileManager.default.moveItem(at: other, to: inner)
        prefs["c"] = 2
        #expect(prefs.outcome == "ok")
        let list = try propertyList(at: inner.appending(path: "test.plist"))
        #expect(list["AnyPrefs"] as? [String: Int] == ["b": 5, "c": 2])
        #expect(list["Other"] as? [String: Int] == ["x": 1])
    }

    @Test func aFolderThatCannotBeMadeIsReported() {
        final class NoFolders: SystemCalls, @unchecked Sendable {
            override func makeFolder(_ name: String, in folder: Descriptor, mode: mode_t) throws(StorageFailure) {
                throw StorageFailure("mkdir", name, code: ENOENT)
            }
        }
        let url = folder.file("deep/er/test.plist")
        let prefs = AnyPrefs(store: PropertyListFileStore(url: url, system: NoFolders()))
        prefs["a"] = 1
        #expect(prefs.outcome.hasSuffix("mkdir: No such file or directory; the stored state is unchanged"))
    }
}
