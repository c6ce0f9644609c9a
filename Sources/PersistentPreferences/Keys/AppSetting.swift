/// A property for one of the ``AppSettingsValues``, for any type that needs it.
///
/// ```swift
/// struct Fetcher {
///     @AppSetting(\.useDevEnvironment) var useDevEnvironment
/// }
/// ```
///
/// The default is that of the key, for the whole program. With the module `PersistentPreferencesUI`, the wrapper is a
/// `DynamicProperty` of SwiftUI, and `$setting.binding` is a `Binding`. Performance, errors and threads are those of the setting.
/// Follows `AppSettings`, which mirrors `Environment` of SwiftUI.
@propertyWrapper
public struct AppSetting<Value> {
    private let keyPath: ReferenceWritableKeyPath<AppSettingsValues, Value>
    /// The container of the setting. A test may replace it: `_useDevEnvironment.values = …`.
    public var values: AppSettingsValues

    /// Creates a property for a setting.
    ///
    /// - Parameters:
    ///   - keyPath: the setting.
    ///   - values: its container.
    public init(
        _ keyPath: ReferenceWritableKeyPath<AppSettingsValues, Value>,
        in values: AppSettingsValues = .standard
    ) {
        self.keyPath = keyPath
        self.values = values
    }

    /// The current value.
    public var wrappedValue: Value {
        get { values[keyPath: keyPath] }
        nonmutating set { values[keyPath: keyPath] = newValue }
    }

    /// `$setting`: the wrapper itself.
    public var projectedValue: Self { self }
}

// Unchecked because the key path of a property that belongs to the main actor is not Sendable, and modules whose default isolation is
// the main actor have no others. The wrapper is then a part of a type that belongs to the main actor, too.
extension AppSetting: @unchecked Sendable where Value: Sendable {}
