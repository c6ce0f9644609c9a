public import Dispatch
public import PersistentPreferences

/// A property for one setting of the app: a flat key with its own default, or one of the ``AppSettingsValues``.
///
/// ```swift
/// import PrefsKeys
///
/// @AppSetting("volume") var volume = 0.5  // the entry "volume" of UserDefaults.standard
/// @AppSetting(\.useDevEnvironment) var useDevEnvironment  // the default is that of the key
/// ```
///
/// A key path gives the whole program one default. With the module `PrefsUI`, the wrapper is a
/// `DynamicProperty` with `$setting.binding`. Follows `AppSettings`.
///
/// ## Behavior
/// A flat key is stored as a ``PrefKey``; `@AppStorage` uses the same entry for a Bool, Int, Double, String, Data or an
/// enum. Properties with one key share the value, not the default. Assigning nil removes the entry.
///
/// ## Errors
/// `didFail` is called for each error of a flat key, and ``set(_:)`` returns it. For a key path, the key reports
/// errors.
///
/// ## Performance, threads
/// As for ``PrefKey``. In the Swift 6 language mode, isolate a type with a static setting to an actor (`@MainActor`).
@propertyWrapper
public struct AppSetting<Value> {
    private let source: Source
    /// The container of the setting. A test may replace it: `_volume.values = …`.
    public var values: AppSettingsValues

    private enum Source {
        case keyPath(ReferenceWritableKeyPath<AppSettingsValues, Value>)
        case key(FlatKey<Value>)
    }

    /// Creates a property for a setting by key path.
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
        _ defaultValue: Value, _ key: String, _ store: PrefsStore?, _ coding: PrefCoding<Value>? = nil,
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
            case .key(let key): key.prefs(in: values.place).handle.value
            }
        }
        nonmutating set { set(newValue) }
        nonmutating _modify {
            switch source {
            case .keyPath(let path): yield &values[keyPath: path]
            case .key(let key): yield &key.prefs(in: values.place).handle.inPlace
            }
        }
    }

    /// `$setting`: the wrapper itself.
    public var projectedValue: Self { self }

    /// Calls the closure with the old and the new value after each change, in the order of the commits. Works like
    /// ``PrefHandle/onChange(on:_:)-(DispatchQueue?,_)``, but reports errors to the key's `didFail`. Only changes of
    /// the first key that a setting reads are reported.
    public func onChange(
        on queue: DispatchQueue? = nil, _ action: @escaping @Sendable (_ old: Value, _ new: Value) -> Void
    ) -> PrefsObservation {
        guard let observed else { return PrefsObservation(ending: {}) }
        // Kept alive, because it reports errors.
        let prefs = observed.prefs
        return observed.onChange(on: queue) { old, new in withExtendedLifetime(prefs) { action(old, new) } }
    }

    /// The current value and each new one, as an asynchronous sequence. Works like ``PrefHandle/updates``.
    public var updates: PrefUpdates<Value> {
        observed?.updates
            ?? PrefUpdates {
                let nothing = ChangeStream<Value> { _ in nil }
                nothing.end()
                return nothing
            }
    }

    /// nil for a setting that reads no key, and if its changes are not reported.
    private var observed: ObservedValue<Value>? {
        switch source {
        case .key(let key): key.prefs(in: values.place).observed
        case .keyPath(let path): values.observed(path)
        }
    }

    /// Changes the value, with the guarantees of ``PrefKey/modify(in:_:)``; by key path, in a transaction of the first
    /// key that it reads.
    ///
    /// - Returns: the error of this call, or nil. If it is a warning (``PrefsError/isWarning``), the call has succeeded.
    /// - Throws: what the closure throws; then nothing has changed.
    @discardableResult
    public func modify(_ change: (inout Value) throws -> Void) rethrows -> PrefsError? {
        switch source {
        case .keyPath(let path): try values.modify(path, change)
        case .key(let key): try key.prefs(in: values.place).handle.modify(change)
        }
    }

    /// Stores a value.
    ///
    /// - Returns: the error of this write, or nil. If it is a warning (``PrefsError/isWarning``), the write has succeeded. Always nil
    ///   for a key path, because its key reports the errors.
    @discardableResult
    public func set(_ value: Value) -> PrefsError? {
        switch source {
        case .keyPath(let path):
            values[keyPath: path] = value
            return nil
        case .key(let key): return key.prefs(in: values.place).handle.set(value)
        }
    }
}

// Unchecked because the key path of a property that belongs to the main actor is not Sendable, and a module whose
// default isolation is the main actor has only such key paths. The type that contains the wrapper then also belongs to
// the main actor.
extension AppSetting: @unchecked Sendable where Value: Sendable {}
