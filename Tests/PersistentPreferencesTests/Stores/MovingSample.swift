import PersistentPreferences

// The sample of the article "Sharing between processes", verbatim; `DocumentationTests` compares them.

final class EditorPrefs: Prefs, @unchecked Sendable {
    @Pref var fontSize = 12.0
    @Pref var recent: [String] = []
}

/// Moves the values that the new domain lacks. Returns why it could not.
func move(from old: EditorPrefs, to new: EditorPrefs) -> PrefsError? {
    let stored = old.values
    if let error = old.lastError, !error.isWarning { return error }
    let result = new.update {
        for (key, value) in stored where new[key] == nil { new[key] = value }
    }
    if case .failure(let error) = result { return error }
    return old.resetAll()
}
