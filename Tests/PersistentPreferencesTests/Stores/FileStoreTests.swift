@testable import PrefsSupport
import EngineSupport
import Foundation
import PrefsPropertyLists
import PrefsStoreKit
import TestSupport
import Testing

@testable import PersistentPreferences

/// A file and its surroundings: its format and permissions, and URLs that name none.
@Suite struct FileStoreTests {
    private let folder = TemporaryFolder.fresh

    @Test func anExistingFileKeepsItsFormatAndMode() throws {
        try writePropertyList(["AnyPrefs": ["a": 1]], to: folder.file(), as: .xml)
        try FileManager.default.setAttributes([.posixPermissions: 0o664], ofItemAtPath: folder.file().path)
        folder.prefs()["a"] = 2
        #expect(try Data(contentsOf: folder.file()).starts(with: Data("<?xml".utf8)))
        #expect(try propertyList(at: folder.file()) as NSDictionary == ["AnyPrefs": ["a": 2]])
        for (name, mode) in [("test.plist", 0o664), (".test.plist.lock", 0o600)] {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.file(name).path)
            #expect(attributes[.posixPermissions] as? Int == mode, "\(name)")
        }
    }

    /// Other programs write null into binary lists. It is no value, as in JSON, and stays.
    @Test func aNullInABinaryListIsNoValueAndStays() throws {
        let values: StoredValue = .dictionary(["a": .null, "b": .integer(1), "c": .array([.integer(1), .null])])
        try PropertyListCoder.encode(.dictionary(["AnyPrefs": values]), as: .binary).write(to: folder.file())
        let prefs = folder.prefs()
        #expect(prefs["a"] == nil && prefs["b"] as? Int == 1 && prefs["c"] as? [Int] == [1])
        #expect(prefs.outcome == "ok" && Set(prefs.values.keys) == ["b", "c"])
        prefs["b"] = 2
        #expect(prefs.outcome == "ok")
        let stored = try propertyList(at: folder.file())["AnyPrefs"] as? [String: Any]
        #expect(stored?["a"] is NSNull && stored?["b"] as? Int == 2 && (stored?["c"] as? [Any])?.last is NSNull)
        prefs["a"] = 3
        #expect(prefs.ints == ["a": 3, "b": 2] && prefs.outcome == "ok")
    }

    /// An entry of another type is only removed, as a whole.
    @Test func anUpdateThatLeavesAnEntryOfAnotherTypeIsRejected() throws {
        try writePropertyList(["R": 5, "S": ["a": 1]], to: folder.file())
        let store = PrefsStore.propertyList(url: folder.file())
        let bodies: [(inout [String: Any]?) -> Void] = [{ _ in }, { $0 = [:] }, { $0 = ["a": 1] }, { $0?["a"] = 1 }]
        for body in bodies {
            #expect(throws: PrefsError.rootIsNotDictionary(key: "R")) { try store.update(root: "R") { body(&$0) } }
        }
        #expect(try propertyList(at: folder.file()) as NSDictionary == ["R": 5, "S": ["a": 1]])
        try store.update(root: "R") { $0 = nil }
        #expect(try propertyList(at: folder.file()) as NSDictionary == ["S": ["a": 1]])
    }

    @Test func aFolderThatIsRemovedIsMadeByTheNextWrite() throws {
        let prefs = folder.prefs("inner/test.plist")
        prefs["a"] = 1
        try FileManager.default.removeItem(at: folder.file("inner"))
        expectEventually(prefs.ints, is: [:])
        prefs["a"] = 4
        #expect(prefs.outcome.contains("was missing, and had values before"))
        #expect(folder.prefs("inner/test.plist").ints == ["a": 4])
    }

    @Test(.enabled(if: Hazard.canRun("an unreadable file", if: geteuid() != 0, else: "root may read everything")))
    func aFileWithoutPermissionIsLeftAsItIs() throws {
        let prefs = folder.prefs()
        prefs["a"] = 1
        try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: folder.file().path)
        // The last known state, with the error.
        #expect(prefs.ints == ["a": 1])
        #expect(prefs.outcome.contains("Permission denied"))
        // A program that starts now reads the last good copy.
        #expect(folder.prefs().ints == ["a": 1])
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder.file().path)
        #expect(prefs.ints == ["a": 1])
    }

    @Test(arguments: ["https://example.org/a.plist", "file:///", "file:///tmp/"])
    func aURLThatIsNotAFileIsRejected(_ text: String) throws {
        let url = try #require(URL(string: text))
        let prefs = AnyPrefs(store: .propertyList(url: url))
        if case .invalidName = prefs.lastError {} else { Issue.record("\(prefs.outcome)") }
        #expect(prefs.update { $0["a"] = 1 }.failure != nil)
    }
}
