/// One of the ``AppSettingsValues``, as a property of whatever type needs it: `@AppSetting(\.useDevEnvironment)`.
///
/// The default is the key's, one for the whole program; no user of the setting has another. Cost, errors and threads are
/// those of the setting. With the module `PersistentPreferencesUI`, it is a `DynamicProperty` of SwiftUI, and
/// `$setting.binding` is a `Binding`. Follows `AppSettings` (seed 001), which mirrors `Environment` of SwiftUI.
@propertyWrapper
public struct AppSetting<Value> {
    private let keyPath: ReferenceWritableKeyPath<AppSettingsValues, Value>
    /// Where the setting is. Another container may be put here, by a test say: `_useDevEnvironment.values = …`.
    public var values: AppSettingsValues

    /// A property that shows one of the settings.
    ///
    /// - Parameters:
    ///   - keyPath: the setting.
    ///   - values: where it is.
    public init(
        _ keyPath: ReferenceWritableKeyPath<AppSettingsValues, Value>,
        in values: AppSettingsValues = .standard
    ) {
        self.keyPath = keyPath
        self.values = values
    }

    /// The value of now.
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
