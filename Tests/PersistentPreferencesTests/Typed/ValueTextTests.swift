import Foundation
import PropertyListSupport
import Testing

@testable import PersistentPreferences
@testable import PrefsPropertyLists

private final class RulePrefs: PersistentPrefs, @unchecked Sendable {
    @Pref(in: 8...72, help: "In points.") var size = 12
    @Pref(constraint: .length(1...), help: "Whose it is.") var name = "n"
    @Pref(in: ["de", "en"]) var language = "en"
    @Pref(in: [1.5, 2.0]) var factor: Double? = nil
    @Pref(check: { $0 == nil ? "must not be nil" : nil }) var needed: Int? = 1
    @Pref(check: { $0 == .dark ? "must not be dark" : nil }) var mode = TextMode.light
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

    @Test(
        arguments: [
            ("int", "42", "42"), ("double", "1", "1"), ("double", "inf", "inf"), ("bool", "yes", "true"),
            ("string", "[1]", "[1]"), ("string", "", ""), ("date", "2001-01-01T00:00:00Z", "2001-01-01T00:00:00Z"),
            ("data", "SGVsbG8=", "SGVsbG8="), ("optionalData", "null", "null"), ("uuid", "x", nil),
            ("size", "large", "large"), ("level", "10", "10"), ("mode", "dark", "dark"),
            ("mode", #"{"dark": {}}"#, "dark"), ("strings", "a,b", #"["a","b"]"#), ("set", "2,1", "[2,1]"),
            ("doubles", "1, nan", #"[1,{"$double":"nan"}]"#), ("server", #"{"port": 8}"#, #"{"port":8}"#),
            ("doubleOptional", "$null", "$null"), ("optionalString", "null", "null"), ("width", "auto", "auto"),
            ("width", "12", "12"), ("modes", "light", nil), ("url", "b", "b"),
        ] as [(String, String, String?)])
    func textIsReadByType(_ key: String, _ text: String, _ shown: String?) throws {
        let prefs = EveryTypePrefs(store: InMemoryStore())
        let value = try? prefs.storedValue(ofText: text, forKey: key)
        #expect(value.map { prefs.text(of: $0, forKey: key) } == shown)
    }

    @Test(
        arguments: [
            ("size", "99", "size: must be in 8...72, found 99"),
            ("name", "", "name: must be at least 1 character long, found \"\""),
            ("size", "many", "size: expected Int, found \"many\": not a number"),
            ("size", "4.5", "size: expected Int, found \"4.5\": not a whole number"),
            ("byte", "300", "byte: expected UInt8, found \"300\": out of range for UInt8 (0...255)"),
            ("language", "fr", "language: must be one of de, en, found \"fr\""),
            ("factor", "x", "factor: expected one of 1.5, 2.0, found \"x\""),
            ("factor", "3", "factor: must be one of 1.5, 2.0, found 3"),
            ("theme", "huge", "theme: expected one of small, large, found \"huge\""),
            ("mode", "dark", "mode: must not be dark, found dark"),
            ("mode", "x", "mode: expected one of light, found \"x\""),
            ("isOn", "2", "isOn: expected one of true, false, found \"2\""),
            ("needed", "null", "needed: expected Int, found \"null\": not a number"),
            ("server", #"{"port": "x"}"#, #"server: expected TextServer, found "{"port": "x"}""#),
            ("numbers", "1,x", "numbers: expected Array<Int>, found \"1,x\""),
            ("other", "1", "not among the allowed keys: \"other\""),
            ("size", "a\u{1b}[31m", #"size: expected Int, found "a\u{1b}[31m": not a number"#),
        ])
    func rejectionsSayWhatWasExpectedAndFound(_ key: String, _ text: String, _ message: String) {
        let error = #expect(throws: PrefsError.self) { try prefs.storedValue(ofText: text, forKey: key) }
        #expect(error.map { "\($0)" } == message)
        #expect(prefs.lastError == nil && prefs.values.isEmpty)
    }

    @Test func brokenJSONIsLocated() {
        let error = #expect(throws: PrefsError.self) { try prefs.storedValue(ofText: "[1,", forKey: "numbers") }
        let reason = error?.failures.first?.reason ?? ""
        #expect(reason.hasPrefix("expected Array<Int>, found \"[1,\": invalid JSON: line 1, column 4: "), "\(reason)")
    }

    @Test func nullRemovesTheValueOfAnOptional() throws {
        #expect(try prefs.storedValue(ofText: "null", forKey: "limit") == nil)
        #expect(try prefs.storedValue(ofText: "null", forKey: "theme") == nil)
        #expect(throws: PrefsError.self) { try prefs.storedValue(ofText: "null", forKey: "size") }
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
            others.map(\.key) == ["bool", "size", "level", "mode", "channel", "optionalBool", "optionalSize"])
        #expect(others.first { $0.key == "level" }?.choices == ["1", "10"])
    }

    @Test func helpIsDescribed() {
        #expect(prefs.describe().prefix(3).map(\.help) == ["In points.", "Whose it is.", nil])
    }
}
