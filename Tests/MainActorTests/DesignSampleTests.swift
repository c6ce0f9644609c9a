import PersistentPreferences
import PrefsKeys
import Testing

enum Theme: String { case light, dark }

struct Person: Codable, Equatable {
    var name = ""
    var age = 0
}

/// The sample of the design in a module whose default isolation is the main actor. Its types state no isolation.
final class EditorPrefs: Prefs, @unchecked Sendable {
    @Pref var fontSize = 12.0
    @Pref("Has Widgets") var hasWidgets = false
    @Pref var theme = Theme.light
    @Pref var owner: Person? = nil
    @Pref(.in(8...72)) var size = 12
    @Pref(.formerly("fontsize")) var fontName = "Menlo"
}

struct columnWidth: PrefKey { static let defaultValue = 80 }

/// The value of a `PrefKey` is decoded on any thread, so its type must be nonisolated.
nonisolated struct Margin: Codable, Equatable { var left = 0 }

struct margin: PrefKey { static let defaultValue: Margin? = nil }

extension AppSettingsValues {
    var columns: Int {
        get { self[columnWidth.self] }
        set { self[columnWidth.self] = newValue }
    }
}

struct Screen {
    @AppSetting(\.columns) var columns

    init(_ values: AppSettingsValues) { _columns.values = values }
}

@Suite struct DesignSampleTests {
    @Test func theSampleWorks() {
        let prefs = EditorPrefs(store: InMemoryStore())
        prefs.theme = .dark
        prefs.owner = Person(name: "Galahad", age: 30)
        prefs.owner?.age += 1
        prefs.size = 100
        #expect(prefs.lastError.map { "\($0)" } == "size: must be in 8...72")
        #expect(prefs.theme == .dark && prefs.owner == Person(name: "Galahad", age: 31) && prefs.size == 12)
    }

    @Test func keysOutsideAClassWork() {
        let values = AppSettingsValues(store: InMemoryStore(), root: "App")
        let screen = Screen(values)
        screen.columns += 1
        #expect(values[columnWidth.self] == 81)
        values[margin.self] = Margin(left: 4)
        #expect(values[margin.self] == Margin(left: 4))
    }
}
