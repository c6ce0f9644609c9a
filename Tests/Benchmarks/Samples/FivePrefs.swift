import PersistentPreferences

/// A class as most programs have one.
final class FivePrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var x = 0
    @Pref var name = ""
    @Pref var ratio = 0.0
    @Pref var isOn = false
    @Pref var words: [String] = []

    static let root = "FivePrefs"

    /// What is stored under its root, from the first write on.
    static var values: [String: Any] {
        ["x": 1, "name": "a name of some length", "ratio": 0.75, "isOn": true, "words": ["one", "two", "three"]]
    }

    /// All five set.
    static func full(in store: any PrefsStore) throws -> FivePrefs {
        let prefs = FivePrefs(values: values, store: store)
        try prefs.check()
        return prefs
    }
}

extension PersistentPrefs {
    /// Throws what the last access met.
    func check() throws {
        if let lastError { throw lastError }
    }
}
