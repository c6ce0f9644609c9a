import Foundation
import PrefsFileEngine
import PrefsPropertyLists

/// Where the values of `PrefKey`s are.
protocol KeyedEntries: Sendable {
    /// In canonical form; nil if there is no value.
    ///
    /// - Parameter report: called with a warning if the read succeeds with one.
    func object(forKey key: String, _ report: (PrefsError) -> Void) throws -> Any?
    /// The value that a change in place starts from.
    func objectToChange(forKey key: String, _ report: (PrefsError) -> Void) throws -> Any?
    /// Makes the accesses of the body one transaction, if the entries have any.
    func transact(_ body: () throws -> Void) throws
    /// nil removes it. The object is in canonical form.
    func setObject(_ object: Any?, forKey key: String) throws
    /// Subscribes to the changes of a value, and possibly of others. Returns nil if the store does not report changes.
    func subscribe(to key: String, _ subscriber: any EntrySubscriber) throws -> EntrySubscription?
    /// Whether a change that a subscriber has received is one of the value.
    func concerns(_ key: String, _ change: EntryChange) -> Bool
}

extension KeyedEntries {
    func objectToChange(forKey key: String, _ report: (PrefsError) -> Void) throws -> Any? {
        try object(forKey: key, report)
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

    func object(forKey key: String, _ report: (PrefsError) -> Void) throws -> Any? {
        if defaults === UserDefaults.standard { return try UserDefaultsStore.standard.entry(forKey: key, report) }
        return defaults.canonicalObject(forKey: key)
    }

    /// Without arguments and registered defaults, which the change would store.
    func objectToChange(forKey key: String, _ report: (PrefsError) -> Void) throws -> Any? {
        if defaults !== UserDefaults.standard, let domain = defaults.domainName {
            return defaults.canonicalObject(forKey: key, inDomain: domain)
        }
        return try object(forKey: key, report)
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

    func setObject(_ object: Any?, forKey key: String) throws {
        if defaults === UserDefaults.standard {
            return try UserDefaultsStore.standard.setEntry(object, forKey: key)
        }
        // It could not be rolled back.
        if Transaction.current != nil { throw PrefsError.updateOfAnotherStore }
        if let object {
            defaults.set(object, forKey: key)
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

    func object(forKey key: String, _ report: (PrefsError) -> Void) throws -> Any? {
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

    func setObject(_ object: Any?, forKey key: String) throws {
        try store.domainStore.transact { $0.replace(key, with: object) }
    }
}

/// Values of a root.
struct RootEntries: KeyedEntries {
    let store: any PrefsStore
    let root: String

    func object(forKey key: String, _ report: (PrefsError) -> Void) throws -> Any? {
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
        change.difference.keys.contains(key) || LayeredEntry.of(change.after) != nil
    }

    func transact(_ body: () throws -> Void) throws {
        try store.update(root: root) { _ in try body() }
    }

    func setObject(_ object: Any?, forKey key: String) throws {
        try store.update(root: root) { values in
            guard object != nil || values != nil else { return }
            values = values ?? [:]
            values?[key] = object
        }
    }
}

extension UserDefaults {
    /// The value of a key, in canonical form; nil if nothing is stored, or if the stored object has no canonical form.
    func canonicalObject(forKey key: String) -> Any? {
        object(forKey: key).flatMap { Self.canonical($0, forKey: key) }
    }

    /// The value of a key in one domain, with what other code has set and not synchronized, and without arguments, registered
    /// defaults and other domains. Copies the domain.
    func canonicalObject(forKey key: String, inDomain domain: String) -> Any? {
        persistentDomain(forName: domain)?[key].flatMap { Self.canonical($0, forKey: key) }
    }

    static func canonical(_ object: Any, forKey key: String) -> Any? {
        try? PropertyListVetter.canonical(object, forKey: key).get()
    }
}
