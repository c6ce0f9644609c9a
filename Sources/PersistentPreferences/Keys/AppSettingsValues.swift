public import Foundation

/// The settings of an app, each under a ``PrefKey`` with one default for the whole program.
///
/// ```swift
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
/// It is `Observable`: a SwiftUI view that reads a setting follows it, also if another process changes it; over a
/// `UserDefaults` other than the standard one, only what is set through this object is observed.
///
/// Cost, errors and threads are those of ``PrefKey``; over a store those of the store. Follows `AppSettingsValues`
/// (seed 001), which mirrors `EnvironmentValues` of SwiftUI.
public final class AppSettingsValues: Sendable {
    /// The settings in `UserDefaults.standard`.
    public static let standard = AppSettingsValues(.standard)

    private let entries: any KeyedEntries
    let bridge = ObservationBridge<AppSettingsValues>()

    /// Settings in a `UserDefaults`: of a suite, or of a test.
    public convenience init(_ defaults: UserDefaults) {
        self.init(DefaultsEntries(defaults))
    }

    /// Settings under a root of a store: an ``InMemoryStore`` for a test or a preview, a file.
    public convenience init(store: any PrefsStore, root: String) {
        self.init(RootEntries(store: store, root: root))
    }

    private init(_ entries: any KeyedEntries) {
        self.entries = entries
    }

    /// The value of a key; its default where none is stored.
    public subscript<Key: PrefKey>(key: Key.Type) -> Key.Value {
        get {
            bridge.access(key.stringKey, of: self, in: entries, key.report)
            return key.read(from: entries)
        }
        set { set(newValue, for: key) }
        _modify {
            var change = key.changeInPlace(in: entries)
            yield &change.value
            key.commit(change)
            bridge.wasWritten(key.stringKey, in: self)
        }
    }

    /// Stores a value.
    ///
    /// - Returns: the error of this very write; nil where it is stored.
    @discardableResult
    public func set<Key: PrefKey>(_ value: Key.Value, for key: Key.Type) -> PrefsError? {
        defer { bridge.wasWritten(key.stringKey, in: self) }
        return key.write(value, to: entries)
    }

    /// Removes what is stored, so that the default is read.
    ///
    /// - Returns: the error of this very write; nil where it is done.
    @discardableResult
    public func reset(_ key: (some PrefKey).Type) -> PrefsError? {
        defer { bridge.wasWritten(key.stringKey, in: self) }
        return key.remove(from: entries)
    }
}
