import PersistentPreferences
import Testing

nonisolated enum Appearance: String, CaseIterable { case light, dark }

/// A value with an initializer of its own must not be the main actor's: preferences are read on any thread.
nonisolated struct Window: Codable, Equatable {
    var width = 800
    var title: String?
}

/// Declared properties in a module whose default isolation is the main actor.
final class WindowPrefs: PersistentPrefs, PrefsSet, @unchecked Sendable {
    @Pref var zoom = 1.0
    @Pref("Appearance", in: Appearance.allCases) var appearance = Appearance.light
    @Pref var window = Window()
    @Pref var recent: [String]?
    @Pref(in: 1...9, previously: "cols") var columns = 3
    @Pref(check: { $0.isEmpty ? "must not be empty" : nil }) var name = "untitled"

    override class var migrations: [PrefsMigration] {
        [PrefsMigration(to: 1) { $0["zoom"] = 2 }]
    }
}

@Suite struct DeclaredPropertyTests {
    @Test func propertiesWorkOnAndOffTheMainActor() async throws {
        let store = InMemoryStore()
        try store.update(root: "WindowPrefs") { $0 = ["cols": 5] }
        let prefs = WindowPrefs(store: store)
        #expect(prefs.zoom == 2 && prefs.columns == 5 && prefs.recent == nil)
        prefs.appearance = .dark
        prefs.window.width += 1
        let error = await Task.detached {
            prefs.zoom += 0.5
            prefs.update { prefs.recent = ["a"] }
            prefs.name = ""
            return prefs.$columns.set(10)
        }.value
        #expect(error.map { "\($0)" } == "columns: must be in 1...9")
        #expect(prefs.zoom == 2.5 && prefs.appearance == .dark && prefs.recent == ["a"] && prefs.columns == 5)
        #expect(prefs.window == Window(width: 801) && prefs.name == "untitled")
        #expect(prefs.keys == ["zoom", "Appearance", "window", "recent", "columns", "name"])
        #expect(WindowPrefs.describe().count == 6)
    }
}
