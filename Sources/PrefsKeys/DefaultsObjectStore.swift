package import Foundation
package import PersistentPreferences
import PrefsFileEngine
import PrefsPropertyLists

/// A store over a `UserDefaults` object. The object does not tell the name of its domain.
///
/// Reads find what `object(forKey:)` finds, including arguments and registered defaults. On Linux, an update does not
/// find these, so it does not store them. `synchronize()` is called after each write. Updates are atomic for the users
/// of this store, and only their changes are observed.
package enum DefaultsObjectStore {
    private static let stores = Locked<[ObjectIdentifier: WeakRoots]>([:])

    private struct WeakRoots {
        weak var roots: Roots?
    }

    /// The one store of an object, so that its users share transactions. The object of the standard domain has the
    /// usual store.
    package static func of(_ defaults: UserDefaults) -> PrefsStore {
        if defaults === UserDefaults.standard { return .standard }
        return stores.withLock { stores in
            // A store keeps its object alive, so no other object has that address.
            if let roots = stores[ObjectIdentifier(defaults)]?.roots { return PrefsStore(roots) }
            stores = stores.filter { $0.value.roots != nil }
            let new = Roots(DefaultsObject(defaults), durability: .process)
            stores[ObjectIdentifier(defaults)] = WeakRoots(roots: new)
            return PrefsStore(new)
        }
    }

    /// Whether the roots are those of an object.
    static func has(_ roots: Roots) -> Bool { roots.domain is DefaultsObject }
}

/// The entries that a `UserDefaults` object finds, as a domain.
///
/// Unchecked because `UserDefaults` is not Sendable, although any thread may use it.
private final class DefaultsObject: Domain, FeedSource, @unchecked Sendable {
    private let feed = ChangeFeed()
    private let queue: TransactionQueue
    private let defaults: UserDefaults

    init(_ defaults: UserDefaults) {
        self.defaults = defaults
        queue = TransactionQueue(reportingTo: feed)
        feed.start(self)
    }

    /// Other code may change the object at any time.
    let mayOthersWrite = true

    func committedState(waits: Bool) -> DomainState { DomainState(committed()) }

    var transaction: Transaction? { queue.transaction }

    func state(of part: DomainPart, isForWriting: Bool) -> DomainState {
        if let transaction { return DomainState(transaction.content, isOfUpdate: true) }
        let keys =
            switch part {
            case .root(let key): [key]
            case .entries(let keys): keys
            case .everything: nil as [String]?
            }
        guard let keys else { return DomainState(committed()) }
        var content: Content = [:]
        // A write must not store arguments and registered defaults.
        let domain = isForWriting ? defaults.domainName : nil
        UserDefaults.inCLocale {
            for key in keys {
                content[key] = domain.map { defaults.value(ofEntry: key, inDomain: $0) } ?? defaults.value(ofEntry: key)
            }
        }
        return DomainState(content, hasAllEntries: false)
    }

    func transact(on root: String, durability: CommitDurability, _ body: (Transaction) throws -> Void) throws {
        try queue.transact(
            durability: durability, begin: { Session(defaults: defaults, content: committed()) }, body)
    }

    func subscribe(to part: DomainPart, _ observer: EntryObserver) throws -> EntrySubscription {
        try feed.subscribe(to: part.name, observer)
    }

    private func committed() -> Content? {
        UserDefaults.inCLocale {
            let entries = defaults.domainName.map { defaults.persistentDomain(forName: $0) ?? [:] }
            return (entries ?? defaults.dictionaryRepresentation()).mapValues(PropertyListVetter.value(ofStored:))
        }
    }

    private struct Session: TransactionSession {
        let defaults: UserDefaults
        let content: Content?

        /// Sets only the entries that the transactions have changed. Other entries may come from other domains of the
        /// search list, or may have been changed by other code in the meantime.
        func commit(_ content: Content, durability: CommitDurability) throws {
            let before = self.content ?? [:]
            let changed = Set(before.keys).union(content.keys).filter { before[$0] != content[$0] }
            let isStored = UserDefaults.inCLocale {
                for key in changed { put(content[key], forKey: key) }
                if defaults.synchronize() { return true }
                // The object keeps the values that it could not store: reads would return them, and the next write would
                // store them.
                for key in changed { putBack(before[key], forKey: key) }
                // It also fails if another suite of the process cannot be stored. Then the file has the new values.
                _ = defaults.synchronize()
                return false
            }
            guard isStored else {
                throw FileError.notStored(StorageFailure(path: "", reason: "UserDefaults could not be synchronized"))
            }
        }

        private func put(_ value: StoredValue?, forKey key: String) {
            if let value { defaults.set(value.object, forKey: key) } else { defaults.removeObject(forKey: key) }
        }

        private func putBack(_ former: StoredValue?, forKey key: String) {
            // Without the name of the domain, the former value may be a registered default, which must not be stored.
            if defaults.domainName == nil {
                defaults.removeObject(forKey: key)
                if defaults.value(ofEntry: key) == former { return }
            }
            put(former, forKey: key)
        }
    }
}
