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
/// Cost, errors and threads are those of ``PrefKey``; over a store those of the store. Follows `AppSettingsValues`
/// (seed 001), which mirrors `EnvironmentValues` of SwiftUI.
public final class AppSettingsValues: @unchecked Sendable {
    /// The settings in `UserDefaults.standard`.
    public static let standard = AppSettingsValues(.standard)

    private let entries: any KeyedEntries

    /// Settings in a `UserDefaults`: of a suite, or of a test.
    public init(_ defaults: UserDefaults) {
        entries = DefaultsEntries(defaults)
    }

    /// Settings under a root of a store: an ``InMemoryStore`` for a test or a preview, a file.
    public init(store: any PrefsStore, root: String) {
        entries = RootEntries(store: store, root: root)
    }

    /// The value of a key; its default where none is stored.
    public subscript<Key: PrefKey>(key: Key.Type) -> Key.Value {
        get { key.read(from: entries) }
        set { _ = key.write(newValue, to: entries) }
        _modify {
            var change = InPlaceChange(of: key, in: entries)
            yield &change.value
            change.commit()
        }
    }

    /// Stores a value.
    ///
    /// - Returns: the error of this very write; nil where it is stored.
    @discardableResult
    public func set<Key: PrefKey>(_ value: Key.Value, for key: Key.Type) -> PrefsError? {
        key.write(value, to: entries)
    }

    /// Removes what is stored, so that the default is read.
    ///
    /// - Returns: the error of this very write; nil where it is done.
    @discardableResult
    public func reset(_ key: (some PrefKey).Type) -> PrefsError? {
        key.remove(from: entries)
    }
}
