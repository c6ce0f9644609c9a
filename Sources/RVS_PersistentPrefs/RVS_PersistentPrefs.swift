public import Foundation
@_exported public import PersistentPreferences
import PrefsKeys
import PrefsPropertyLists

/// The base class of `RVS_PersistentPrefs.swift`: ``PersistentPrefs`` with the additional members of that file.
///
/// ```swift
/// import RVS_PersistentPrefs
///
/// class TestSet: RVS_PersistentPrefs, @unchecked Sendable {
///     override var keys: [String] { ["Integer Value"] }
///     var int: Int {
///         get { values["Integer Value"] as? Int ?? 0 }
///         set { values["Integer Value"] = newValue }
///     }
/// }
///
/// RVS_PersistentPrefs.groupID = "group.org.example.app"
/// TestSet().int += 1
/// ```
///
/// ## Behavior
/// A new instance uses the first of these: the store of its initializer, the store of `withStore`, its own
/// ``userDefaults`` if the class overrides it, and the store of its class, which ``groupID`` selects.
///
/// ## Performance, errors, threads
/// As for ``PersistentPrefs``. With an overridden ``userDefaults``, each access copies the values, a write is neither
/// durable nor safe from other processes, and changes by other code are not observed.
open class RVS_PersistentPrefs: PersistentPrefs, @unchecked Sendable {
    /// The errors of this class, with their name in the original.
    public typealias PrefsError = PersistentPreferences.PrefsError

    /// The first keys of the key paths that key-value observers have asked for. Empty where there are none, as on Linux.
    let keyValueObserved = Locked<Set<String>>([])

    /// Creates an instance with the subclass's own root key: the unqualified name of the type.
    public override init() {
        Self.checkSubclassed()
        super.init(key: nil, values: nil, store: Self.chosenStore)
    }

    /// Creates an instance with a root key, and merges `values` into what is stored there. See
    /// `PersistentPrefs.init(key:values:store:)`.
    public init(key: String? = nil, values: [String: Any]? = nil) {
        Self.checkSubclassed()
        super.init(key: key, values: values, store: Self.chosenStore)
    }

    /// Creates an instance with a root key in a given store; nil stands for the store of the class.
    ///
    /// `store` has no default here, so that a call without it is a call of ``init(key:values:)``.
    public override init(key: String? = nil, values: [String: Any]? = nil, store: PrefsStore?) {
        Self.checkSubclassed()
        super.init(key: key, values: values, store: store ?? Self.chosenStore)
    }

    /// The allowed keys, under their name in the original: the keys of `Pref` properties, and the keys of an override.
    open var keys: [String] { super.allowedKeys }

    /// The ``keys``. Override `keys` in place of this property.
    open override var allowedKeys: [String] { keys }

    /// The number of allowed keys that have a stored value.
    open var count: Int { visibleCount() }

    /// Discards the cache and loads the root again. Nothing is written, because each write is complete when it returns.
    ///
    /// Reads are current without it. If nothing is stored under the root key, `lastError` is
    /// `PrefsError.noStoredPrefsForKey`.
    open func flush() {
        reload()
    }

    /// Removes the values of all allowed keys, as `resetAll()` does.
    open func clear() {
        resetAll()
    }

    /// Removes the root with everything in it, as `deleteRoot()` does. Other roots stay.
    open func deleteAll() {
        deleteRoot()
    }

    private static func checkSubclassed() {
        guard self != RVS_PersistentPrefs.self else {
            fatalError("RVS_PersistentPrefs is an abstract class: subclass it, and create instances of the subclass")
        }
    }

    /// The suite of `UserDefaults` in which new instances of this class store their values, for example the suite of an
    /// app group. nil and an empty string stand for the standard domain.
    ///
    /// Assign it before the first instance is created: instances keep their store, and values are not moved. Assigned
    /// on `RVS_PersistentPrefs`, it applies to every class; assigned on a subclass, to that class and its subclasses
    /// only. (In the original there is one value for all classes.) With an invalid name, every access fails with
    /// `PrefsError.invalidName`. Any thread.
    public static var groupID: String? {
        get { Suites.name(for: self) }
        set { Suites.setName(newValue, for: self) }
    }

    /// The `UserDefaults` of ``groupID``; nil if the name is not valid.
    ///
    /// Override it to give an instance its own `UserDefaults`, for example in a test. If the value at creation differs
    /// from the class's `UserDefaults`, each access asks for it again, and fails with
    /// `PrefsError.userDefaultsUnavailable` while it is nil. The override is called during the initialization of the
    /// base class.
    open var userDefaults: UserDefaults? { Suites.defaults(of: type(of: self)) }

    /// The store of ``groupID``. Unless a subclass overrides it, each new instance reads it again, so that an assignment to
    /// ``groupID`` applies to later instances.
    open override class var store: PrefsStore { Suites.store(of: self) }

    /// A store that a new instance chooses for itself: that of its class, unless it has a ``userDefaults`` of its own.
    private static var chosenStore: PrefsStore {
        let choice = StoreChoice { owner in
            guard let type = type(of: owner) as? RVS_PersistentPrefs.Type, let prefs = owner as? RVS_PersistentPrefs,
                prefs.userDefaults === Suites.defaults(of: type)
            else { return nil }
            return ownStore(of: type).roots
        } _: { owner in
            guard let type = type(of: owner) as? RVS_PersistentPrefs.Type, let prefs = owner as? RVS_PersistentPrefs
            else { throw PrefsError.userDefaultsUnavailable }
            let defaults = prefs.userDefaults
            if defaults === Suites.defaults(of: type) { return ownStore(of: type).roots }
            guard let defaults else { throw PrefsError.userDefaultsUnavailable }
            return DefaultsObjectStore.of(defaults).roots
        }
        return PrefsStore(choice)
    }

    /// The store of a class. ``groupID`` may have changed since the class was first used.
    private static func ownStore(of type: RVS_PersistentPrefs.Type) -> PrefsStore {
        let store = ClassStores.store(of: type)
        return Suites.has(store) ? Suites.store(of: type) : store
    }
}
