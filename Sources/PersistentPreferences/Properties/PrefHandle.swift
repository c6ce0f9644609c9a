/// One declared property of one instance: what `$property` gives.
///
/// Cost, errors and threads are those of the property itself; a handle keeps its instance alive. It is `Sendable` if the values
/// are. Mirrors `Binding` of SwiftUI.
public struct PrefHandle<Value> {
    let prefs: PersistentPrefs
    let property: PrefProperty<Value>

    /// The key that the value is stored under.
    public var key: String { property.binding(in: prefs.state).key }

    /// The value where none is stored.
    public var defaultValue: Value { property.defaultValue(in: prefs.state) }

    /// The value of now; the same as the property.
    public var value: Value { prefs.value(of: property) }

    /// Whether a value is stored, of whatever type, the default included.
    public var isSet: Bool { prefs.isSet(property) }

    /// Whether the value of now is the default: nothing is stored, or what is stored equals it or cannot be read.
    public var isDefault: Bool { prefs.isDefault(property) }

    /// Removes what is stored, so that the default is read; under former keys, too.
    ///
    /// - Returns: the error of this very write; nil where it is done.
    @discardableResult
    public func reset() -> PrefsError? { prefs.remove(property) }

    /// Stores a value, as assigning it to the property does.
    ///
    /// - Returns: the error of this very write; nil where it is stored.
    @discardableResult
    public func set(_ value: Value) -> PrefsError? { prefs.set(value, of: property) }
}

extension PrefHandle: Sendable where Value: Sendable {}
