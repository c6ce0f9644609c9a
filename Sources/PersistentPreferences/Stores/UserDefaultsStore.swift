public import Foundation
import PrefsFileEngine
package import PrefsPropertyLists

/// A store over a domain of `UserDefaults`. The standard domain is the default store of ``PersistentPrefs``.
///
/// ```swift
/// final class SharedPrefs: Prefs, @unchecked Sendable {
///     @Pref var launches = 0
///
///     static let suite = UserDefaultsStore(suiteName: "group.org.example.app", layout: .flat)
///     override class var store: any PrefsStore { suite }
/// }
/// ```
///
/// ## Behavior
/// On Linux, the package reads and writes the domain file of `UserDefaults` itself, with locks. A write is on disk when
/// it returns, and `UserDefaults` of this process stays in agreement. On Apple platforms, `UserDefaults` is the store,
/// and its daemon writes the file later. There, an update is atomic within the process, and not between processes.
/// Arguments and registered defaults are never read into a root.
///
/// ## Performance
/// On Linux, a read by an instance costs one `fstat` if the file has not changed, and a write replaces the file and
/// flushes it and its folder.
///
/// ## Errors
/// An invalid suite name makes every access fail with ``PrefsError/invalidName(name:reason:)``. On iOS, watchOS and
/// visionOS, a domain whose values cannot be read before the first unlock of the device is not empty: accesses fail
/// with ``PrefsError/unreadable(_:)``. See <doc:BeforeTheFirstUnlock>.
///
/// ## Threads
/// Any thread.
public final class UserDefaultsStore: RootsStore {
    /// The standard domain of this program. Its name is the bundle identifier or, on Linux without one, the name of the
    /// executable.
    public static let standard = UserDefaultsStore()

    package let ownRoots: Roots
    /// Finds values that other code has set on `UserDefaults` and not synchronized; nil if the domain itself knows
    /// them.
    package let newest: NewestEntry?

    /// Returns the value of a key, given the stored value and the whole domain: the stored value, unless other code has
    /// set another one.
    package typealias NewestEntry =
        @Sendable (_ key: String, _ stored: StoredValue?, _ content: [String: StoredValue]?) -> StoredValue?

    /// Creates a store over the domain of `UserDefaults(suiteName:)`. On Apple platforms the suite may be an app group.
    ///
    /// - Parameters:
    ///   - suiteName: at most 200 bytes, without `/`, NUL or a leading dot; nil stands for the standard domain. Any
    ///     other name makes every access fail with ``PrefsError/invalidName(name:reason:)``.
    ///   - layout: whether the values are in a dictionary under each root key, or are the entries of the domain.
    public convenience init(suiteName: String? = nil, layout: DomainLayout = .roots) {
        do {
            if let suiteName { try NameVetting.checkSuite(suiteName) }
            let (domain, newest) = try Self.domain(suiteName)
            self.init(
                Roots(domain, layout: layout, recordedBy: suiteName == nil ? StoreReplacements.current : nil), newest)
        } catch {
            self.init(Roots(unreachable: error, layout: layout))
        }
    }

    /// Creates a store with roots, for tests.
    package init(_ roots: Roots, _ newest: NewestEntry? = nil) {
        ownRoots = roots
        self.newest = newest
    }

    /// The property-list file of the domain. nil on Apple platforms, where a daemon owns the file. Also nil if the name
    /// of the domain is invalid, or without a home folder.
    public var fileURL: URL? {
        ownRoots.fileURL
    }
}

extension UserDefaults {
    /// The value of a key; nil if nothing is stored.
    package func value(ofEntry key: String) -> StoredValue? {
        object(forKey: key).map(PropertyListVetter.value(ofStored:))
    }

    /// The value of a key in one domain. Includes what other code has set and not synchronized. Excludes arguments,
    /// registered defaults and other domains. Copies the domain.
    package func value(ofEntry key: String, inDomain domain: String) -> StoredValue? {
        persistentDomain(forName: domain)?[key].map(PropertyListVetter.value(ofStored:))
    }
}
