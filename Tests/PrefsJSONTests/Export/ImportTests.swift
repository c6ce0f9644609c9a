@testable import PrefsSupport
import Foundation
import PersistentPreferences
import TestSupport
import Testing
import PrefsJSON

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
        #expect(asText(prefs.exported(as: .json)) == "{\n  \"a\": 1,\n  \"b\": 2\n}\n")
        let xml = try #require(prefs.exported(as: .xml))
        #expect(
            try (PropertyListSerialization.propertyList(from: xml, format: nil) as? [String: Int]) == ["a": 1, "b": 2])
    }

    @Test(arguments: ExportFormat.allCases) func nothingStoredIsAnEmptyDictionary(_ format: ExportFormat) throws {
        let prefs = folder.prefs()
        let data = try #require(prefs.exported(as: format))
        #expect(prefs.outcome == "ok")
        if format == .json { #expect(asText(data) == "{}\n") }
        #expect(prefs.import(data, merge: true) == nil)
        #expect(try folder.names() == [])
        prefs["a"] = 1
        #expect(prefs.import(data, merge: false) == nil)
        #expect(prefs.ints == [:])
    }

    @Test func mergingKeepsWhatIsNotGiven() throws {
        let prefs = try makePrefs()
        #expect(prefs.import(json(#"{"b":5,"c":[]}"#), merge: true) == nil)
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
        let before = try fileNumber()
        for format in [ExportFormat.binary, .json] {
            #expect(prefs.import(try #require(prefs.exported(as: format)), merge: merge) == nil)
        }
        #expect(try fileNumber() == before)
        prefs.import(json(#"{"a":2}"#), merge: true)
        #expect(try fileNumber() != before)
    }

    /// Bytes, and the error message.
    private static let refused: [(data: Data, message: String)] = [
        (
            Data(#"{"a":5,"d":1,"other":1}"#.utf8),
            #"expected a key that @Pref declares or keys lists, found "d", "other""#
        ),
        (
            Data(#"{"a":5,"PersistentPreferences version":1}"#.utf8),
            #"expected a key that @Pref declares or keys lists, found "\#("PersistentPreferences version")""#
        ),
        (
            Data(#"{"a":5,"b":{"x":[{"CF$UID":7}]}}"#.utf8),
            "b.x[0]: a dictionary of a lone number CF$UID cannot be stored in a property list"
        ),
        (Data(#"{"a":5,"b":{"$date":1e17}}"#.utf8), "b: a date this far away cannot be stored in a property list"),
        (Data(#"{"a":5,"b":{"$date":{"$double":"nan"}}}"#.utf8), "b: a date must be finite"),
        (
            Data(#"{"a":5,"b":}"#.utf8),
            "the data cannot be imported: line 1, column 12: expected a value (at b); the stored state is unchanged"
        ),
        (
            Data("<plist><array/></plist>".utf8),
            "the data cannot be imported: expected a dictionary at the top level, found an array; the stored state is unchanged"
        ),
    ]

    @Test(arguments: refused.indices, [true, false]) func aRejectionChangesNothing(_ index: Int, merge: Bool) throws {
        let (data, message) = Self.refused[index]
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
            }?.description == message)
        #expect(try Data(contentsOf: folder.file()) == bytes)
        #expect(try stored() == ["a": 1, "b": 2, "other": 9, mark: 4])
    }

    @Test func insideAnUpdateItJoins() throws {
        let prefs = try makePrefs()
        let failure = prefs.update {
            prefs["a"] = 7
            #expect(prefs.import(json(#"{"b":8}"#), merge: true) == nil)
            #expect(asText(prefs.exported(as: .json)) == "{\n  \"a\": 7,\n  \"b\": 8\n}\n")
            prefs.import(json(#"{"c":9}"#), merge: false)
            prefs["b"] = 1
        }
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
        let store = MeddledStore(["a": 1, "b": 1], ["a": 5, "b": 5, "c": 5])
        if door == "initializer" {
            #expect(AnyPrefs(values: ["a": 1, "b": 2], store: store).outcome == "ok")
        } else {
            let prefs = AnyPrefs(store: store)
            #expect(prefs.import(json(#"{"a":1,"b":2}"#), merge: door == "merge") == nil)
        }
        let expected = door == "replace" ? ["a": 1, "b": 2] : ["a": 1, "b": 2, "c": 5]
        #expect(AnyPrefs(store: store).ints == expected)
    }

    private func fileNumber() throws -> UInt64 {
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.file().path)
        return try #require((attributes[.systemFileNumber] as? NSNumber)?.uint64Value)
    }
}

/// A store that another writer changes before its first update.
private final class MeddledStore: PrefsStore, @unchecked Sendable {
    private let store = InMemoryStore()
    private var others: [String: Int]?

    init(_ values: [String: Int], _ others: [String: Int]) {
        try? store.update(root: "AnyPrefs") { $0 = values }
        self.others = others
    }

    func read(root: String) throws -> [String: Any]? {
        try store.read(root: root)
    }

    func update(root: String, _ body: (inout [String: Any]?) throws -> Void) throws {
        if let others { try store.update(root: root) { $0 = others } }
        others = nil
        try store.update(root: root, body)
    }
}

private func json(_ text: String) -> Data {
    Data(text.utf8)
}

private func asText(_ data: Data?) -> String {
    data.map { String(decoding: $0, as: UTF8.self) } ?? "nil"
}
