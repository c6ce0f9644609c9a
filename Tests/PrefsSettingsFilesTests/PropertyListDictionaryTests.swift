import Foundation
import PersistentPreferences
import PrefsSettingsFiles
import Testing

private enum Key: String, PropertyListKey { case text, number, date, list, inner, nothing }

@Suite struct PropertyListDictionaryTests {
    @Test func whatIsPutIsGot() throws {
        var dictionary = PropertyListDictionary()
        var inner = PropertyListDictionary()
        try inner.set(["a": [Data([1])]], for: Key.list)
        try dictionary.set("x", for: Key.text)
        try dictionary.set(UInt64.max, for: Key.number)
        try dictionary.set(Date(timeIntervalSinceReferenceDate: 0.5), for: Key.date)
        try dictionary.set([inner, inner], for: Key.list)
        try dictionary.set(inner, for: Key.inner)
        #expect(try dictionary.value(for: Key.text) == "x")
        #expect(try dictionary.value(for: Key.number) == UInt64.max)
        #expect(try dictionary.value(for: Key.date, as: Date.self).timeIntervalSinceReferenceDate == 0.5)
        let lists: [String: [Data]] = try dictionary.value(for: Key.inner, as: PropertyListDictionary.self)
            .value(for: Key.list)
        #expect(lists == ["a": [Data([1])]])
        #expect(try dictionary.value(for: Key.list, as: [PropertyListDictionary].self).count == 2)
        #expect(try dictionary.valueIfPresent(for: Key.nothing, as: Int.self) == nil)
        try dictionary.set(nil as String?, for: Key.text)
        #expect(dictionary.contents["text"] == nil)
    }

    @Test func whatDoesNotFitSaysWhere() throws {
        let dictionary = try PropertyListDictionary(["number": 4.5, "list": ["a", 1]])
        func message(_ body: () throws(PropertyListFailure) -> Void) -> String {
            do {
                try body()
                return "ok"
            } catch {
                return "\(error)"
            }
        }
        #expect(
            message { () throws(PropertyListFailure) in _ = try dictionary.value(for: Key.text, as: String.self) }
                == "text: is missing")
        #expect(
            message { () throws(PropertyListFailure) in _ = try dictionary.value(for: Key.number, as: Int.self) }
                == "number: expected Int, found a real number")
        #expect(
            message { () throws(PropertyListFailure) in _ = try dictionary.value(for: Key.list, as: [String].self) }
                == "list[1]: expected String, found an integer")
        #expect(
            message { () throws(PropertyListFailure) in
                var copy = dictionary
                try copy.set(Date(timeIntervalSinceReferenceDate: .infinity), for: Key.date)
            } == "date: a date must be finite")
        #expect(
            message { () throws(PropertyListFailure) in _ = try PropertyListDictionary(["a": ["b": URL.self]]) }
                .hasPrefix("a.b: "))
    }
}
