@testable import PrefsSupport
import Foundation
import Testing

@testable import PersistentPreferences
@testable import PrefsLayers

/// Values as text, for a tool on any subclass.
@Suite struct ValueTextTests {
    private let prefs = EveryTypePrefs(store: .memory())

    @Test(arguments: EveryTypePrefs.samples.map(\.key)) func theTextOfEachValueReadsAsThatValue(_ key: String) throws {
        for sample in try #require(EveryTypePrefs.samples.first { $0.key == key }).values {
            let value = try PropertyListVetter.value(of: sample)
            prefs[key] = sample
            #expect(prefs.lastError == nil, "\(sample)")
            let text = prefs.text(of: value, forKey: key)
            let read = try prefs.storedValue(ofText: text, forKey: key)
            // A Decimal is written as a string; a number is read, too.
            let isForeign = key == "decimal" && value.isNumber
            #expect(read == (isForeign ? .string(text) : value), "\(sample): \(text)")
            #expect(sample is String || !text.contains("\n"))
        }
    }

    @Test func everyPropertyHasSamples() {
        #expect(EveryTypePrefs.samples.map(\.key) == prefs.describe().map(\.key))
    }

    /// One of two values would be lost.
    @Test(arguments: ["k=1,k=2", "a=x,k=1,b=y,k=1", "=1,=2"]) func aKeyThatOccursTwiceMakesNoDictionary(_ text: String)
    {
        #expect(TextForms(text).values.allSatisfy { $0.dictionary == nil })
    }

    /// `TextTableTests` has what texts stand for, and what is said of others.
    @Test func aTextOfAKeyThatIsNotAllowedIsRejected() {
        let error = #expect(throws: PrefsError.self) { try prefs.storedValue(ofText: "1", forKey: "other") }
        #expect(error == .incorrectKeys(invalidElements: ["other"]))
        #expect(throws: PrefsError.self) { try prefs.storedValue(ofText: "x", forKey: "points") }
        #expect(prefs.lastError == nil && prefs.values.isEmpty)
    }

    @Test func theStoredValueDecidesTheTypeOfAnUndeclaredKey() throws {
        func read(_ text: String) throws -> StoredValue? { try prefs.storedValue(ofText: text, forKey: "free") }
        #expect(try read("42") == .string("42"))
        let samples: [(stored: Any, text: String)] = [
            ("x", "42"), (1, "42"), (1, "4.5"), (true, "false"),
            (Date(timeIntervalSinceReferenceDate: 0), "2020-01-01T00:00:00Z"),
            (Date(timeIntervalSinceReferenceDate: 0), #"{"$date":1e+16}"#), (Data(), "SGVsbG8="), ([1], "[1,\"a\"]"),
            (["a": 1], "{\"b\":2}"),
        ]
        for (stored, text) in samples {
            prefs["free"] = stored
            let read = try read(text)
            let value = try #require(read)
            prefs["free"] = value.object
            #expect(prefs.text(of: value, forKey: "free") == text)
            #expect(
                ValueMismatch.kind(of: value).prefix(6) == ValueMismatch.kind(of: StoredValue(of: stored)).prefix(6)
                    || value.isNumber
            )
        }
        prefs["free"] = 1
        let error = #expect(throws: PrefsError.self) { try read("x") }
        #expect(error.map { "\($0)" } == "free: expected an integer, found \"x\"")
    }

    @Test func aValueOfAnotherTypeHasAText() {
        #expect(prefs.text(of: .string("text"), forKey: "points") == "text")
        #expect(prefs.text(of: .array([.integer(1)]), forKey: "points") == "[1]")
        #expect(prefs.text(of: .string(""), forKey: "name") == "", "it violates the constraint")
    }

    @Test func choicesAreTheTextsOfAllAcceptedValues() throws {
        let choices = prefs.describe().compactMap { property in property.choices.map { (property.key, $0) } }
        #expect(
            Dictionary(uniqueKeysWithValues: choices) == [
                "bool": ["true", "false"], "size": ["small", "large"], "level": ["1", "10"], "mode": ["light", "dark"],
                "channel": ["news"], "optionalBool": ["true", "false"], "optionalSize": ["small", "large"],
                "language": ["de", "en"], "factor": ["1.5", "2.0"], "lightMode": ["light"],
            ])
        for (key, texts) in choices {
            for text in texts { #expect(try prefs.storedValue(ofText: text, forKey: key) != nil) }
        }
    }
}
