import PrefsPropertyLists

/// The part of `UserDefaults` and of the system that the store uses: one domain, as seen by one process.
///
/// On Apple platforms it is `UserDefaults` itself. Tests put a model in its place, so that everything above this
/// protocol runs on Linux too. Every member may be called from any thread.
package protocol SystemDefaults: AnyObject, Sendable {
    /// Holds the domain's transactions: one object for the process.
    var slot: DomainSlot { get }

    /// The object that `UserDefaults.object(forKey:)` finds in the domains of its search list, of any class.
    func object(forKey key: String) -> Any?
    /// `UserDefaults.objectIsForced(forKey:)`: whether an administrator has set the value.
    func isForced(_ key: String) -> Bool
    /// Whether another domain of the search list has a value for the key. Then `object(forKey:)` may not return the
    /// value of this domain.
    func isInOtherDomains(_ key: String) -> Bool
    /// `UserDefaults.persistentDomain(forName:)`: a copy of the whole domain, without other domains.
    func allEntries() -> [String: Any]
    /// `UserDefaults.set(_:forKey:)`, and `removeObject(forKey:)` for nil. Asynchronous: other processes see it later.
    func set(_ object: Any?, forKey key: String)

    /// Calls the closure after each change of an entry, by any process, until this process ends. Uses key-value
    /// observing, which cannot observe keys with a dot or a leading `@`.
    func observe(_ key: String, _ changed: @escaping @Sendable () -> Void)
    /// Calls the closure after each change that this process makes: `UserDefaults.didChangeNotification`.
    func observeOwnChanges(_ changed: @escaping @Sendable () -> Void)
    /// Calls the closure when protected data has become available.
    func observeUnlock(_ unlocked: @escaping @Sendable () -> Void)

    /// Whether the domain's file stays encrypted after a restart of the device until the first unlock.
    var hasDataProtection: Bool { get }
    func contents(of file: ProtectedFile) -> ProtectedContents
    /// Creates the marker, or removes it. If that fails, the file alone decides.
    func setMarker(_ exists: Bool)

    /// The sizes of the domain's file, in bytes, from which the system warns, and from which it rejects the domain or
    /// ends the program.
    var sizeLimits: (warning: Int?, maximum: Int) { get }
}

/// Files that distinguish an empty domain from one that cannot be read yet.
package enum ProtectedFile: Sendable {
    /// The file in which the daemon keeps the domain.
    case domain
    /// A file of one byte that this package creates after its first write. It shows that the domain has had values.
    case marker
}

/// The result of opening such a file.
package enum ProtectedContents: Sendable {
    case missing
    /// The file exists and is encrypted.
    case locked
    /// The file exists and cannot be opened for another reason.
    case unreadable(String)
    case bytes([UInt8])
}

/// Holds the transactions of a domain.
package final class DomainSlot: Sendable {
    private let domain = Locked<AnyObject?>(nil)

    package init() {}

    /// The domain, which the first call makes. Its class is of a higher floor.
    func domain<Domain: AnyObject>(_ make: () -> Domain) -> Domain {
        domain.withLock { domain in
            if let domain = domain as? Domain { return domain }
            let new = make()
            domain = new
            return new
        }
    }
}
