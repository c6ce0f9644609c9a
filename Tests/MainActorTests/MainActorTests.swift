import PersistentPreferences
import PrefsKeys
import PrefsLayers
import PrefsStoreKit
import Testing

enum Appearance: String, CaseIterable { case light, dark }

struct Person: Codable, Equatable {
    var name = ""
    var age = 0
}

/// Declared properties and a key by hand, as in today's app template: in a module whose default isolation is the main
/// actor. The types state no isolation.
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
    @Pref var owner: Person? = nil
    @Pref(.in(1...9), .formerly("cols")) var columns = 3
    @Pref(.check { $0.isEmpty ? "must not be empty" : nil }) var name = "untitled"

    override var allowedKeys: [String] { super.allowedKeys + ["brightness"] }

    var brightness: Double {
        get { self["brightness"] as? Double ?? 0.5 }
        set { self["brightness"] = newValue }
    }

    override class var migrations: [PrefsMigration] {
        [PrefsMigration(to: 1) { $0["zoom"] = 2 }]
    }
}

/// Required values, and a rule over two values.
final class PanePrefs: Prefs, @unchecked Sendable {
    @Pref(.required) var token: String?
    @Pref(.required) var appearance: Appearance?
    @Pref var low = 1
    @Pref var high = 9

    override class var rules: [PrefsRule] {
        [PrefsRule { (prefs: PanePrefs) in prefs.low > prefs.high ? "low must be at most high" : nil }]
    }
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

@Suite struct MainActorTests {
    @Test func propertiesWorkOnAndOffTheMainActor() async throws {
        let store = PrefsStore.memory()
        try store.update(root: "WindowPrefs") { $0 = ["cols": 5] }
        let prefs = WindowPrefs(store: store)
        #expect(prefs.zoom == 2 && prefs.columns == 5 && prefs.recent == nil)
        prefs.appearance = .dark
        prefs.window.width += 1
        prefs.owner = Person(name: "Galahad", age: 30)
        prefs.owner?.age += 1
        prefs.brightness = 0.75
        let error = await Task.detached {
            prefs.zoom += 0.5
            prefs.brightness += 0.125
            prefs.update { prefs.recent = ["a"] }
            prefs.name = ""
            return prefs.$columns.set(10)
        }.value
        #expect(error.map { "\($0)" } == "columns: must be in 1...9")
        #expect(prefs.zoom == 2.5 && prefs.appearance == .dark && prefs.recent == ["a"] && prefs.columns == 5)
        #expect(prefs.window == WindowPrefs.Window(width: 801) && prefs.name == "untitled")
        #expect(prefs.owner == Person(name: "Galahad", age: 31) && prefs.brightness == 0.875)
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
            prefs.allowedKeys == [
                "zoom", "Appearance", "window", "windows", "chosen", "edges", "tags", "looks", "recent", "owner",
                "columns", "name", "brightness",
            ])
        #expect(WindowPrefs.describe().count == 12)
    }

    @Test func requiredValuesAndRulesWork() async {
        let prefs = PanePrefs(store: .memory())
        prefs.appearance = .dark
        #expect(prefs.problems().map(\.description) == ["token: is required, and has no value"])
        #expect(await prefs.$low.set(10) == .ruleViolated(["low must be at most high"]))
        let result = await Task.detached { await prefs.update { prefs.high = 0 } }.value
        #expect(throws: PrefsError.ruleViolated(["low must be at most high"])) { try result.get() }
    }

    @Test func keysOutsideAClassWork() {
        let values = AppSettingsValues(store: .memory(), root: "App")
        let screen = Screen(values)
        screen.columns += 1
        #expect(values[columnWidth.self] == 81)
        values[margin.self] = Margin(left: 4)
        #expect(values[margin.self] == Margin(left: 4))
    }
}
