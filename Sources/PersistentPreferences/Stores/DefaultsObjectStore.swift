package import Foundation
import PrefsFileEngine
import PrefsPropertyLists

/// A store over a `UserDefaults` object, which does not tell the name of its domain.
///
/// Reads find what `object(forKey:)` finds, with arguments and registered defaults. On Linux an update does not find these, so it does not
/// store them. `synchronize()` is called after each write. Updates are atomic for the users of this store, and only their changes are
/// observed.
package final class DefaultsObjectStore: PrefsStore {
    private let domainStore: DomainStore

    private static let stores = Locked<[ObjectIdentifier: WeakStore]>([:])

    private struct WeakStore {
        weak var store: DefaultsObjectStore?
    }

    /// The store of an object: one, so that its users share transactions. That of the standard domain is the usual one.
    package static func of(_ defaults: UserDefaults) -> any PrefsStore {
        if defaults === UserDefaults.standard { return UserDefaultsStore.standard }
        return stores.withLock { stores in
            // A store keeps its object, so nobody else has that address.
            if let store = stores[ObjectIdentifier(defaults)]?.store { return store }
            stores = stores.filter { $0.value.store != nil }
            let new = DefaultsObjectStore(defaults)
            stores[ObjectIdentifier(defaults)] = WeakStore(store: new)
            return new
        }
    }

    private init(_ defaults: UserDefaults) {
        domainStore = DomainStore(DefaultsObject(defaults), durability: .process)
    }

    package func read(root: String) throws -> [String: Any]? {
        try domainStore.values(of: root)?.objects
    }

    package func update(root: String, _ body: (inout [String: Any]?) throws -> Void) throws {
        try domainStore.update(root: root, body)
    }

    package func observe(root: String, _ action: @escaping @Sendable (PrefsChange) -> Void) throws -> PrefsObservation {
        try domainStore.observe(root: root, action)
    }
}

/// What a `UserDefaults` object finds.
///
/// Unchecked because `UserDefaults` is not Sendable, although any thread may use it.
private final class DefaultsObject: TransactionDomain, DomainStorage, @unchecked Sendable {
    let queue = TransactionQueue()
    private let defaults: UserDefaults

    init(_ defaults: UserDefaults) {
        self.defaults = defaults
        queue.feed.start(self)
    }

    func read(_ root: String, _ layout: DomainLayout) -> RootSnapshot {
        if let transaction = ownTransaction { return RootSnapshot(of: root, in: transaction.content) }
        return RootSnapshot(of: root, in: defaults.value(ofEntry: root).map { [root: $0] })
    }

    func subscribe(
        to part: String, keys: [String], _ subscriber: any EntrySubscriber, from known: LastKnownEntry?
    ) throws -> EntrySubscription {
        try queue.feed.subscribe(to: part, subscriber, from: known)
    }

    func committed() -> Content? {
        let entries = defaults.domainName.map { defaults.persistentDomain(forName: $0) ?? [:] }
        var content: Content = [:]
        for (key, object) in entries ?? defaults.dictionaryRepresentation() {
            content[key] = PropertyListVetter.value(ofStored: object)
        }
        return content
    }

    func begin() -> any TransactionSession { Session(defaults: defaults, content: committed()) }

    private struct Session: TransactionSession {
        let defaults: UserDefaults
        let content: Content?

        /// Sets only the entries that the transactions have changed: the others may come from other domains of the search list, or
        /// have been changed by other code meanwhile.
        func commit(_ content: Content, durability: CommitDurability) throws {
            let before = self.content ?? [:]
            for (key, value) in content where before[key] != value { defaults.set(value.object, forKey: key) }
            for key in before.keys where content[key] == nil { defaults.removeObject(forKey: key) }
            guard defaults.synchronize() else {
                throw FileError.notStored(StorageFailure(path: "", reason: "UserDefaults could not be synchronized"))
            }
        }
    }

    /// Other code may change the object at any time.
    var keepsOthersOut: Bool { false }
}
