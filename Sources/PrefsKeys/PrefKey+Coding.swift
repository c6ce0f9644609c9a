public import PersistentPreferences
import PrefsPropertyLists

/// Not for use: what ``PrefKey`` inherits, so that its documentation has one `coding`, and not one for each kind of value.
public protocol _PrefKeyCoding: SendableMetatype {
    /// The type of the value.
    associatedtype Value
}

/// The default coding of a key, for each kind of value that ``PrefCoding`` can store.
///
/// A witness of a protocol has no disfavored overloads. A type of several kinds, such as a Codable enum or an array of
/// such enums, therefore needs an extension for all of its kinds. The last two kinds also occur in programs that make
/// containers RawRepresentable, as for `@AppStorage`.
extension _PrefKeyCoding where Value: Codable {
    /// The rule of ``PrefCoding``.
    public static var coding: PrefCoding<Value> { PrefCoding(rule: Value.self) }
}

extension _PrefKeyCoding where Value: RawRepresentable, Value.RawValue: Codable {
    /// The rule of ``PrefCoding``: the raw value.
    public static var coding: PrefCoding<Value> { PrefCoding(rule: Value.self) }
}

extension _PrefKeyCoding where Value: Codable & RawRepresentable, Value.RawValue: Codable {
    /// The rule of ``PrefCoding``: the raw value.
    public static var coding: PrefCoding<Value> { PrefCoding(rule: Value.self) }
}

extension _PrefKeyCoding where Value: _PrefRawValues {
    /// The rule of ``PrefCoding``: raw values.
    public static var coding: PrefCoding<Value> { PrefCoding(rule: Value.self) }
}

extension _PrefKeyCoding where Value: Codable & _PrefRawValues {
    /// The rule of ``PrefCoding``: raw values.
    public static var coding: PrefCoding<Value> { PrefCoding(rule: Value.self) }
}

extension _PrefKeyCoding where Value: _PrefOptionalRawValues {
    /// The rule of ``PrefCoding``: raw values, or nil.
    public static var coding: PrefCoding<Value> { PrefCoding(rule: Value.self) }
}

extension _PrefKeyCoding where Value: Codable & _PrefOptionalRawValues {
    /// The rule of ``PrefCoding``: raw values, or nil.
    public static var coding: PrefCoding<Value> { PrefCoding(rule: Value.self) }
}

extension _PrefKeyCoding where Value: Codable & RawRepresentable & _PrefRawValues, Value.RawValue: Codable {
    /// The rule of ``PrefCoding``: raw values.
    public static var coding: PrefCoding<Value> { PrefCoding(rule: Value.self) }
}

extension _PrefKeyCoding where Value: Codable & RawRepresentable & _PrefOptionalRawValues, Value.RawValue: Codable {
    /// The rule of ``PrefCoding``: raw values, or nil.
    public static var coding: PrefCoding<Value> { PrefCoding(rule: Value.self) }
}

extension _PrefKeyCoding where Value: _PrefAnyValues {
    /// The rule of ``PrefCoding``: any value that a property list can hold.
    public static var coding: PrefCoding<Value> { PrefCoding(rule: Value.self) }
}

extension _PrefKeyCoding where Value: AnyObject & Codable {
    /// Unavailable: a change inside an object would not be stored. Use a struct, or give a coding.
    @available(*, unavailable, message: "a change inside an object would not be stored: use a struct, or give a coding")
    public static var coding: PrefCoding<Value> { fatalError("unavailable") }
}

extension _PrefKeyCoding where Value: Codable & _PrefObjects {
    /// Unavailable: a change inside an object would not be stored. Use a struct, or give a coding.
    @available(*, unavailable, message: "a change inside an object would not be stored: use a struct, or give a coding")
    public static var coding: PrefCoding<Value> { fatalError("unavailable") }
}

/// Not for use: an optional or a collection of a Codable class. Deeper nesting stops the program at the first access.
public protocol _PrefObjects {}

extension Optional: _PrefObjects where Wrapped: AnyObject & Codable {}
extension Array: _PrefObjects where Element: AnyObject & Codable {}
extension Set: _PrefObjects where Element: AnyObject & Codable {}
extension Dictionary: _PrefObjects where Key: Codable, Value: AnyObject & Codable {}

extension _PrefKeyCoding {
    /// Unavailable: a value of this type cannot be stored.
    @available(
        *, unavailable,
        message: "a value of this type cannot be stored: make it and what it holds Codable, or give a coding"
    )
    public static var coding: PrefCoding<Value> { fatalError("unavailable") }
}
