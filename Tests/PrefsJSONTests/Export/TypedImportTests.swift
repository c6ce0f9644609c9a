import Foundation
import PersistentPreferences
import PrefsJSON
import Testing
import TestSupport

private struct Owner: Codable, Equatable {
    var name: String
    var born: Date
}

/// The fourth version of a class, with all features of declared properties.
private final class TypedPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref(.in(8...72)) var size = 12
    @Pref(.formerly("fontname")) var fontName = "Menlo"
    @Pref var owner: Owner?
    @Pref var ratio = 1.0

    override class var migrations: [PrefsMigration] {
        [PrefsMigration(to: 4) { $0["size"] = ($0["size"] as? Int).map { $0 / 2 } }]
    }
}

/// Imports and exports through declared properties.
@Suite struct TypedImportTests {
    private let store = InMemoryStore()
    private let mark = "PersistentPreferences version"

    private func export(_ prefs: PersistentPrefs) -> String {
        prefs.exported(as: .json).map { String(decoding: $0, as: UTF8.self) } ?? prefs.lastError?.description ?? "nil"
    }

    @Test func theShapeOfNowWithoutDefaultsAndVersion() throws {
        try store.update(root: "TypedPrefs") { $0 = ["size": 40, "fontname": "Courier", "gone": 1] }
        #expect(export(TypedPrefs(store: store)) == "{\n  \"fontName\": \"Courier\",\n  \"size\": 20\n}\n")
        // A read writes nothing.
        #expect(try store.read(root: "TypedPrefs")?.keys.sorted() == ["fontname", "gone", "size"])
    }

    @Test(arguments: [true, false]) func anImportIsOfTheShapeOfNow(merge: Bool) throws {
        try store.update(root: "TypedPrefs") { $0 = ["size": 40, "fontname": "Courier", "gone": 1] }
        let prefs = TypedPrefs(store: store)
        #expect(prefs.import(Data(#"{"size": 30, "ratio": 2}"#.utf8), merge: merge) == nil)
        #expect(prefs.size == 30)
        #expect(prefs.ratio == 2)
        #expect(prefs.fontName == (merge ? "Courier" : "Menlo"))
        let stored = try #require(try store.read(root: "TypedPrefs"))
        #expect(stored["gone"] as? Int == 1)
        #expect(stored[mark] as? Int == 4)
        #expect(stored["fontname"] == nil)
    }

    @Test(arguments: [true, false]) func aConstraintRejectsTheWhole(merge: Bool) {
        let prefs = TypedPrefs(store: store)
        prefs.size = 10
        let error = prefs.import(Data(#"{"size": 73, "fontName": "Courier"}"#.utf8), merge: merge)
        #expect(error?.description == "size: must be in 8...72")
        #expect(export(prefs) == "{\n  \"size\": 10\n}\n")
        // A value that another version of the program has stored does not prevent the import of the rest.
        try? store.update(root: "TypedPrefs") { $0?["size"] = 99 }
        #expect(prefs.import(Data(#"{"size": 99, "fontName": "Courier"}"#.utf8), merge: merge) == nil)
        #expect(prefs.fontName == "Courier")
    }

    @Test(arguments: ExportFormat.allCases) func fromOneRootToAnother(_ format: ExportFormat) throws {
        let prefs = TypedPrefs(store: store)
        let owner = Owner(name: "Ada", born: Date(timeIntervalSinceReferenceDate: -5_860_000_000))
        prefs.update {
            prefs.size = 50
            prefs.owner = owner
            prefs.ratio = 2
        }
        let copy = TypedPrefs(key: "Copy", store: store)
        #expect(copy.import(try #require(prefs.exported(as: format)), merge: false) == nil)
        #expect(copy.size == 50 && copy.owner == owner && copy.ratio == 2)
        #expect(copy.exported(as: .json) == prefs.exported(as: .json))
    }
}
