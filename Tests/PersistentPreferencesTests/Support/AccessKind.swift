import PersistentPreferences

/// The kinds of access that prefs know, each under the key "a".
enum AccessKind: CaseIterable {
    case read, count, write, assignment, changeInPlace, update, flush, clear, deleteAll

    /// Runs the access. Returns whether the access itself reports that it has found or changed something; several
    /// report nothing.
    @discardableResult func run(on prefs: AnyPrefs) -> Bool {
        switch self {
        case .read: return prefs["a"] != nil
        case .count: return prefs.count > 0
        case .write: prefs["a"] = 5
        case .assignment: prefs.values = ["a": 5]
        case .changeInPlace: prefs.values["a"] = 5
        case .update: return prefs.update { $0["a"] = 5 } == nil
        case .flush: prefs.flush()
        case .clear: prefs.clear()
        case .deleteAll: prefs.deleteAll()
        }
        return false
    }
}
