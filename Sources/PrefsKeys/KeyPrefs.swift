import PersistentPreferences
import PrefsFileEngine
import PrefsPropertyLists

/// One key in one place: an instance whose only property is the value of the key.
final class KeyPrefs<Value>: PersistentPrefs, @unchecked Sendable {
    private let property: PrefProperty<Value>
    private let didFail: @Sendable (PrefsError) -> Void
    private let place: KeyPlace

    init(
        _ name: String, _ defaultValue: Value, _ coding: PrefCoding<Value>, in place: KeyPlace,
        didFail: @escaping @Sendable (PrefsError) -> Void
    ) {
        property = PrefProperty(defaultValue, key: name, coding: coding)
        (self.place, self.didFail) = (place, didFail)
        super.init(key: place.root, store: PrefsStore(of: property, in: place.roots(of: name)))
    }

    convenience init<Key: PrefKey>(_ key: Key.Type, _ name: String, in place: KeyPlace) where Key.Value == Value {
        self.init(name, Key.defaultValue, Key.coding, in: place) { Key.didFail($0) }
    }

    var handle: PrefHandle<Value> { PrefHandle(prefs: self, property: property) }

    override func prefsDidFail(_ error: PrefsError) { didFail(error) }

    func isIn(_ place: KeyPlace) -> Bool { self.place === place }

    /// The value for its observers; nil if changes of the place are not reported, which is then reported.
    var observed: ObservedValue<Value>? {
        if place.reportsChanges { return handle.observed }
        callHandlers(
            with: .notWatched(StorageFailure(path: "", reason: "only UserDefaults.standard reports its changes")))
        return nil
    }
}

/// A `KeyPrefs` of any type.
protocol AnyKeyPrefs: PersistentPrefs {
    /// Makes accesses one transaction, unless the value of the key cannot be read.
    func join(_ body: () throws -> Void) rethrows -> PrefsError?
    /// A value that is computed from the key, for its observers; nil as for the key.
    func observed<Result>(computing body: @escaping @Sendable () -> Result) -> ObservedValue<Result>?
}

extension KeyPrefs: AnyKeyPrefs {
    func join(_ body: () throws -> Void) rethrows -> PrefsError? { try handle.join(body) }

    func observed<Result>(computing body: @escaping @Sendable () -> Result) -> ObservedValue<Result>? {
        observed?.computing(body)
    }
}

/// Where the values of keys are: the entries of a domain, in every layout, or the values of a root.
final class KeyPlace: Sendable {
    let root: String
    /// Whether observers hear of changes that are made elsewhere.
    let reportsChanges: Bool
    private let store: PrefsStore
    /// nil if the store has only roots.
    private let entries: Roots?
    /// The newest values of the domain; nil if the domain itself knows them.
    private let newest: NewestEntry?

    init(_ store: PrefsStore, root: String) {
        (self.store, self.root, reportsChanges, entries, newest) = (store, root, true, nil, nil)
    }

    /// The entries of a store. A fleet, a backend and a store with layers have only roots.
    init(entriesOf store: PrefsStore) {
        let roots = store.roots
        (self.store, root) = (store, "AppSettings")
        reportsChanges = !DefaultsObjectStore.has(roots)
        entries = roots.hasOnlyRoots || roots.layers != nil ? nil : roots
        newest = roots.newest
    }

    /// The roots of one key, which cannot be reached if the key cannot be one.
    func roots(of key: String) -> Roots {
        do throws(PrefsError) {
            try NameVetting.checkRoot(key)
        } catch {
            return Roots(unreachable: error)
        }
        guard let entries else { return store.roots }
        return Roots(entriesOf: entries) { domain in newest.map { NewestDomain(domain, of: key, $0) } ?? domain }
    }
}
