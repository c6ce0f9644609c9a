package import Foundation
package import PrefsPropertyLists

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
