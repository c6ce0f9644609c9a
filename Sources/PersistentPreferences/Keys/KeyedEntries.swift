import Foundation
import PrefsFileEngine
import PrefsPropertyLists

/// Where the values of `PrefKey`s are: entries of a domain, or values of a root.
struct KeyedEntries: Sendable {
    private let roots: Roots
    /// nil for entries of the domain, whatever its layout.
    private let root: String?
    private let newest: UserDefaultsStore.NewestEntry?

    /// Entries of a domain.
    init(_ defaults: UserDefaults) {
        self.init(of: DefaultsObjectStore.of(defaults))
    }

    /// Entries of a store. One of another module has only roots.
    init(of store: any PrefsStore) {
        roots = store.roots
        root = roots.isForeign || roots.layers != nil ? "AppSettings" : nil
        newest = (store as? UserDefaultsStore)?.newest
    }

    /// Values of a root.
    init(store: any PrefsStore, root: String) {
        (roots, self.root, newest) = (store.roots, root, nil)
    }

    /// nil if there is no value.
    ///
    /// - Parameters:
    ///   - isForWriting: whether a write starts from it.
    ///   - report: called with a warning if the read succeeds with one.
    func value(forKey key: String, isForWriting: Bool = false, _ report: (PrefsError) -> Void) throws -> StoredValue? {
        guard let root else { return try entry(forKey: key, isForWriting: isForWriting, report) }
        try NameVetting.checkRoot(root)
        let part = roots.layout == .flat ? DomainPart.entries([key]) : .root(root)
        let state = try roots.state(of: part, isForWriting: isForWriting)
        let stored = try roots.layout.dictionary(of: root, in: state.content)
        let layers = roots.currentLayers(mayBeInside: state.revision == nil)
        if let warning = state.warning {
            report(PrefsError(warning))
        } else if let faults = layers?.faults(of: root), !faults.isEmpty {
            report(.invalidLayer(faults))
        }
        return layers.map { $0.merged(stored, root: root)?[key] } ?? stored?[key]
    }

    private func entry(
        forKey key: String, isForWriting: Bool, _ report: (PrefsError) -> Void
    ) throws -> StoredValue? {
        let state = try roots.state(of: .entries([key]), isForWriting: isForWriting)
        let stored = state.content?[key]
        if let warning = state.warning {
            report(PrefsError(warning))
            // UserDefaults may crash on a malformed file.
            return stored
        }
        // Without a revision it is the thread's own update.
        guard let newest, state.revision != nil else { return stored }
        return newest(key, stored, state.content)
    }

    /// Makes the accesses of the body one transaction.
    func transact(forKey key: String, _ body: () throws -> Void) throws {
        try roots.transact(on: root ?? key) { _ in try body() }
    }

    /// Stores the value of a key. nil removes the key.
    func setValue(_ value: StoredValue?, forKey key: String) throws {
        guard let root else { return try roots.transact(on: key) { $0.replace(key, with: value) } }
        try roots.update(root: root) { objects in
            guard value != nil || objects != nil else { return }
            objects = objects ?? [:]
            objects?[key] = value?.object
        }
    }

    /// Subscribes to the changes of a value, and possibly of others.
    func subscribe(to key: String, _ subscriber: any EntrySubscriber) throws -> EntrySubscription {
        guard let root else { return try roots.subscribe(to: .root(key), subscriber) }
        try NameVetting.checkRoot(root)
        return try roots.subscribe(to: root, keys: [key], subscriber, from: nil)
    }

    /// Whether a change that a subscriber has received is one of the value.
    func concerns(_ key: String, _ change: EntryChange) -> Bool {
        root == nil || change.difference.keys.contains(key) || change.after.layers != nil
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
