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
    private static let date = Date(timeIntervalSinceReferenceDate: 600_000_000)
    private static let data = Data([0, 1, 254, 255])
    private static let page = URL(string: "https://example.org/a?b=c")
    private static let amount = Decimal(sign: .minus, exponent: -2, significand: 1_234_567)

    private let file: URL
    private let folder = TemporaryFolder.fresh
    private let values: AppSettingsValues

    init() throws {
        file = try #require(Bundle.module.url(forResource: "TypeSafeDefaults", withExtension: "plist"))
        try FileManager.default.copyItem(at: file, to: folder.file())
        values = AppSettingsValues(entriesOf: PropertyListFileStore(url: folder.file()))
    }

    /// The stored form: dates and data are unchanged; other values are the first element of an encoded array.
    private static func encoded(_ value: some Encodable) throws -> Any {
        if value is Date || value is Data { return value }
        let data = try PropertyListEncoder().encode([value])
        return try #require((try PropertyListSerialization.propertyList(from: data, format: nil) as? [Any])?.first)
    }

    @Test func theFileIsWhatFoundationMakes() throws {
        let settings: [String: Any] = [
            "username": try Self.encoded("Galahad" as String?), "fontSize": try Self.encoded(14.5),
            "launches": try Self.encoded(42), "Has Widgets": try Self.encoded(true),
            "due": try Self.encoded(Self.date), "token": try Self.encoded(Self.data),
            "homepage": try Self.encoded(Self.page), "theme": try Self.encoded(Palette.dark),
            "recentThemes": try Self.encoded([Palette.dark, .light]), "themeUses": try Self.encoded([Palette.dark: 3]),
            "testPerson": try Self.encoded(Knight(name: "Galahad", quest: "the Grail", age: 30)),
            "price": try Self.encoded(Self.amount),
        ]
        let data = try PropertyListSerialization.data(fromPropertyList: settings, format: .xml, options: 0)
        #expect(try data == Data(contentsOf: file), "\(String(decoding: data, as: UTF8.self))")
    }

    @Test func everyValueIsRead() throws {
        #expect(values[username.self] == "Galahad" && values[fontSize.self] == 14.5 && values[launches.self] == 42)
        #expect(values[hasWidgets.self] && values[due.self] == Self.date && values[token.self] == Self.data)
        #expect(values[homepage.self] == Self.page && values[theme.self] == .dark)
        #expect(values[recentThemes.self] == [.dark, .light] && values[themeUses.self] == [.dark: 3])
        #expect(values[testPerson.self] == Knight(name: "Galahad", quest: "the Grail", age: 30))
        #expect(values[price.self] == Self.amount)
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
