public import Foundation
public import PersistentPreferences

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
/// process changes it. In a `UserDefaults` other than the standard one, only changes through this object are observed.
///
/// ## Performance, errors, threads
/// As for ``PrefKey``. Settings in a store behave as the store does.
public final class AppSettingsValues: Sendable {
    /// The settings in `UserDefaults.standard`.
    public static let standard = AppSettingsValues(container: .standard)

    let entries: KeyedEntries
    let bridge = ObservationBridge<AppSettingsValues>()
    /// Receives the keys that are read. Their values are then the defaults. nil for settings of a user.
    private let readKeys: Locked<[ReadKey]>?

    private struct ReadKey {
        let key: String
        let report: (PrefsError) -> Void
    }

    /// Creates settings in `UserDefaults.standard`.
    public convenience init() {
        self.init(container: .standard)
    }

    /// Creates settings in a `UserDefaults`, for example of a suite or of a test.
    public convenience init(container: UserDefaults) {
        self.init(KeyedEntries(container))
    }

    /// Creates settings under a root of a store, for example an ``InMemoryStore`` for a test or a preview.
    public convenience init(store: any PrefsStore, root: String) {
        self.init(KeyedEntries(store: store, root: root))
    }

    /// Creates settings that are entries of a store: in every layout, a key is not in a root. A store of another module
    /// has only roots.
    convenience init(entriesOf store: any PrefsStore) {
        self.init(KeyedEntries(of: store))
    }

    private init(_ entries: KeyedEntries, notingIn readKeys: Locked<[ReadKey]>? = nil) {
        self.entries = entries
        self.readKeys = readKeys
    }

    /// The key that a computed property reads first; nil if it reads none.
    private func key(of path: PartialKeyPath<AppSettingsValues>) -> ReadKey? {
        let readKeys = Locked<[ReadKey]>([])
        _ = AppSettingsValues(entries, notingIn: readKeys)[keyPath: path]
        return readKeys.withLock(\.first)
    }

    /// The setting that a computed property reads, for its observers; nil if it reads no key.
    func observed<Value>(_ path: KeyPath<AppSettingsValues, Value>) -> ObservedSetting<Value>? {
        key(of: path).map {
            ObservedSetting(
                key: $0.key, entries: entries, read: { AppSettingsValues($0)[keyPath: path] }, report: $0.report)
        }
    }

    /// Changes the value of a computed property in a transaction of the first key that it reads.
    func modify<Value>(
        _ path: ReferenceWritableKeyPath<AppSettingsValues, Value>, _ change: (inout Value) throws -> Void,
        rescue: (any Error) throws -> Void
    ) rethrows -> PrefsError? {
        var thrown: (any Error)?
        do {
            try entries.transact(forKey: key(of: path)?.key ?? "") {
                do {
                    try change(&self[keyPath: path])
                } catch {
                    thrown = error
                    throw error
                }
            }
            return nil
        } catch {
            if let thrown { try rescue(thrown) }
            return PrefsError(error)
        }
    }

    func modify<Key: KeyedValue>(_ key: Key, _ change: (inout Key.Value) throws -> Void) rethrows -> PrefsError? {
        defer { bridge.wasWritten(key.stringKey, in: self) }
        return try key.modify(in: entries, change)
    }

    /// The value of a key, or its default if nothing is stored.
    public subscript<Key: PrefKey>(key: Key.Type) -> Key.Value {
        get { self[key.keyed] }
        set { set(newValue, of: key.keyed) }
        _modify { yield &self[key.keyed] }
    }

    /// Stores a value.
    ///
    /// - Returns: the error of this write, or nil if the value is stored.
    @discardableResult
    public func set<Key: PrefKey>(_ value: Key.Value, for key: Key.Type) -> PrefsError? {
        set(value, of: key.keyed)
    }

    /// Removes the stored value, so that the default is read.
    ///
    /// - Returns: the error of this write, or nil if it succeeded.
    @discardableResult
    public func reset(_ key: (some PrefKey).Type) -> PrefsError? {
        reset(key.keyed)
    }

    // MARK: - For keys of both kinds

    subscript<Key: KeyedValue>(key: Key) -> Key.Value {
        get {
            if let readKeys {
                readKeys.withLock { $0.append(ReadKey(key: key.stringKey, report: key.report)) }
                return key.defaultValue
            }
            bridge.access(key.stringKey, of: self, in: entries, key.report)
            return key.read(from: entries)
        }
        set { set(newValue, of: key) }
        _modify {
            var change = key.changeInPlace(in: entries)
            yield &change.value
            key.commit(change)
            bridge.wasWritten(key.stringKey, in: self)
        }
    }

    @discardableResult
    func set<Key: KeyedValue>(_ value: Key.Value, of key: Key) -> PrefsError? {
        defer { bridge.wasWritten(key.stringKey, in: self) }
        return key.write(value, to: entries)
    }

    @discardableResult
    func reset(_ key: some KeyedValue) -> PrefsError? {
        defer { bridge.wasWritten(key.stringKey, in: self) }
        return key.remove(from: entries)
    }
}
