import PersistentPreferences

/// A typical class of preferences.
final class FivePrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var x = 0
    @Pref var name = ""
    @Pref var ratio = 0.0
    @Pref var isOn = false
    @Pref var words: [String] = []

    static let root = "FivePrefs"

    /// The values under its root after the first write.
    static var values: [String: Any] {
        ["x": 1, "name": "a name of some length", "ratio": 0.75, "isOn": true, "words": ["one", "two", "three"]]
    }

    /// An instance with all five values stored.
    static func full(in store: PrefsStore) throws -> FivePrefs {
        let prefs = FivePrefs(values: values, store: store)
        try prefs.check()
        return prefs
    }
}

extension PersistentPrefs {
    /// Throws the error of the last access.
    func check() throws {
        if let lastError { throw lastError }
    }
}
