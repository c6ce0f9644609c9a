// How the compiler sees what ``Pref`` and ``PrefKey`` can store of values that are not Codable themselves. The protocols have no
// members, so a client sees nothing of them in the types of the standard library.

/// Not for use: one level of values of a type with a raw value. A conformance in your code has no effect.
public protocol _PrefRawValues {}

extension Optional: _PrefRawValues where Wrapped: RawRepresentable, Wrapped.RawValue: Codable {}
extension Array: _PrefRawValues where Element: RawRepresentable, Element.RawValue: Codable {}
extension Set: _PrefRawValues where Element: RawRepresentable, Element.RawValue: Codable {}
extension Dictionary: _PrefRawValues where Key == String, Value: RawRepresentable, Value.RawValue: Codable {}

/// Not for use: an optional of one level.
public protocol _PrefOptionalRawValues {}

extension Optional: _PrefOptionalRawValues where Wrapped: _PrefRawValues {}

/// Not for use: one level of any property-list values, or an optional of that.
public protocol _PrefAnyValues {}

extension Array: _PrefAnyValues where Element == Any {}
extension Dictionary: _PrefAnyValues where Key == String, Value == Any {}
extension Optional: _PrefAnyValues where Wrapped: _PrefAnyValues {}
