import PersistentPreferences
import Testing

enum Appearance: String, CaseIterable { case light, dark }

/// Declared properties in a module whose default isolation is the main actor.
final class WindowPrefs: Prefs, @unchecked Sendable {
    /// Nonisolated, because it is declared in a class that is.
    struct Window: Codable, Equatable {
        var width = 800
        var title: String?
    }

    struct Edges: OptionSet {
        let rawValue: Int
        static let top = Edges(rawValue: 1)
        static let left = Edges(rawValue: 2)
    }

    struct Tag: RawRepresentable, Hashable { let rawValue: String }

    @Pref var zoom = 1.0
    @Pref("Appearance", .in(Appearance.allCases)) var appearance = Appearance.light
    @Pref var window = Window()
    @Pref var windows = [Window(title: "first")]
    @Pref(.in([Window(), Window(width: 1)])) var chosen = Window()
    @Pref var edges: Edges = [.top]
    @Pref var tags: Set<Tag> = []
    @Pref var looks: [String: Appearance]? = ["a": .dark]
    @Pref var recent: [String]?
    @Pref(.in(1...9), .formerly("cols")) var columns = 3
    @Pref(.check { $0.isEmpty ? "must not be empty" : nil }) var name = "untitled"

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
        #expect(prefs.window == WindowPrefs.Window(width: 801) && prefs.name == "untitled")
        await Task.detached {
            prefs.windows.append(prefs.window)
            prefs.edges.insert(.left)
            prefs.tags = [WindowPrefs.Tag(rawValue: "a")]
            prefs.looks?["b"] = .light
            prefs.chosen = WindowPrefs.Window(width: 2)
        }.value
        #expect(prefs.windows.map(\.width) == [800, 801] && prefs.edges == [.top, .left])
        #expect(prefs.tags.map(\.rawValue) == ["a"] && prefs.looks == ["a": .dark, "b": .light])
        #expect(prefs.chosen == WindowPrefs.Window())
        #expect(
            prefs.keys == [
                "zoom", "Appearance", "window", "windows", "chosen", "edges", "tags", "looks", "recent", "columns",
                "name",
            ])
        #expect(WindowPrefs.describe().count == 11)
    }
}
