import Foundation

/// Preferences as in RVS_PersistentPrefs: each access loads the whole root from `UserDefaults`, and each write saves
/// the whole root. It has neither locks nor checks.
final class SeedStylePrefs {
    private let key: String
    private let defaults: UserDefaults

    init(key: String, defaults: UserDefaults) {
        self.key = key
        self.defaults = defaults
    }

    var values: [String: Any] {
        get { defaults.dictionary(forKey: key) ?? [:] }
        set {
            defaults.set(newValue, forKey: key)
            defaults.synchronize()
        }
    }

    var x: Int {
        get { values["x"] as? Int ?? 0 }
        set { values["x"] = newValue }
    }
}
