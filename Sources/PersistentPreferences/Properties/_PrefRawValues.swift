// The types that ``Pref`` and single keys can store although they are not Codable, as the compiler sees them. The
// protocols have no members, so they add nothing visible to the types of the standard library.

/// Not for use: an optional or a container of values of a type with a raw value. A conformance in your code has no
/// effect.
public protocol _PrefRawValues {}

extension Optional: _PrefRawValues where Wrapped: RawRepresentable, Wrapped.RawValue: Codable {}
extension Array: _PrefRawValues where Element: RawRepresentable, Element.RawValue: Codable {}
extension Set: _PrefRawValues where Element: RawRepresentable, Element.RawValue: Codable {}
extension Dictionary: _PrefRawValues where Key == String, Value: RawRepresentable, Value.RawValue: Codable {}

/// Not for use: an optional of a type that conforms to ``_PrefRawValues``.
public protocol _PrefOptionalRawValues {}

extension Optional: _PrefOptionalRawValues where Wrapped: _PrefRawValues {}

/// Not for use: a container of any property-list values, or an optional of one.
public protocol _PrefAnyValues {}

extension Array: _PrefAnyValues where Element == Any {}
extension Dictionary: _PrefAnyValues where Key == String, Value == Any {}
extension Optional: _PrefAnyValues where Wrapped: _PrefAnyValues {}
