package import Foundation
import PrefsFileEngine
package import PrefsPropertyLists

extension PrefsStore {
    /// The standard domain of this program, the store of a class that names no other.
    package static let standard = userDefaults()

    /// Creates a store over the domain of `UserDefaults(suiteName:)`. The standard domain is the default store of
    /// ``PersistentPrefs``; its name is the bundle identifier or, on Linux without one, the name of the executable.
    ///
    /// ```swift
    /// final class SharedPrefs: Prefs, @unchecked Sendable {
    ///     @Pref var launches = 0
    ///
    ///     override class var store: PrefsStore { .userDefaults(suite: "group.org.example.app", layout: .flat) }
    /// }
    /// ```
    ///
    /// ## Behavior
    /// On Linux, the package reads and writes the domain file of `UserDefaults` itself, with locks. A write is on disk
    /// when it returns, and `UserDefaults` of this process stays in agreement. On Apple platforms, `UserDefaults` is the
    /// store, and its daemon writes the file later. There, an update is atomic within the process, and not between
    /// processes. Arguments and registered defaults are never read into a root.
    ///
    /// ## Performance
    /// On Linux, a read by an instance costs one `fstat` if the file has not changed, and a write replaces the file and
    /// flushes it and its folder.
    ///
    /// ## Errors
    /// An invalid suite name makes every access fail with ``PrefsError/invalidName(name:reason:)``. On iOS, watchOS and
    /// visionOS, a domain whose values cannot be read before the first unlock of the device is not empty: accesses fail
    /// with ``PrefsError/unreadable(_:)``. See <doc:ApplePlatforms#Before-the-first-unlock>.
    ///
    /// ## Threads
    /// Any thread.
    ///
    /// - Parameters:
    ///   - suite: at most 200 bytes, without `/`, NUL or a leading dot; nil stands for the standard domain. On Apple
    ///     platforms, it may be an app group.
    ///   - layout: whether the values are in a dictionary under each root key, or are the entries of the domain.
    public static func userDefaults(suite: String? = nil, layout: DomainLayout = .roots) -> PrefsStore {
        do {
            if let suite { try NameVetting.checkSuite(suite) }
            let (domain, newest) = try UserDefaultsDomain.of(suite)
            return PrefsStore(
                Roots(
                    domain, layout: layout, newest: newest,
                    recordedBy: suite == nil ? StoreReplacements.current : nil))
        } catch {
            return PrefsStore(Roots(unreachable: error, layout: layout))
        }
    }
}

/// The domains of `UserDefaults`.
package enum UserDefaultsDomain {}

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
