import PrefsFileEngine

/// How a store lays its roots out in a domain: the property-list file, or the domain of `UserDefaults`.
///
/// ```swift
/// final class AppPrefs: Prefs, @unchecked Sendable {
///     @Pref var volume = 0.5  // the entry that @AppStorage("volume") has
///
///     static let domain = UserDefaultsStore(layout: .flat)
///     override class var store: any PrefsStore { domain }
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
    ///
    /// An update of the store that makes the root nil removes every entry, those of other programs too.
    ///
    /// Keys, former names and the version belong to the whole domain. So classes that share it need different keys and former
    /// names, and at most one of them has ``PersistentPrefs/migrations``. A domain that was never migrated has version 0, also
    /// in a new installation: a step may find no value of its class, and entries of other programs.
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
