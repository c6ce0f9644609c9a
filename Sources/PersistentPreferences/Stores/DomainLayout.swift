package import PrefsFileEngine
package import PrefsPropertyLists

/// The layout of roots in a domain: a property-list file or a domain of `UserDefaults`.
///
/// ```swift
/// final class AppPrefs: Prefs, @unchecked Sendable {
///     @Pref var volume = 0.5  // the same entry as @AppStorage("volume")
///
///     override class var store: PrefsStore { .userDefaults(layout: .flat) }
/// }
/// ```
public enum DomainLayout: Sendable, Hashable {
    /// A dictionary under each root key. Classes with different root keys share nothing. As in RVS_PersistentPrefs.
    case roots
    /// Each value is an entry of the domain, as with `@AppStorage`, Settings bundles and most existing apps.
    ///
    /// The root key has no effect on storage. Entries that ``PersistentPrefs/allowedKeys`` does not contain are preserved and
    /// invisible. ``PersistentPrefs/deleteRoot()`` removes the values of allowed keys and their former keys, and the
    /// stored version. An empty domain counts as missing. On Apple platforms, each changed key is one `set`, so two
    /// programs that share the domain do not undo each other's changes of different keys.
    ///
    /// An update of the store that sets the root to nil removes every entry, also entries of other programs.
    ///
    /// Keys, former keys and the version belong to the whole domain. Classes that share it therefore need different
    /// keys and former keys, and only one of them may have ``PersistentPrefs/migrations``. If two classes declare one key
    /// with different types or defaults, the second one reports ``PrefsError/problem(_:)``. A domain that was never
    /// migrated has version 0, also in a new installation: a step may find no value of its class, and entries of other
    /// programs.
    case flat
}

extension DomainLayout {
    /// The entry of a root in a domain, of any type; nil if it is missing.
    func entry(of root: String, in content: DomainContent?) -> StoredValue? {
        guard self == .flat else { return content?[root] }
        return content.flatMap { $0.isEmpty ? nil : .dictionary($0) }
    }

    /// The dictionary of a root in a domain; nil if the root is missing.
    package func dictionary(of root: String, in content: DomainContent?) throws(PrefsError) -> [String:
        StoredValue]?
    {
        if self == .flat { return content?.isEmpty == true ? nil : content }
        guard let entry = content?[root] else { return nil }
        guard case .dictionary(let members) = entry else { throw .rootIsNotDictionary(key: root) }
        return members
    }
}
