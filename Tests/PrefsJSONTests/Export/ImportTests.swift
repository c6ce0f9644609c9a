@testable import PrefsSupport
import Foundation
import PersistentPreferences
import TestSupport
import Testing
import PrefsJSON
import PrefsStoreKit

/// The fourth version of a class, with all features of declared properties.
private final class TypedPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref(.in(8...72)) var size = 12
    @Pref(.formerly("fontname")) var fontName = "Menlo"
    @Pref var ratio = 1.0

    override class var migrations: [PrefsMigration] {
        [PrefsMigration(to: 4) { $0["size"] = ($0["size"] as? Int).map { $0 / 2 } }]
    }
}

/// The effect of an import on the root: everything or nothing, and no other change.
@Suite final class ImportTests: FolderSuite {
    /// A root with keys of another version in it.
    private func makePrefs() throws -> AnyPrefs {
        try writePropertyList(["AnyPrefs": ["a": 1, "b": 2, "other": 9, mark: 4], "Else": 1], to: folder.file())
        return folder.prefs()
    }

    private func stored() throws -> [String: Int] {
        let root = try propertyList(at: folder.file())["AnyPrefs"] as? [String: Any] ?? [:]
        return root.compactMapValues { $0 as? Int }
    }

    private let mark = "PersistentPreferences version"

    @Test func theValuesAreExportedAndNothingElse() throws {
        let prefs = try makePrefs()
        #expect(prefs.exportedText == "{\n  \"a\": 1,\n  \"b\": 2\n}\n")
        let xml = try #require(prefs.exported(as: .xml))
        #expect(
            try (PropertyListSerialization.propertyList(from: xml, format: nil) as? [String: Int]) == ["a": 1, "b": 2])
    }

    @Test(arguments: ExportFormat.allCases) func nothingStoredIsAnEmptyDictionary(_ format: ExportFormat) throws {
        let prefs = folder.prefs()
        let data = try #require(prefs.exported(as: format))
        #expect(prefs.outcome == "ok")
        #expect(prefs.exportedText == "{}\n")
        #expect(prefs.import(data, merge: true) == nil)
        #expect(try folder.names() == [])
        prefs["a"] = 1
        #expect(prefs.import(data, merge: false) == nil)
        #expect(prefs.ints == [:])
    }

    @Test func mergingKeepsWhatIsNotGiven() throws {
        let prefs = try makePrefs()
        // People write null for "not set".
        #expect(prefs.import(json(#"{"a":null,"b":5,"c":[]}"#), merge: true) == nil)
        #expect(prefs.ints == ["a": 1, "b": 5])
        #expect(prefs["c"] as? [Int] == [])
        #expect(try stored() == ["a": 1, "b": 5, "other": 9, mark: 4])
        #expect(try propertyList(at: folder.file())["Else"] as? Int == 1)
    }

    @Test func replacingRemovesWhatIsNotGiven() throws {
        let prefs = try makePrefs()
        #expect(prefs.import(json(#"{"b":5}"#), merge: false) == nil)
        #expect(try stored() == ["b": 5, "other": 9, mark: 4])
        #expect(prefs.import(json("{}"), merge: false) == nil)
        #expect(try stored() == ["other": 9, mark: 4])
    }

    @Test(arguments: [true, false]) func anEqualImportIsSilent(merge: Bool) throws {
        let prefs = try makePrefs()
        prefs["c"] = Date(timeIntervalSinceReferenceDate: 0.1)
        let before = try FolderState(folder)
        for format in [ExportFormat.binary, .json] {
            #expect(prefs.import(try #require(prefs.exported(as: format)), merge: merge) == nil)
        }
        #expect(try FolderState(folder) == before)
        prefs.import(json(#"{"a":2}"#), merge: true)
        #expect(try FolderState(folder) != before)
    }

    /// Texts, and the error messages.
    private static let refused = [
        #"{"a":5,"d":1,"other":1}"#: #"expected a key that @Pref declares or allowedKeys lists, found "d", "other""#,
        #"{"a":5,"PersistentPreferences version":1}"#:
            #"expected a key that @Pref declares or allowedKeys lists, found "PersistentPreferences version""#,
        #"{"a":5,"b":{"x":[{"CF$UID":7}]}}"#:
            "b.x[0]: a dictionary of a lone number CF$UID cannot be stored in a property list",
        #"{"a":5,"b":{"$date":1e17}}"#: "b: a date this far away cannot be stored in a property list",
        #"{"a":5,"b":{"$date":{"$double":"nan"}}}"#: "b: a date must be finite",
        #"{"a":5,"b":}"#:
            "the data cannot be imported: line 1, column 12: expected a value (at b); the stored state is unchanged",
        "<plist><array/></plist>":
            "the data cannot be imported: expected a dictionary at the top level, found an array; the stored state is unchanged",
    ]

    @Test(arguments: refused, [true, false])
    func aRejectionChangesNothing(_ refused: (key: String, value: String), merge: Bool) throws {
        let (data, message) = (json(refused.key), refused.value)
        let prefs = try makePrefs()
        let bytes = try Data(contentsOf: folder.file())
        let error = prefs.import(data, merge: merge)
        #expect(error?.description == message)
        #expect(prefs.outcome == message)
        #expect(prefs.errors == [message])
        #expect(try Data(contentsOf: folder.file()) == bytes)
        #expect(
            prefs.update {
                prefs["a"] = 7; prefs.import(data, merge: merge)
            }.failure?.description == message)
        #expect(try Data(contentsOf: folder.file()) == bytes)
        #expect(try stored() == ["a": 1, "b": 2, "other": 9, mark: 4])
    }

    @Test func insideAnUpdateItJoins() throws {
        let prefs = try makePrefs()
        let failure = prefs.update {
            prefs["a"] = 7
            #expect(prefs.import(json(#"{"b":8}"#), merge: true) == nil)
            #expect(prefs.exportedText == "{\n  \"a\": 7,\n  \"b\": 8\n}\n")
            prefs.import(json(#"{"c":9}"#), merge: false)
            prefs["b"] = 1
        }.failure
        #expect(failure == nil)
        #expect(try stored() == ["b": 1, "c": 9, "other": 9, mark: 4])
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try prefs.update { () throws in
                prefs.import(json(#"{"c":10}"#), merge: true)
                throw Stop()
            }
        }
        #expect(prefs["c"] as? Int == 9)
    }

    @Test func aRootThatCannotBeReadIsNotExported() throws {
        try writePropertyList(["AnyPrefs": [1]], to: folder.file())
        let bytes = try Data(contentsOf: folder.file())
        let prefs = folder.prefs()
        for format in ExportFormat.allCases {
            #expect(prefs.exported(as: format) == nil)
            #expect(prefs.outcome.contains("expected a dictionary"))
        }
        #expect(prefs.import(json("{}"), merge: true)?.description == prefs.outcome)
        #expect(try Data(contentsOf: folder.file()) == bytes)
        // An import that replaces all values is an assignment of all values, which repairs the root.
        #expect(prefs.import(json("{}"), merge: false) == nil)
        #expect(try propertyList(at: folder.file()) as NSDictionary == ["AnyPrefs": [String: Any]()])
    }

    /// A UID of an archive, which another program has stored.
    @Test func whatJSONCannotHoldIsNamed() throws {
        let xml =
            "<plist><dict><key>AnyPrefs</key><dict><key>a</key><array><dict><key>CF$UID</key><integer>5</integer></dict>"
        try Data((xml + "</array></dict></dict></plist>").utf8).write(to: folder.file())
        let prefs = folder.prefs()
        #expect(prefs.exported(as: .json) == nil)
        #expect(prefs.lastError?.failures.map(\.path) == ["a[0]"])
        #expect(prefs.exported(as: .binary) != nil)
        #expect(prefs.outcome == "ok")
    }

    /// Another writer writes between the comparison with the stored values and the lock. All given values must be
    /// stored.
    @Test(arguments: ["merge", "replace", "initializer"]) func aWriterInBetweenIsWrittenOver(door: String) throws {
        let memory = PrefsStore.memory()
        try memory.update(root: "AnyPrefs") { $0 = ["a": 1, "b": 1] }
        let other = Interruption { try memory.update(root: "AnyPrefs") { $0 = ["a": 5, "b": 5, "c": 5] } }
        let store = ForeignBackend(memory, beforeUpdate: { _ in try other.runOnce() }).store
        if door == "initializer" {
            #expect(AnyPrefs(values: ["a": 1, "b": 2], store: store).outcome == "ok")
        } else {
            let prefs = AnyPrefs(store: store)
            #expect(prefs.import(json(#"{"a":1,"b":2}"#), merge: door == "merge") == nil)
        }
        let expected = door == "replace" ? ["a": 1, "b": 2] : ["a": 1, "b": 2, "c": 5]
        #expect(AnyPrefs(store: store).ints == expected)
    }

    // MARK: - Declared properties

    private let store = PrefsStore.memory()

    @Test func theShapeOfNowWithoutDefaultsAndVersion() throws {
        try store.update(root: "TypedPrefs") { $0 = ["size": 40, "fontname": "Courier", "gone": 1] }
        #expect(TypedPrefs(store: store).exportedText == "{\n  \"fontName\": \"Courier\",\n  \"size\": 20\n}\n")
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
        #expect(prefs.exportedText == "{\n  \"size\": 10\n}\n")
        // A value that another version of the program has stored does not prevent the import of the rest.
        try? store.update(root: "TypedPrefs") { $0?["size"] = 99 }
        #expect(prefs.import(Data(#"{"size": 99, "fontName": "Courier"}"#.utf8), merge: merge) == nil)
        #expect(prefs.fontName == "Courier")
    }
}

private func json(_ text: String) -> Data {
    Data(text.utf8)
}
