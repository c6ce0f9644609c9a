public import Foundation
public import Observation
public import PersistentPreferences
import PrefsPropertyLists

/// The settings of an app, each under a ``PrefKey`` with one default for the whole program.
///
/// ```swift
/// import PrefsKeys
///
/// struct UseDevEnvironment: PrefKey { static let defaultValue = false }
///
/// extension AppSettingsValues {
///     var useDevEnvironment: Bool {
///         get { self[UseDevEnvironment.self] }
///         set { self[UseDevEnvironment.self] = newValue }
///     }
/// }
///
/// struct Fetcher {
///     @AppSetting(\.useDevEnvironment) var useDevEnvironment
/// }
/// ```
///
/// Follows `AppSettingsValues` of `AppSettings`, which mirrors `EnvironmentValues` of SwiftUI.
///
/// ## Behavior
/// The container is `Observable`: a SwiftUI view that reads a setting is updated when it changes, also if another
/// process changes it. In a `UserDefaults` other than the standard one, only changes through a ``PrefKey`` or a setting
/// are observed.
///
/// ## Performance, errors, threads
/// As for ``PrefKey``. Settings in a store behave as the store does.
public final class AppSettingsValues: Observable, Sendable {
    /// The settings in `UserDefaults.standard`.
    public static let standard = AppSettingsValues(container: .standard)

    let place: KeyPlace
    /// The keys that have been used.
    private let keys: Locked<[KeyName: any AnyKeyPrefs]>
    /// Receives the keys that are read. Their values are then the defaults. nil for settings of a user.
    private let readKeys: Locked<[any AnyKeyPrefs]>?

    /// A key may compute its name, for example for each user.
    private struct KeyName: Hashable {
        let key: ObjectIdentifier
        let name: String
    }

    /// Creates settings in `UserDefaults.standard`.
    public convenience init() {
        self.init(container: .standard)
    }

    /// Creates settings in a `UserDefaults`, for example of a suite or of a test.
    public convenience init(container: UserDefaults) {
        self.init(entriesOf: DefaultsObjectStore.of(container))
    }

    /// Creates settings under a root of a store, for example ``PrefsStore/memory()`` for a test or a preview.
    public convenience init(store: PrefsStore, root: String) {
        self.init(KeyPlace(store, root: root))
    }

    /// Creates settings that are entries of a store, in every layout. In a fleet, over a backend and in a layered store, they
    /// are values of the root `AppSettings`.
    convenience init(entriesOf store: PrefsStore) {
        self.init(KeyPlace(entriesOf: store))
    }

    private init(_ place: KeyPlace) {
        self.place = place
        (keys, readKeys) = (Locked([:]), nil)
    }

    /// Creates settings that have only defaults.
    private init(noting readKeys: Locked<[any AnyKeyPrefs]>, of values: AppSettingsValues) {
        (place, keys, self.readKeys) = (values.place, values.keys, readKeys)
    }

    /// The settings in a `UserDefaults`.
    static func of(_ defaults: UserDefaults) -> AppSettingsValues {
        defaults === UserDefaults.standard ? .standard : AppSettingsValues(container: defaults)
    }

    func prefs<Key: PrefKey>(_ key: Key.Type) -> KeyPrefs<Key.Value> {
        let name = KeyName(key: ObjectIdentifier(key), name: Key.stringKey)
        let known = keys.withLock({ $0[name] }) ?? keep(KeyPrefs(key, name.name, in: place), as: name)
        // A key has one type of values.
        return unsafeDowncast(known, to: KeyPrefs<Key.Value>.self)
    }

    /// Keeps the first instance that a thread has made, because others may be tracking it. It is made outside of the
    /// lock, because the default of a key may read other keys.
    private func keep(_ new: any AnyKeyPrefs, as name: KeyName) -> any AnyKeyPrefs {
        keys.withLock { keys in
            let kept = keys[name] ?? new
            keys[name] = kept
            return kept
        }
    }

    /// The key that a computed property reads first; nil if it reads none.
    private func key(of path: PartialKeyPath<AppSettingsValues>) -> (any AnyKeyPrefs)? {
        let readKeys = Locked<[any AnyKeyPrefs]>([])
        _ = AppSettingsValues(noting: readKeys, of: self)[keyPath: path]
        return readKeys.withLock(\.first)
    }

    /// The value of a computed property for its observers; nil if it reads no key that can be observed.
    func observed<Value>(_ path: KeyPath<AppSettingsValues, Value>) -> ObservedValue<Value>? {
        // It only reads.
        nonisolated(unsafe) let path = path
        return key(of: path)?.observed { self[keyPath: path] }
    }

    /// Changes the value of a computed property in a transaction of the first key that it reads.
    func modify<Value>(
        _ path: ReferenceWritableKeyPath<AppSettingsValues, Value>, _ change: (inout Value) throws -> Void
    ) rethrows -> PrefsError? {
        guard let first = key(of: path) else {
            try change(&self[keyPath: path])
            return nil
        }
        return try first.join { try change(&self[keyPath: path]) }
    }

    /// The value of a key, or its default if nothing is stored.
    public subscript<Key: PrefKey>(key: Key.Type) -> Key.Value {
        get {
            let prefs = prefs(key)
            guard let readKeys else { return prefs.handle.value }
            readKeys.withLock { $0.append(prefs) }
            return prefs.handle.defaultValue
        }
        set { prefs(key).handle.set(newValue) }
        _modify { yield &prefs(key).handle.inPlace }
    }

    /// Stores a value.
    ///
    /// - Returns: the error of this write, or nil. If it is a warning (``PrefsError/isWarning``), the write has succeeded.
    @discardableResult
    public func set<Key: PrefKey>(_ value: Key.Value, for key: Key.Type) -> PrefsError? {
        prefs(key).handle.set(value)
    }

    /// Removes the stored value, so that the default is read.
    ///
    /// - Returns: the error of this write, or nil. If it is a warning (``PrefsError/isWarning``), the write has succeeded.
    @discardableResult
    public func reset(_ key: (some PrefKey).Type) -> PrefsError? {
        prefs(key).handle.reset()
    }
}
