import Foundation
import TestSupport
import Testing

@testable import EngineSupport
@testable import PrefsFileEngine
@testable import PrefsPropertyLists

/// A folder that another program exchanges by two renames: `mv app app.old; mv app.new app`. A folder that a writer makes
/// in between would be in the way of the second one.
extension PresenceTests {
    private var path: String { folder.file("app/test.plist").path }

    private static let new = ["a": 5, "c": 7]

    /// The folder of an installation, as a program or a person has left it.
    private func install(_ name: String, _ ints: [String: Int]?) throws {
        try FileManager.default.createDirectory(at: folder.file(name), withIntermediateDirectories: true)
        if let ints { try Self.text(ints).write(to: folder.file("\(name)/test.plist")) }
    }

    private func names(in name: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.file(name).path).sorted()
    }

    private func move(_ name: String, to newName: String) {
        clock.folderStamp = clock.elapsed
        #expect(rename(folder.file(name).path, folder.file(newName).path) == 0)
    }

    /// A program that knows the file; nothing has happened for ten seconds.
    private func readerOfAFolder(hasWritten: Bool = false) throws -> FileRoot {
        clock.folderStamp = .zero
        try install("app", hasWritten ? nil : Self.known)
        let prefs = FileRoot(path, format: .plainXML, system: clock)
        if hasWritten { prefs.values = Self.known }
        #expect(prefs.ints == Self.known && prefs.outcome == "ok")
        pass(.seconds(10))
        return prefs
    }

    /// In each of the pauses, there is no folder, until another one gets its name in one of them.
    @Test(arguments: [1, 2, 24], [false, true])
    func aFolderThatIsExchangedIsAwaited(_ pause: Int, hasWritten: Bool) throws {
        let prefs = try readerOfAFolder(hasWritten: hasWritten)
        try install("app.new", Self.new)
        let before = try names(in: "app")
        move("app", to: "app.old")
        clock.onPause = { [unowned self] in
            #expect(clock.locks == 0 && !FileManager.default.fileExists(atPath: folder.file("app").path))
            if clock.pauses == pause { move("app.new", to: "app") }
        }
        prefs["d"] = 1
        #expect(prefs.outcome == "ok" && clock.pauses == pause)
        #expect(prefs.ints == Self.new.merging(["d": 1]) { $1 })
        #expect(try propertyList(at: URL(filePath: path))["Root"] as? [String: Int] == ["a": 5, "c": 7, "d": 1])
        #expect(try names(in: "app") == [".test.plist.lastgood", ".test.plist.lock", "test.plist"])
        #expect(try names(in: "app.old") == before)
        #expect(try propertyList(at: folder.file("app.old/test.plist"))["Root"] as? [String: Int] == Self.known)
    }

    /// Several folders of the path are missing at once: the time of the nearest one that is there counts.
    @Test(arguments: ["one/app", "one/two/app"], [3, nil])
    func severalFoldersThatAreExchangedAreAwaited(_ folders: String, _ pause: Int?) throws {
        clock.folderStamp = .zero
        try install(folders, Self.known)
        try install("new" + folders.dropFirst(3), Self.new)
        let file = folder.file("\(folders)/test.plist")
        let prefs = FileRoot(file.path, format: .plainXML, system: clock)
        #expect(prefs.ints == Self.known)
        pass(.seconds(10))
        move("one", to: "old")
        clock.onPause = { [unowned self] in
            #expect(!FileManager.default.fileExists(atPath: folder.file("one").path))
            if clock.pauses == pause { move("new", to: "one") }
        }
        prefs["d"] = 1
        #expect(clock.pauses == pause ?? 25)
        let expected = pause == nil ? ["d": 1] : Self.new.merging(["d": 1]) { $1 }
        #expect(try prefs.ints == expected && propertyList(at: file)["Root"] as? [String: Int] == expected)
    }

    /// An update, which begins with the lock.
    @Test func anUpdateAwaitsAFolderToo() throws {
        let prefs = try readerOfAFolder()
        try install("app.new", Self.new)
        move("app", to: "app.old")
        clock.onPause = { [unowned self] in if clock.pauses == 3 { move("app.new", to: "app") } }
        prefs.update { prefs["d"] = 1 }
        #expect(prefs.outcome == "ok" && clock.pauses == 3 && prefs.ints == ["a": 5, "c": 7, "d": 1])
    }

    /// After 250 ms the folder is made, and has what was known.
    @Test(arguments: [false, true]) func aFolderThatDoesNotComeBackIsMade(_ hasWritten: Bool) throws {
        let prefs = try readerOfAFolder(hasWritten: hasWritten)
        let before = try names(in: "app")
        move("app", to: "app.old")
        clock.onPause = { [unowned self] in
            #expect(!FileManager.default.fileExists(atPath: folder.file("app").path))
        }
        prefs["d"] = 1
        #expect(prefs.errors.last?.isWarning == true && clock.pauses == 25 && prefs.ints == ["d": 1])
        let names = [".test.plist.lastgood", ".test.plist.lock", "test.plist", "test.plist.corrupt-missing"]
        #expect(try self.names(in: "app") == names && self.names(in: "app.old") == before)
        let kept = try CheckedCopy.bytes(of: Data(contentsOf: folder.file("app/test.plist.corrupt-missing")))
        #expect(try propertyList(from: kept)["Root"] as? [String: Int] == Self.known)
        prefs["d"] = 2
        #expect(prefs.outcome == "ok" && clock.pauses == 25)
    }

    @Test func aProcessThatKnowsNothingMakesTheFolderAtOnce() throws {
        try install("app", Self.known)
        move("app", to: "app.old")
        let location = FileLocation(path: path, system: clock)
        try location.transact(durability: .process) { $0.replace("a", with: .integer(1)) }
        #expect(try location.read().content == ["a": .integer(1)])
        #expect(try clock.pauses == 0 && names(in: "app.old") == ["test.plist"])
    }

    /// The open file of the former folder is as it was. A write resolves the path.
    @Test(arguments: [false, true]) func theOpenFileOfAMovedFolderHidesNothing(_ hasWritten: Bool) throws {
        let prefs = try readerOfAFolder(hasWritten: hasWritten)
        try install("app.new", Self.new)
        let before = try names(in: "app")
        move("app", to: "app.old")
        move("app.new", to: "app")
        prefs["d"] = 1
        #expect(prefs.outcome == "ok" && clock.pauses == 0 && prefs.ints == ["a": 5, "c": 7, "d": 1])
        #expect(try names(in: "app") == [".test.plist.lastgood", ".test.plist.lock", "test.plist"])
        #expect(try names(in: "app.old") == before)
    }

    /// The new folder gets its file later. Until then, nothing is in the way but the lock file.
    @Test(arguments: [3, nil]) func aNewFolderThatHasNoFileYet(_ pause: Int?) throws {
        let prefs = try readerOfAFolder()
        try install("app.new", nil)
        move("app", to: "app.old")
        move("app.new", to: "app")
        clock.onPause = { [unowned self] in
            #expect(throws: Never.self) {
                #expect(try Set(names(in: "app")).isSubset(of: [".test.plist.lock"]))
                if clock.pauses == pause { try Self.text(Self.new).write(to: folder.file("app/test.plist")) }
            }
        }
        prefs["d"] = 1
        #expect(prefs.ints == (pause == nil ? ["d": 1] : ["a": 5, "c": 7, "d": 1]))
        #expect(clock.pauses == pause ?? 25)
        #expect(try names(in: "app.old") == ["test.plist"])
    }

    /// Another program removes the folder again and again, after the file was seen in it.
    @Test func aFolderThatIsRemovedRepeatedly() throws {
        let prefs = try readerOfAFolder()
        try FileManager.default.removeItem(at: folder.file("app"))
        var rounds = 0
        clock.beforeOpen = { [unowned self] name, flags in
            guard name == "app" else { return }
            // The file is looked for by names; the lock file needs an open folder.
            if flags & 0o10_000_000 != 0 {
                #expect(throws: Never.self) { try install("app", Self.new) }
            } else {
                rounds += 1
                try? FileManager.default.removeItem(at: folder.file("app"))
            }
        }
        expectNotStored("its folder is removed repeatedly") {
            try prefs.location.transact(durability: .process) { _ in }
        }
        #expect(rounds == 200)
    }
}
