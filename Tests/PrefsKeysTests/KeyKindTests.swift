@testable import PrefsSupport
import Foundation
import PrefsStoreKit
import Testing

@testable import PersistentPreferences
@testable import PrefsKeys

private enum PlainTheme: String { case light, dark }
private enum CodableTheme: String, Codable { case light, dark }
private enum Level: Int, Codable { case low, high }
private enum Shape: Codable, Equatable {
    case point
    case circle(radius: Double)
}
private struct Styles: OptionSet { let rawValue: Int }
private struct CodableStyles: OptionSet, Codable { let rawValue: Int }

/// Has a raw value, and encodes itself as something else.
private struct Celsius: RawRepresentable, Codable, Equatable, Sendable {
    var rawValue: Double
    init(rawValue: Double) { self.rawValue = rawValue }
    private enum CodingKeys: CodingKey { case degrees }
    init(from decoder: any Decoder) throws {
        rawValue = try decoder.container(keyedBy: CodingKeys.self).decode(Double.self, forKey: .degrees)
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(rawValue, forKey: .degrees)
    }
}

// The test is that these compile: each value has one coding, even if it is of several kinds.
private struct theme: PrefKey { static let defaultValue = PlainTheme.light }
private struct optionalTheme: PrefKey { static let defaultValue: PlainTheme? = nil }
private struct themes: PrefKey { static let defaultValue: [PlainTheme] = [] }
private struct codableTheme: PrefKey { static let defaultValue = CodableTheme.light }
private struct optionalCodableTheme: PrefKey { static let defaultValue: CodableTheme? = nil }
private struct doubleCodableTheme: PrefKey { static let defaultValue: CodableTheme?? = nil }
private struct codableThemes: PrefKey { static let defaultValue: [CodableTheme] = [] }
private struct optionalCodableThemes: PrefKey { static let defaultValue: [CodableTheme]? = nil }
private struct nestedCodableThemes: PrefKey { static let defaultValue: [String: [CodableTheme]] = [:] }
private struct codableThemeSet: PrefKey { static let defaultValue: Set<CodableTheme> = [] }
private struct codableThemeNames: PrefKey { static let defaultValue: [String: CodableTheme] = [:] }
private struct codableThemeCounts: PrefKey { static let defaultValue: [CodableTheme: Int] = [:] }
private struct level: PrefKey { static let defaultValue = Level.low }
private struct levelCounts: PrefKey { static let defaultValue: [Level: Int] = [:] }
private struct shape: PrefKey { static let defaultValue = Shape.point }
private struct shapes: PrefKey { static let defaultValue: [Shape]? = nil }
private struct styles: PrefKey { static let defaultValue: Styles = [] }
private struct codableStyles: PrefKey { static let defaultValue: CodableStyles = [] }
private struct optionalCodableStyles: PrefKey { static let defaultValue: CodableStyles? = nil }
private struct celsius: PrefKey { static let defaultValue = Celsius(rawValue: 0) }
private struct celsiusList: PrefKey { static let defaultValue: [Celsius]? = nil }

/// Properties of some kinds of the values above.
private final class KindPrefs: Prefs, @unchecked Sendable {
    @Pref var codableTheme = CodableTheme.light
    @Pref(.in([.dark])) var optionalCodableTheme: CodableTheme? = nil
    @Pref var doubleCodableTheme: CodableTheme?? = nil
    @Pref var codableThemeCounts: [CodableTheme: Int] = [:]
    @Pref var levelCounts: [Level: Int] = [:]
    @Pref var codableStyles: CodableStyles = []
    @Pref var celsiusList: [Celsius]? = nil
}

@Suite struct KeyKindTests {
    private let store = PrefsStore.memory()

    /// The stored form of `TSUD` of seed 003: the first element of an encoded array.
    private func original(_ value: some Encodable) throws -> Any {
        let data = try PropertyListEncoder().encode([value])
        let list = try PropertyListSerialization.propertyList(from: data, format: nil) as? [Any]
        return try #require(list?.first)
    }

    private func check<Key: PrefKey>(
        _ key: Key.Type, _ value: Key.Value, _ stored: String, isOriginal: Bool = true,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws where Key.Value: Equatable & Encodable {
        let values = AppSettingsValues(store: store, root: "Keys")
        #expect(values.set(value, for: key) == nil, sourceLocation: sourceLocation)
        let object = try #require(try store.read(root: "Keys")?[key.stringKey], sourceLocation: sourceLocation)
        #expect(exactForm(object) == stored, sourceLocation: sourceLocation)
        #expect(values[key] == value, sourceLocation: sourceLocation)
        let original = try original(value)
        try store.update(root: "Keys") { $0 = [key.stringKey: original] }
        let form = try exactForm(#require(try store.read(root: "Keys")?[key.stringKey]))
        #expect((form == stored) == isOriginal, "\(form)", sourceLocation: sourceLocation)
        #expect(values[key] == value, "what TSUD stored: \(form)", sourceLocation: sourceLocation)
    }

    @Test func aTypeOfSeveralKindsIsStoredAsItsRawValueAndReadAsTheOriginalStoredIt() throws {
        try check(codableTheme.self, .dark, "'dark'")
        try check(optionalCodableTheme.self, .dark, "'dark'")
        try check(doubleCodableTheme.self, .dark, "'dark'")
        try check(codableThemes.self, [.dark, .light], "['dark', 'light']")
        try check(optionalCodableThemes.self, [.dark], "['dark']")
        try check(nestedCodableThemes.self, ["a": [.dark]], "{'a': ['dark']}")
        try check(codableThemeSet.self, [.dark], "['dark']")
        try check(codableThemeNames.self, ["a": .dark], "{'a': 'dark'}")
        try check(codableThemeCounts.self, [.dark: 1], "{'dark': 1}", isOriginal: false)
        try check(codableThemeCounts.self, [.dark: 1, .light: 2], "{'dark': 1, 'light': 2}", isOriginal: false)
        try check(level.self, .high, "1")
        try check(levelCounts.self, [.high: 3], "[1, 3]")
        try check(shape.self, .circle(radius: 1.5), "{'circle': {'radius': 1.5 (3ff8000000000000)}}")
        try check(shapes.self, [.point], "[{'point': {}}]")
        try check(codableStyles.self, CodableStyles(rawValue: 5), "5")
        try check(optionalCodableStyles.self, CodableStyles(rawValue: 5), "5")
        try check(celsius.self, Celsius(rawValue: 36.5), "36.5 (4042400000000000)", isOriginal: false)
        try check(celsiusList.self, [Celsius(rawValue: 36.5)], "[36.5 (4042400000000000)]", isOriginal: false)
    }

    @Test func aTypeOfOneKindKeepsItsForm() throws {
        let values = AppSettingsValues(store: store, root: "Keys")
        values[theme.self] = .dark
        values[optionalTheme.self] = .dark
        values[themes.self] = [.dark, .light]
        values[styles.self] = Styles(rawValue: 3)
        #expect(
            try exactForm(store.read(root: "Keys") ?? [:])
                == "{'optionalTheme': 'dark', 'styles': 3, 'theme': 'dark', 'themes': ['dark', 'light']}")
        #expect(values[theme.self] == .dark && values[optionalTheme.self] == .dark && values[styles.self].rawValue == 3)
        #expect(values[themes.self] == [.dark, .light])
    }

    @Test func aPropertyAndAKeyStoreTheSame() throws {
        let values = AppSettingsValues(store: store, root: "Keys")
        let prefs = KindPrefs(key: "Keys", store: store)
        prefs.codableTheme = .dark
        prefs.doubleCodableTheme = .some(nil)
        prefs.codableThemeCounts = [.dark: 2]
        prefs.codableStyles = CodableStyles(rawValue: 6)
        prefs.celsiusList = [Celsius(rawValue: 1)]
        #expect(values[codableTheme.self] == .dark && values[doubleCodableTheme.self] == .some(nil))
        #expect(values[codableThemeCounts.self] == [.dark: 2] && values[codableStyles.self].rawValue == 6)
        #expect(values[celsiusList.self] == [Celsius(rawValue: 1)])
        values[levelCounts.self] = [.high: 1]
        values[optionalCodableTheme.self] = .dark
        #expect(prefs.levelCounts == [.high: 1] && prefs.optionalCodableTheme == .dark && prefs.lastError == nil)
    }

    /// A stored value that is neither a raw value nor the encoded form is a type mismatch, with the reason for the raw
    /// value.
    @Test func whatIsNeitherIsATypeMismatch() throws {
        let prefs = KindPrefs(key: "Keys", store: store)
        for (object, reason) in [
            ("pink" as Any, "codableTheme: expected CodableTheme, found an unknown raw value"),
            (["dark"], "codableTheme: expected String, found an array"),
        ] {
            try store.update(root: "Keys") { $0 = ["codableTheme": object] }
            #expect(prefs.codableTheme == .light && prefs.outcome == reason)
        }
        for pairs in [["dark"], [1, "dark"], ["pink", 1]] as [[Any]] {
            try store.update(root: "Keys") { $0 = ["codableThemeCounts": pairs] }
            #expect(prefs.codableThemeCounts == [:] && prefs.lastError != nil)
        }
    }
}
