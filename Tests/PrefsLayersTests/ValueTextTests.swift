@testable import PrefsSupport
import Foundation
import Testing

@testable import PersistentPreferences
@testable import PrefsLayers

private final class RulePrefs: PersistentPrefs, @unchecked Sendable {
    @Pref(.in(8...72), .help("In points.")) var size = 12
    @Pref(.constraint(.length(1...)), .help("Whose it is.")) var name = "n"
    @Pref(.in(["de", "en"])) var language = "en"
    @Pref(.in([1.5, 2.0])) var factor: Double? = nil
    @Pref(.check { $0 == nil ? "must not be nil" : nil }) var needed: Int? = 1
    @Pref(.check { $0 == .dark ? "must not be dark" : nil }) var mode = TextMode.light
    @Pref var theme: TextSize?
    @Pref var isOn: Bool? = nil
    @Pref var limit: Int? = 3
    @Pref var byte: UInt8 = 0
    @Pref var server = TextServer()
    @Pref var numbers: [Int] = []

    override var keys: [String] { ["free"] }
}

/// Values as text, for a tool on any subclass.
@Suite struct ValueTextTests {
    private let prefs = RulePrefs(store: InMemoryStore())

    @Test(arguments: EveryTypePrefs.samples.map(\.key)) func theTextOfEachValueReadsAsThatValue(_ key: String) throws {
        let prefs = EveryTypePrefs(store: InMemoryStore())
        for sample in try #require(EveryTypePrefs.samples.first { $0.key == key }).values {
            let value = try PropertyListVetter.value(of: sample, forKey: key)
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
        let prefs = EveryTypePrefs(store: InMemoryStore())
        #expect(EveryTypePrefs.samples.map(\.key) == prefs.describe().map(\.key))
    }

    /// `TextTableTests` has what texts stand for, and what is said of others.
    @Test func aTextOfAKeyThatIsNotAllowedIsRejected() {
        let error = #expect(throws: PrefsError.self) { try prefs.storedValue(ofText: "1", forKey: "other") }
        #expect(error == .incorrectKeys(invalidElements: ["other"]))
        #expect(throws: PrefsError.self) { try prefs.storedValue(ofText: "x", forKey: "size") }
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
        #expect(prefs.text(of: .string("text"), forKey: "size") == "text")
        #expect(prefs.text(of: .array([.integer(1)]), forKey: "size") == "[1]")
        #expect(prefs.text(of: .string(""), forKey: "name") == "", "it violates the constraint")
    }

    @Test func choicesAreTheTextsOfAllAcceptedValues() throws {
        let choices = Dictionary(uniqueKeysWithValues: prefs.describe().map { ($0.key, $0.choices) })
        #expect(
            choices == [
                "size": nil, "name": nil, "language": ["de", "en"], "factor": ["1.5", "2.0"], "needed": nil,
                "mode": ["light"],
                "theme": ["small", "large"], "isOn": ["true", "false"], "limit": nil, "byte": nil, "server": nil,
                "numbers": nil,
            ])
        for (key, texts) in choices {
            for text in texts ?? [] { #expect(try prefs.storedValue(ofText: text, forKey: key) != nil) }
        }
        let others = EveryTypePrefs(store: InMemoryStore()).describe().filter { $0.choices != nil }
        #expect(
            others.map(\.key) == [
                "bool", "size", "level", "mode", "channel", "optionalBool", "optionalSize", "language", "factor",
                "lightMode",
            ])
        #expect(others.first { $0.key == "level" }?.choices == ["1", "10"])
    }

    @Test func helpIsDescribed() {
        #expect(prefs.describe().prefix(3).map(\.help) == ["In points.", "Whose it is.", nil])
    }
}
