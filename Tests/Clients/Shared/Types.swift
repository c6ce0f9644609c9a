import Foundation
import Observation
import PersistentPreferences
import PrefsStoreKit
import PrefsKeys
import PrefsSettingsFiles
import PrefsStoreKit
import RVS_PersistentPrefs

enum Theme: String, CaseIterable { case light, dark }

struct Person: Codable, Equatable {
    var name = ""
    var age = 0
}

final class EditorPrefs: Prefs, @unchecked Sendable {
    struct Window: Codable, Equatable {
        var width = 800
        var title: String?
    }

    struct Styles: OptionSet {
        let rawValue: Int
        static let bold = Styles(rawValue: 1)
    }

    @Pref var fontSize = 12.0
    @Pref("Theme", .in(Theme.allCases)) var theme = Theme.light
    @Pref var window = Window()
    @Pref var owner: Person? = nil
    @Pref var styles: Styles = []
    @Pref(.in(1...8), .formerly("cols")) var columns = 1
    @Pref var recent: [URL] = []
}

@MainActor @Observable final class Model {
    private(set) var sizes: [Double] = []
    @ObservationIgnored private var observation: PrefsObservation?

    init(_ prefs: EditorPrefs) {
        observation = prefs.$fontSize.onChange(on: MainActor.shared) { _, new in self.sizes.append(new) }
    }
}

struct columnWidth: PrefKey { static let defaultValue = 80 }

nonisolated struct Margin: Codable, Equatable { var left = 0 }

struct margin: PrefKey { static let defaultValue = Margin() }

extension AppSettingsValues {
    var columns: Int {
        get { self[columnWidth.self] }
        set { self[columnWidth.self] = newValue }
    }
}

struct Ruler {
    @AppSetting(\.columns) var width

    init(_ values: AppSettingsValues) { _width.values = values }
}

struct PlayerSettings: SettingsFile {
    var volume = 0.8
    var folder: URL?

    func settingsURL() -> URL {
        (folder ?? URL(fileURLWithPath: "/nonexistent")).appendingPathComponent("player.plist")
    }

    private enum CodingKeys: CodingKey { case volume }

    mutating func copyValues(from loaded: PlayerSettings) { volume = loaded.volume }
}

/// A backend that the client implements.
nonisolated final class AccountBackend: PrefsBackend {
    private let inner: PrefsStore

    init(_ inner: PrefsStore) { self.inner = inner }

    func read(root: String) throws -> [String: Any]? { try inner.read(root: root) }

    func update(root: String, _ body: (inout [String: Any]?) throws -> Void) throws {
        try inner.update(root: root, body)
    }

    func observe(root: String, _ action: @escaping @Sendable (PrefsChange) -> Void) throws -> PrefsObservation {
        try inner.observe(root: root, action)
    }
}

class OldSet: RVS_PersistentPrefs, PrefsSet, @unchecked Sendable {
    override var keys: [String] { ["Integer Value"] }

    var int: Int {
        get { values[keys[0]] as? Int ?? 0 }
        set { values[keys[0]] = newValue }
    }

    var failures = 0
    override var lastError: PrefsError? { didSet { if lastError != nil { failures += 1 } } }
}

struct Player {
    @AppSetting("volume") var volume = 0.5
    @AppSetting("token") var token: String?
    @AppSetting("shade") var shade = Shade.light

    init(_ store: PrefsStore) {
        let values = AppSettingsValues(store: store, root: "Player")
        (_volume.values, _token.values, _shade.values) = (values, values, values)
    }
}

enum Shade: String, Codable { case light, dark }

struct shade: PrefKey { static let defaultValue = Shade.light }

struct shades: PrefKey { static let defaultValue: [Shade]? = nil }
