/// How a store lays its roots out in a domain: the property-list file, or the domain of `UserDefaults`.
///
/// ```swift
/// let store = UserDefaultsStore(layout: .flat)
///
/// final class AppPrefs: Prefs, @unchecked Sendable {
///     @Pref var volume = 0.5                                // the entry that @AppStorage("volume") has
///     override class var store: any PrefsStore { store }
/// }
/// ```
public enum DomainLayout: Sendable, Hashable {
    /// Root keys on top, a dictionary under each: classes with different root keys share nothing. As in `RVS_PersistentPrefs`.
    case roots
    /// The entries of the domain are the values, as with `@AppStorage`, Settings.bundle and most existing apps.
    ///
    /// The root key has no effect on storage. Entries that ``PersistentPrefs/keys`` does not allow stay in place and are
    /// invisible. ``PersistentPrefs/deleteAll()`` removes the values of allowed keys and their former names, and the stored
    /// version. An empty domain counts as missing. On Apple platforms, each changed key is one `set`, so two programs that
    /// share the domain do not undo each other's changes of different keys.
    case flat
}

extension DomainLayout {
    /// The name of a root in the feed of a domain: its key, or an empty text for the whole domain. No root key is empty.
    func part(of root: String) -> String {
        self == .flat ? "" : root
    }

    /// The dictionary that a root is in a domain; nil if there is none.
    func dictionary(of root: String, in content: Transaction.Content?) throws(PrefsError) -> [String: Any]? {
        if self == .flat { return content?.isEmpty == true ? nil : content }
        guard let entry = content?[root] else { return nil }
        guard let dictionary = entry as? [String: Any] else { throw .rootIsNotDictionary(key: root) }
        return dictionary
    }
}
