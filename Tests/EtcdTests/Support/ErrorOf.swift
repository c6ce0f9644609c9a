import PersistentPreferences

/// The error that the closure throws; nil if it throws none, or another one.
func error(of body: () throws -> Void) -> PrefsError? {
    do {
        try body()
        return nil
    } catch {
        return error as? PrefsError
    }
}
