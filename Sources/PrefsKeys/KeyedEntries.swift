import Foundation
import PersistentPreferences
import PrefsFileEngine
import PrefsPropertyLists

/// The place of the values of `PrefKey`s.
///
/// Unchecked because `UserDefaults`, which may be used from any thread, is not Sendable.
struct KeyedEntries: @unchecked Sendable {
    private let place: Place

    private enum Place {
        /// Entries of a domain, in every layout.
        case domain(Roots, UserDefaultsStore.NewestEntry?)
        /// Values of a root.
        case root(Roots, String)
        /// The values of a `UserDefaults` object that does not tell the name of its domain. It has no transactions.
        case object(UserDefaults)
        /// Entries with the former value of one of them; read-only.
        indirect case past(key: String, StoredValue?, others: Place)
    }

    init(_ defaults: UserDefaults) {
        self =
            defaults === UserDefaults.standard
            ? KeyedEntries(of: UserDefaultsStore.standard) : KeyedEntries(.object(defaults))
    }

    private init(_ place: Place) {
        self.place = place
    }

    /// The entries of a store. A store of another module, and a store with layers, has only roots.
    init(of store: any PrefsStore) {
        let roots = store.roots
        place =
            roots.isForeign || roots.layers != nil
            ? .root(roots, "AppSettings") : .domain(roots, (store as? UserDefaultsStore)?.newest)
    }

    /// Values of a root.
    init(store: any PrefsStore, root: String) {
        place = .root(store.roots, root)
    }

    /// The accepted form of the values, which people may have written.
    var form: ValueForm {
        switch place {
        case .domain(let roots, _), .root(let roots, _): roots.form
        case .past(_, _, let others): KeyedEntries(others).form
        case .object: .exact
        }
    }

    /// nil if there is no value.
    ///
    /// - Parameters:
    ///   - isForWriting: whether a change in place starts from the value. Arguments and registered defaults are then
    ///     left out, because the change would store them.
    ///   - report: called with a warning if the read succeeds with one.
    func value(forKey key: String, isForWriting: Bool = false, _ report: (PrefsError) -> Void) throws -> StoredValue? {
        switch place {
        case .domain(let roots, let newest):
            let state = try roots.state(of: .entries([key]), isForWriting: isForWriting)
            let stored = state.content?[key]
            if let warning = state.warning {
                report(PrefsError(warning))
                // UserDefaults may crash on a malformed file.
                return stored
            }
            // There is no revision in the thread's own update.
            guard let newest, state.revision != nil else { return stored }
            return newest(key, stored, state.content)
        case .root(let roots, let root):
            return try value(forKey: key, of: root, in: roots, isForWriting: isForWriting, report)
        case .object(let defaults):
            guard isForWriting, let domain = defaults.domainName else { return defaults.value(ofEntry: key) }
            return defaults.value(ofEntry: key, inDomain: domain)
        case .past(let pastKey, let value, let others):
            return key == pastKey ? value : try KeyedEntries(others).value(forKey: key, report)
        }
    }

    private func value(
        forKey key: String, of root: String, in roots: Roots, isForWriting: Bool, _ report: (PrefsError) -> Void
    ) throws -> StoredValue? {
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

    /// Makes the accesses of the body one transaction, if the place has transactions.
    func transact(forKey key: String, _ body: () throws -> Void) throws {
        switch place {
        case .domain(let roots, _): try roots.transact(on: key) { _ in try body() }
        case .root(let roots, let root): try roots.transact(on: root) { _ in try body() }
        case .object, .past: try body()
        }
    }

    /// Stores the value of a key. nil removes the key.
    func setValue(_ value: StoredValue?, forKey key: String) throws {
        switch place {
        case .domain(let roots, _): try roots.transact(on: key) { $0.replace(key, with: value) }
        case .root(let roots, let root):
            try roots.update(root: root) { objects in
                guard value != nil || objects != nil else { return }
                objects = objects ?? [:]
                objects?[key] = value?.object
            }
        case .object(let defaults):
            // A write to such an object could not be rolled back.
            if Transaction.current != nil { throw PrefsError.updateOfAnotherStore }
            if let value { defaults.set(value.object, forKey: key) } else { defaults.removeObject(forKey: key) }
            guard defaults.synchronize() else {
                throw PrefsError.notStored(StorageFailure(path: "", reason: "UserDefaults could not be synchronized"))
            }
        case .past: break
        }
    }

    /// The warning of a write that has succeeded, such as that of a damaged file, once. Inside an update, that update reports it.
    func takeWarning() -> PrefsError? {
        switch place {
        case .domain(let roots, _), .root(let roots, _): Transaction.current == nil ? roots.takeWarning() : nil
        case .object, .past: nil
        }
    }

    /// Subscribes to the changes of a value, and possibly of others. Returns nil if the place does not report changes.
    func subscribe(to key: String, _ subscriber: any EntrySubscriber) throws -> EntrySubscription? {
        switch place {
        case .domain(let roots, _): return try roots.subscribe(to: .root(key), subscriber)
        case .root(let roots, let root):
            try NameVetting.checkRoot(root)
            return try roots.subscribe(to: root, keys: [key], subscriber, from: nil)
        case .object, .past: return nil
        }
    }

    /// Returns entries in which one key has the value from a state that a subscriber has received.
    func with(_ key: String, at state: EntryState) -> KeyedEntries {
        let value: StoredValue?
        if case .root(_, let root) = place {
            let stored = state.value?.dictionary
            let around = state.layers
            value = around.map { $0.layers.merged(stored, root: root)?[key] } ?? stored?[key]
        } else {
            value = state.value
        }
        return KeyedEntries(.past(key: key, value, others: place))
    }

    /// Whether a change that a subscriber has received changes the value.
    func concerns(_ key: String, _ change: EntryChange) -> Bool {
        guard case .root = place else { return true }
        return change.difference.keys.contains(key) || change.after.layers != nil
    }
}
