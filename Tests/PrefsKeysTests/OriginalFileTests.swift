@testable import PrefsSupport
import Foundation
import Testing

@testable import PersistentPreferences
@testable import PrefsKeys

private enum Palette: String, Codable { case light, dark }
private struct Knight: Codable, Equatable {
    var name: String
    var quest: String
    var age: Int
}

private struct username: PrefKey { static let defaultValue: String? = nil }
private struct fontSize: PrefKey { static let defaultValue = 12.0 }
private struct launches: PrefKey { static let defaultValue = 0 }
private struct hasWidgets: PrefKey {
    static let defaultValue = false
    static let stringKey = "Has Widgets"
}
private struct due: PrefKey { static let defaultValue = Date.distantPast }
private struct token: PrefKey { static let defaultValue = Data() }
private struct homepage: PrefKey { static let defaultValue: URL? = nil }
private struct theme: PrefKey { static let defaultValue = Palette.light }
private struct recentThemes: PrefKey { static let defaultValue: [Palette] = [] }
private struct themeUses: PrefKey { static let defaultValue: [Palette: Int] = [:] }
private struct testPerson: PrefKey { static let defaultValue: Knight? = nil }
private struct price: PrefKey { static let defaultValue = Decimal(0) }

/// `TypeSafeDefaults.plist` was written by the code of seed 003, with `PropertyListEncoder` and `UserDefaults`.
@Suite struct OriginalFileTests {
    private let file: URL
    private let folder = TemporaryFolder.fresh
    private let values: AppSettingsValues

    init() throws {
        file = try #require(Bundle.module.url(forResource: "TypeSafeDefaults", withExtension: "plist"))
        try FileManager.default.copyItem(at: file, to: folder.file())
        values = AppSettingsValues(entriesOf: PrefsStore.propertyList(url: folder.file()))
    }

    @Test func everyValueIsRead() throws {
        #expect(values[username.self] == "Galahad" && values[fontSize.self] == 14.5 && values[launches.self] == 42)
        #expect(values[hasWidgets.self] && values[token.self] == Data([0, 1, 254, 255]))
        #expect(values[due.self] == Date(timeIntervalSinceReferenceDate: 600_000_000))
        #expect(values[homepage.self] == URL(string: "https://example.org/a?b=c") && values[theme.self] == .dark)
        #expect(values[recentThemes.self] == [.dark, .light] && values[themeUses.self] == [.dark: 3])
        #expect(values[testPerson.self] == Knight(name: "Galahad", quest: "the Grail", age: 30))
        #expect(values[price.self] == Decimal(sign: .minus, exponent: -2, significand: 1_234_567))
    }

    /// A write changes only its entry.
    @Test func theFileCanBeWritten() throws {
        values[theme.self] = .light
        values[testPerson.self]?.age += 1
        var settings = try propertyList(at: file)
        settings["theme"] = "light"
        settings["testPerson"] = ["name": "Galahad", "quest": "the Grail", "age": 31]
        #expect(try NSDictionary(dictionary: propertyList(at: folder.file())) == NSDictionary(dictionary: settings))
    }
}
