/// Converts values of a type to what a property list stores and back: by the rule of this package, or by your own closures.
///
/// ```swift
/// struct Color { var hex: String }
///
/// let colorCoding = PrefCoding<Color>(
///     encode: { $0.hex }, decode: { ($0 as? String).map(Color.init(hex:)) })
///
/// final class PaintPrefs: Prefs, @unchecked Sendable {
///     @Pref(coding: colorCoding) var ink = Color(hex: "000000")
/// }
/// ```
///
/// ## Behavior
/// The rule is the first of these that fits the type:
/// 1. Property-list types: String, Bool, the integers, Double, Float, Date, Data. `Any`, which a write checks. URL and Decimal,
///    as exact strings; the dictionaries of `PropertyListEncoder` are read, too.
/// 2. Optionals, arrays, sets and dictionaries of such values. Sets are stored sorted, so that equal sets give equal files. The
///    keys of dictionaries are String, or RawRepresentable with a String. The array that `PropertyListEncoder` makes of the latter is
///    read, too.
/// 3. The raw value of a `RawRepresentable` type, whether it is Codable or not. The form that a Codable one encodes itself as is read, too.
/// 4. The property-list objects that a `Codable` type encodes itself as. Dates are stored as dates, and data as data.
///
/// Numbers convert if nothing is lost: a stored 4.0 reads as Int, 1 as Bool, 5 as Double. A stored 4.5 is a type mismatch for
/// Int, and so is a number out of range. A Double reads as Float if a Float equals it
/// exactly, or if both have the same shortest decimal form.
///
/// nil inside a container, and the inner nil of a doubly optional value, is stored as the string `$null`, as
/// `PropertyListEncoder` does. A string that could be mistaken for it gets one more `$`.
///
/// ## Performance
/// Linear in the size of the value.
///
/// ## Errors
/// Decoding never traps, whatever is stored. See ``init(encode:decode:)`` for errors of your own closures.
///
/// ## Threads
/// Any thread. `Sendable` if the values are.
public struct PrefCoding<Value> {
    /// nil removes the key.
    package let encode: (Value) throws -> StoredValue?
    package let decode: (StoredValue) throws -> Value
    /// nil for a type without fields, and for a coding of closures.
    package let decodeFields: FieldDecoding<Value>?
    /// Whether decoding costs no more than comparing what is stored in two states.
    package let isCheap: Bool

    package init(
        encode: @escaping (Value) throws -> StoredValue?, decode: @escaping (StoredValue) throws -> Value,
        decodeFields: FieldDecoding<Value>? = nil, isCheap: Bool = false
    ) {
        self.encode = encode
        self.decode = decode
        self.decodeFields = decodeFields
        self.isCheap = isCheap
    }

    /// Creates a coding from two closures.
    ///
    /// - Parameters:
    ///   - encode: returns a property-list object, which is checked, or nil to remove the key. If it throws, the write fails with
    ///     ``PrefsError/valuesNotPlistCompatible(invalidElements:)``, and nothing changes.
    ///   - decode: gets the stored object: String, Data, Date, Bool, NSNumber, `[Any]` or `[String: Any]`. If it throws or returns nil,
    ///     the read reports ``PrefsError/typeMismatch(_:)`` and returns the default.
    public init(
        encode: @escaping @Sendable (Value) throws -> Any?, decode: @escaping @Sendable (Any) throws -> Value?
    ) {
        self.init(
            encode: { value in try encode(value).map { try PropertyListVetter.value(of: $0, forKey: "") } },
            decode: {
                guard let value = try decode($0.object) else { throw ValueMismatch(expected: Value.self, found: $0) }
                return value
            })
    }

    /// The rule, for a type that the compiler has vouched for.
    package init(rule: Value.Type) {
        guard let coding = CodingRule.coding(for: Value.self) else {
            preconditionFailure(
                "\(Value.self) cannot be stored: make it Codable, use a struct instead of a class, or give a coding")
        }
        self = coding
    }
}

// Unchecked because the closures of the rule capture metatypes, which no type parameter can declare to be Sendable.
extension PrefCoding: @unchecked Sendable where Value: Sendable {}
