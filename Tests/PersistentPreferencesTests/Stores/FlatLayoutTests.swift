@testable import PrefsSupport
import Foundation
import PrefsStoreKit
import TestSupport
import Testing

@testable import EngineSupport
@testable import PersistentPreferences

/// Version 1 doubles a number of former name.
final class ColumnPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref(.formerly("cols")) var columns = 3
    override class var migrations: [PrefsMigration] {
        [PrefsMigration(to: 1) { $0["cols"] = ($0["cols"] as? Int ?? 0) * 2 }]
    }
}

/// `DomainLayout.flat`: the entries of the domain are the values.
@Suite struct FlatLayoutTests {
    private let folder = TemporaryFolder.fresh

    private final class AppPrefs: PersistentPrefs, @unchecked Sendable {
        @Pref var volume = 0.5
        @Pref(.in(1...9), .formerly("cols")) var columns = 3
        @Pref var recent: [String] = []
    }

    private func store(_ system: SystemCalls = .real) -> PrefsStore {
        .propertyList(url: folder.file(), durability: .crash, layout: .flat, system: system)
    }

    private func entries() throws -> [String: Any] { try propertyList(at: folder.file()) }

    @Test func valuesAreEntriesOfTheFile() throws {
        try writePropertyList(["volume": 0.25, "window": ["x": 1], "columns": "three"], to: folder.file())
        let prefs = AppPrefs(key: "any name", store: store())
        #expect(prefs.volume == 0.25 && prefs.recent == [])
        // The value is of another type. It is kept, and reads as the default.
        #expect(prefs.columns == 3)
        #expect(prefs.lastError != nil)
        prefs.volume = 0.75
        prefs.recent = ["a"]
        let found = try entries()
        #expect(found["volume"] as? Double == 0.75)
        #expect(found["recent"] as? [String] == ["a"])
        #expect(found["columns"] as? String == "three")
        #expect(found["window"] as? [String: Int] == ["x": 1])
        #expect(found.count == 4)
        #expect(AppPrefs(key: "another name", store: store()).volume == 0.75)
    }

    /// Other programs' entries survive even the removal of everything, and so the domain stays.
    @Test func foreignEntriesAreInvisibleAndStay() throws {
        try writePropertyList(["others": 7, "volume": 1.0, "cols": 4], to: folder.file())
        let prefs = AppPrefs(store: store())
        #expect(Set(prefs.values.keys) == ["columns", "volume"] && prefs.columns == 4)
        prefs["others"] = 8
        #expect(prefs.outcome == "expected a key that @Pref declares or allowedKeys lists, found \"others\"")
        prefs.deleteRoot()
        #expect(try prefs.lastError == nil && entries() as? [String: Int] == ["others": 7] && prefs.columns == 3)
        prefs.volume = 1
        prefs.values = ["columns": 5]
        #expect(try entries().keys.sorted() == ["columns", "others"])
        prefs.resetAll()
        #expect(try entries() as? [String: Int] == ["others": 7])
    }

    @Test func formerNamesAndVersionsWork() throws {
        try writePropertyList(["cols": 4, "others": 1], to: folder.file())
        let prefs = ColumnPrefs(store: store())
        #expect(prefs.columns == 8)
        prefs.columns += 1
        let found = try entries()
        #expect(found["columns"] as? Int == 9 && found["others"] as? Int == 1)
        #expect(found.keys.sorted() == ["PersistentPreferences version", "columns", "others"])
        #expect(ColumnPrefs(store: store()).columns == 9)
        prefs.deleteRoot()
        #expect(try entries() as? [String: Int] == ["others": 1])
    }

    /// The version belongs to the class that has migrations.
    @Test func aClassWithoutMigrationsLeavesTheVersionOfAnother() throws {
        try writePropertyList(["cols": 4], to: folder.file())
        let migrated = ColumnPrefs(store: store())
        migrated.columns += 1
        final class Other: PersistentPrefs, @unchecked Sendable { @Pref var volume = 0.5 }
        let other = Other(store: store())
        other.volume = 1
        other.deleteRoot()
        #expect(try entries().keys.sorted() == ["PersistentPreferences version", "columns"])
        #expect(migrated.columns == 9 && !other.$volume.isStored)
    }

    @Test func anUnchangedDomainIsNotWritten() throws {
        let calls = RecordingSystemCalls()
        let prefs = AppPrefs(store: store(calls))
        try store().update(root: "any") { $0 = nil }
        try store().update(root: "any") { $0 = [:] }
        prefs.update { _ in }
        #expect(!FileManager.default.fileExists(atPath: folder.file().path))
        prefs.volume = 1
        _ = calls.takeCalls()
        prefs.volume = 1
        prefs.reload()
        #expect(calls.takeCalls().filter { $0.hasPrefix("rename") } == [])
        #expect(prefs.lastError == nil)
        prefs.deleteRoot()
        prefs.reload()
        #expect(prefs.lastError.map { "\($0)" } == "nothing is stored under the root key \"AppPrefs\"")
    }

    /// Changes of entries are received under every key of the instance.
    @Test func observersReceiveEntries() throws {
        let prefs = AnyPrefs(observedNames, key: "Root", store: store())
        let listener = Listener(prefs)
        AnyPrefs(observedNames, key: "Other", store: store())["a"] = 1
        try store().update(root: "x") { $0?["unknown"] = 1 }
        prefs.key = "Moved"
        prefs["a"] = 2
        #expect(listener.take() == ["Root a: - → 1", "Moved a: 1 → 2"])
        let heard = try Observer<String> { tell in try store().observe(root: "R") { tell($0.text) } }
        prefs["b"] = "x"
        #expect(heard.wait(for: 1) == ["R b: - → 'x'"])
        heard.cancel()
        try writePropertyList(["a": 5], to: folder.file())
        #expect(listener.heard.wait { $0.last?.contains("elsewhere") == true }.last?.contains("a: 2 → 5") == true)
    }

    @Test func nestedUpdatesOfOneDomainMerge() {
        let (one, two) = (AppPrefs(key: "One", store: store()), AppPrefs(key: "Two", store: store()))
        one.update {
            $0["volume"] = 1
            two.columns = 4
            #expect(one.columns == 4)
        }
        #expect(two.volume == 1 && one.columns == 4)
        let failure = one.update {
            two.volume = 0
            one["columns"] = 99
        }.failure
        #expect(failure != nil)
        #expect(two.volume == 1)
    }
}
