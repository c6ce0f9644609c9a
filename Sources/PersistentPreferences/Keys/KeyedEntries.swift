import Foundation
import PrefsFileEngine
import PrefsPropertyLists

/// Where the values of `PrefKey`s are.
protocol KeyedEntries: Sendable {
    /// nil if there is no value.
    ///
    /// - Parameter report: called with a warning if the read succeeds with one.
    func value(forKey key: String, _ report: (PrefsError) -> Void) throws -> StoredValue?
    /// The value that a change in place starts from.
    func valueToChange(forKey key: String, _ report: (PrefsError) -> Void) throws -> StoredValue?
    /// Makes the accesses of the body one transaction, if the entries have any.
    func transact(_ body: () throws -> Void) throws
    /// Stores the value of a key. nil removes the key.
    func setValue(_ value: StoredValue?, forKey key: String) throws
    /// Subscribes to the changes of a value, and possibly of others. Returns nil if the store does not report changes.
    func subscribe(to key: String, _ subscriber: any EntrySubscriber) throws -> EntrySubscription?
    /// Whether a change that a subscriber has received is one of the value.
    func concerns(_ key: String, _ change: EntryChange) -> Bool
}

extension KeyedEntries {
    func valueToChange(forKey key: String, _ report: (PrefsError) -> Void) throws -> StoredValue? {
        try value(forKey: key, report)
    }
}

/// Entries of a UserDefaults domain.
///
/// Unchecked because UserDefaults, which may be used from any thread, is not Sendable.
struct DefaultsEntries: KeyedEntries, @unchecked Sendable {
    private let defaults: UserDefaults

    init(_ defaults: UserDefaults) {
        self.defaults = defaults
    }

    func value(forKey key: String, _ report: (PrefsError) -> Void) throws -> StoredValue? {
        if defaults === UserDefaults.standard { return try UserDefaultsStore.standard.entry(forKey: key, report) }
        return defaults.value(ofEntry: key)
    }

    /// Without arguments and registered defaults, which the change would store.
    func valueToChange(forKey key: String, _ report: (PrefsError) -> Void) throws -> StoredValue? {
        if defaults !== UserDefaults.standard, let domain = defaults.domainName {
            return defaults.value(ofEntry: key, inDomain: domain)
        }
        return try value(forKey: key, report)
    }

    func subscribe(to key: String, _ subscriber: any EntrySubscriber) throws -> EntrySubscription? {
        guard defaults === UserDefaults.standard else { return nil }
        return try UserDefaultsStore.standard.domainStore.subscribe(toEntry: key, subscriber)
    }

    func concerns(_ key: String, _ change: EntryChange) -> Bool { true }

    func transact(_ body: () throws -> Void) throws {
        guard defaults === UserDefaults.standard else { return try body() }
        try UserDefaultsStore.standard.domainStore.transact { _ in try body() }
    }

    func setValue(_ value: StoredValue?, forKey key: String) throws {
        if defaults === UserDefaults.standard {
            return try UserDefaultsStore.standard.setEntry(value, forKey: key)
        }
        // It could not be rolled back.
        if Transaction.current != nil { throw PrefsError.updateOfAnotherStore }
        if let value {
            defaults.set(value.object, forKey: key)
        } else {
            defaults.removeObject(forKey: key)
        }
        guard defaults.synchronize() else {
            throw PrefsError.notStored(StorageFailure(path: "", reason: "UserDefaults could not be synchronized"))
        }
    }
}

/// Entries of the domain of a store, whatever its layout.
struct StoreEntries: KeyedEntries {
    private let store: any DomainBackedStore

    init(_ store: any DomainBackedStore) {
        self.store = store
    }

    func value(forKey key: String, _ report: (PrefsError) -> Void) throws -> StoredValue? {
        if let store = store as? UserDefaultsStore { return try store.entry(forKey: key, report) }
        let snapshot = try store.domainStore.entries()
        if let warning = snapshot.warning { report(warning) }
        return try snapshot.value(forKey: key)
    }

    func subscribe(to key: String, _ subscriber: any EntrySubscriber) throws -> EntrySubscription? {
        try store.domainStore.subscribe(toEntry: key, subscriber)
    }

    func concerns(_ key: String, _ change: EntryChange) -> Bool { true }

    func transact(_ body: () throws -> Void) throws {
        try store.domainStore.transact { _ in try body() }
    }

    func setValue(_ value: StoredValue?, forKey key: String) throws {
        try store.domainStore.transact { $0.replace(key, with: value) }
    }
}

/// Values of a root.
struct RootEntries: KeyedEntries {
    let store: any PrefsStore
    let root: String

    func value(forKey key: String, _ report: (PrefsError) -> Void) throws -> StoredValue? {
        try NameVetting.checkRoot(root)
        let reading = try store.rootStore.snapshot(of: root)
        guard let layers = reading.layers else {
            if let warning = reading.warning { report(warning) }
            return try reading.value(forKey: key)
        }
        let values = try reading.values()
        if let warning = reading.warning { report(warning) }
        return layers.merged(values, root: root)?[key]
    }

    func subscribe(to key: String, _ subscriber: any EntrySubscriber) throws -> EntrySubscription? {
        try NameVetting.checkRoot(root)
        return try store.rootStore.subscribe(to: root, keys: [key], subscriber, from: nil)
    }

    func concerns(_ key: String, _ change: EntryChange) -> Bool {
        change.difference.keys.contains(key) || change.after.layers != nil
    }

    func transact(_ body: () throws -> Void) throws {
        try store.update(root: root) { _ in try body() }
    }

    func setValue(_ value: StoredValue?, forKey key: String) throws {
        try store.update(root: root) { objects in
            guard value != nil || objects != nil else { return }
            objects = objects ?? [:]
            objects?[key] = value?.object
        }
    }
}

extension UserDefaults {
    /// The value of a key; nil if nothing is stored.
    func value(ofEntry key: String) -> StoredValue? {
        object(forKey: key).map(PropertyListVetter.value(ofStored:))
    }

    /// The value of a key in one domain, with what other code has set and not synchronized, and without arguments, registered
    /// defaults and other domains. Copies the domain.
    func value(ofEntry key: String, inDomain domain: String) -> StoredValue? {
        persistentDomain(forName: domain)?[key].map(PropertyListVetter.value(ofStored:))
    }
}
