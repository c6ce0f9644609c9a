import Foundation
import PersistentPreferences
import PrefsSettingsFiles
import TestSupport
import Testing

private enum Key: String, PropertyListKey { case text, number, real, flag, date, data, list, inner, nothing }

@Suite struct PropertyListDictionaryTests {
    private func dictionary(_ contents: [String: Any]) throws -> PropertyListDictionary {
        let folder = try TemporaryFolder()
        try writePropertyList(contents, to: folder.file("one.plist"))
        return try PropertyListDictionary(contentsOf: folder.file("one.plist"))
    }

    @Test func everyTypeIsRead() throws {
        let date = Date(timeIntervalSinceReferenceDate: 0.5)
        let dictionary = try dictionary([
            "text": "x", "number": Int.max, "real": 1.5, "flag": true, "date": date, "data": Data([1]),
            "list": ["a", "b"], "inner": ["k": [1, 2]],
        ])
        #expect(try dictionary.value(for: Key.text) == "x" && dictionary.value(for: Key.number) == Int.max)
        #expect(try dictionary.value(for: Key.real) == 1.5 && dictionary.value(for: Key.flag) == true)
        #expect(try dictionary.value(for: Key.date) == date && dictionary.value(for: Key.data) == Data([1]))
        #expect(try dictionary.value(for: Key.list) == ["a", "b"])
        #expect(try dictionary.value(for: Key.inner, as: [String: [Int]].self) == ["k": [1, 2]])
    }

    @Test func whatDoesNotFitSaysWhere() throws {
        let dictionary = try dictionary(["number": 4.5, "list": ["a", 1] as [Any]])
        #expect(
            throws: PropertyListFailure(path: "text", topLevelKey: "text", reason: "is missing")
        ) { try dictionary.value(for: Key.text, as: String.self) }
        let number = #expect(throws: PropertyListFailure.self) { try dictionary.value(for: Key.number, as: Int.self) }
        #expect(number?.description == "number: expected Int, found a real number")
        let list = #expect(throws: PropertyListFailure.self) { try dictionary.value(for: Key.list, as: [String].self) }
        #expect(list?.description == "list[1]: expected String, found an integer")
    }
}
