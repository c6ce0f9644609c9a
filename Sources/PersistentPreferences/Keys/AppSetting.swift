public import Dispatch

/// A property for one setting of the app, in any type: a flat key with its default here, or one of the ``AppSettingsValues``.
///
/// ```swift
/// struct Player {
///     @AppSetting("volume") var volume = 0.5  // the entry "volume" of UserDefaults.standard
///     @AppSetting("token") var token: String?
///     @AppSetting(\.useDevEnvironment) var useDevEnvironment  // the default is that of the key
/// }
/// ```
///
/// Use a key path to give the whole program one default. With the module `PersistentPreferencesUI`, the wrapper is a
/// `DynamicProperty` of SwiftUI, and `$setting.binding` is a `Binding`. Follows `AppSettings`, which mirrors `Environment` of
/// SwiftUI.
///
/// ## Behavior
/// A flat key is stored and read as the key of a ``PrefKey``. It is the same entry as `@AppStorage` of that name if the type is a
/// Bool, Int, Double, String, Data or an enum. Properties with the same key and container have the same value, and each has its
/// own default. Setting an optional to nil removes the entry.
///
/// ## Performance
/// That of ``PrefKey``.
///
/// ## Errors
/// `didFail` is called for each error of a flat key, and ``set(_:)`` returns that of its write. For a key path, the key reports
/// them.
///
/// ## Threads
/// Any thread. In the Swift 6 language mode, a type with a static property of this kind must be isolated to an actor
/// (`@MainActor enum Shared { @AppSetting("volume") static var volume = 0.5 }`), because the wrapper is a static variable.
@propertyWrapper
public struct AppSetting<Value> {
    private let source: Source
    /// The container of the setting. A test may replace it: `_volume.values = …`.
    public var values: AppSettingsValues

    private enum Source {
        case keyPath(ReferenceWritableKeyPath<AppSettingsValues, Value>)
        case key(FlatKey<Value>)
    }

    /// Creates a property for a setting.
    ///
    /// - Parameters:
    ///   - keyPath: the setting.
    ///   - values: its container.
    public init(
        _ keyPath: ReferenceWritableKeyPath<AppSettingsValues, Value>,
        in values: AppSettingsValues = .standard
    ) {
        source = .keyPath(keyPath)
        self.values = values
    }

    init(
        _ defaultValue: Value, _ key: String, _ store: (any PrefsStore)?, _ coding: PrefCoding<Value>? = nil,
        _ didFail: (@Sendable (PrefsError) -> Void)?
    ) {
        source = .key(FlatKey(key, defaultValue, coding ?? PrefCoding(rule: Value.self), didFail))
        values = store.map { AppSettingsValues(entriesOf: $0) } ?? .standard
    }

    /// The current value.
    public var wrappedValue: Value {
        get {
            switch source {
            case .keyPath(let path): values[keyPath: path]
            case .key(let key): values[key]
            }
        }
        nonmutating set { set(newValue) }
        nonmutating _modify {
            switch source {
            case .keyPath(let path): yield &values[keyPath: path]
            case .key(let key): yield &values[key]
            }
        }
    }

    /// `$setting`: the wrapper itself.
    public var projectedValue: Self { self }

    /// Calls the closure with the old and the new value after each change, in the order of the commits. As
    /// ``PrefHandle/onChange(on:_:)-(DispatchQueue?,_)``, but errors go to the key's `didFail`. Only changes of the first key that a setting reads are reported.
    public func onChange(
        on queue: DispatchQueue? = nil, _ action: @escaping @Sendable (_ old: Value, _ new: Value) -> Void
    ) -> PrefsObservation {
        observed?.onChange(on: queue, action) ?? PrefsObservation {}
    }

    /// The current value and each new one, as an asynchronous sequence. As ``PrefHandle/updates``.
    public var updates: PrefUpdates<Value> {
        observed?.updates ?? PrefUpdates { ChangeStream { _ in nil } }
    }

    /// nil for a setting that reads no key.
    private var observed: ObservedSetting<Value>? {
        switch source {
        case .key(let key): return key.observed(in: values.entries)
        case .keyPath(let path): return values.observed(path)
        }
    }

    /// Changes the value, with the guarantees of ``PrefKey/modify(in:_:)``; by key path, in a transaction of the first key that it reads.
    ///
    /// - Returns: the error of this call, or nil if the new value is stored.
    /// - Throws: what the closure throws; then nothing has changed.
    @discardableResult
    public func modify(_ change: (inout Value) throws -> Void) rethrows -> PrefsError? {
        switch source {
        case .keyPath(let path):
            return try values.modify(path, change) { throw $0 }
        case .key(let key): return try values.modify(key, change)
        }
    }

    /// Stores a value.
    ///
    /// - Returns: the error of this write, or nil if the value is stored. Always nil for a key path, whose key reports errors.
    @discardableResult
    public func set(_ value: Value) -> PrefsError? {
        switch source {
        case .keyPath(let path):
            values[keyPath: path] = value
            return nil
        case .key(let key): return values.set(value, of: key)
        }
    }
}

// Unchecked because the key path of a property that belongs to the main actor is not Sendable, and modules whose default isolation is
// the main actor have no others. The wrapper is then a part of a type that belongs to the main actor, too.
extension AppSetting: @unchecked Sendable where Value: Sendable {}
