import PersistentPreferences
import PrefsFileEngine
import PrefsPropertyLists

/// One key in one place: an instance whose only property is the value of the key.
final class KeyPrefs<Value>: PersistentPrefs, @unchecked Sendable {
    private let property: PrefProperty<Value>
    private let tell: @Sendable (PrefsError) -> Void
    private let place: KeyPlace

    init(
        _ key: String, _ defaultValue: Value, _ coding: PrefCoding<Value>, in place: KeyPlace,
        tell: @escaping @Sendable (PrefsError) -> Void
    ) {
        property = PrefProperty(defaultValue, key: key, coding: coding)
        (self.place, self.tell) = (place, tell)
        var roots = place.roots
        do throws(PrefsError) {
            try NameVetting.checkRoot(key)
        } catch {
            roots = Roots(unreachable: error)
        }
        super.init(of: property, under: place.root, in: roots)
    }

    var handle: PrefHandle<Value> { PrefHandle(prefs: self, property: property) }

    override func prefsDidFail(_ error: PrefsError) { tell(error) }

    func isIn(_ place: KeyPlace) -> Bool { self.place === place }

    /// The value for its observers; nil if changes of the place are not reported, which is then reported.
    var observed: ObservedValue<Value>? {
        if place.reportsChanges { return handle.observed }
        notify(of: .notWatched(StorageFailure(path: "", reason: "only UserDefaults.standard reports its changes")))
        return nil
    }
}

/// A `KeyPrefs` of any type.
protocol AnyKeyPrefs: PersistentPrefs {
    /// A value that is computed from the key, for its observers; nil as for the key.
    func observed<Result>(computing body: @escaping @Sendable () -> Result) -> ObservedValue<Result>?
}

extension KeyPrefs: AnyKeyPrefs {
    func observed<Result>(computing body: @escaping @Sendable () -> Result) -> ObservedValue<Result>? {
        observed?.computing(body)
    }
}

/// Where the values of keys are: the entries of a domain, in every layout, or the values of a root.
final class KeyPlace: Sendable {
    let roots: Roots
    let root: String
    /// Whether observers hear of changes that are made elsewhere.
    let reportsChanges: Bool
    /// The owner of the domain.
    private let store: any PrefsStore

    init(_ store: any PrefsStore, root: String) {
        (self.store, self.root, roots, reportsChanges) = (store, root, store.roots, true)
    }

    /// The entries of a store. A store of another module, and a store with layers, has only roots.
    init(entriesOf store: any PrefsStore) {
        self.store = store
        root = "AppSettings"
        reportsChanges = !(store is DefaultsObjectStore)
        let roots = store.roots
        if roots.isForeign || roots.layers != nil {
            self.roots = roots
        } else {
            let newest = (store as? UserDefaultsStore)?.newest
            self.roots = Roots(entriesOf: roots) { domain in newest.map { NewestDomain(domain, $0) } ?? domain }
        }
    }
}
