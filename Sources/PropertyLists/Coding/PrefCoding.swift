/// Converts values of a type to what a property list stores and back: by the rule of this package, or by your closures.
///
/// ```swift
/// let colorCoding = PrefCoding<Color>(encode: { $0.hex }, decode: { ($0 as? String).map(Color.init(hex:)) })
///
/// final class PaintPrefs: Prefs, @unchecked Sendable {
///     @Pref(coding: colorCoding) var ink = Color(hex: "000000")
/// }
/// ```
///
/// ## Behavior
/// The first rule that fits the type applies. The form of `PropertyListEncoder` is read, too.
/// 1. String, Bool, integers, Double, Float, Date and Data are stored as themselves; URL, Decimal and Duration as exact
///    strings. A write checks `Any`.
/// 2. Optionals, arrays, sets (sorted) and dictionaries of such values. Keys are String, or of a Codable type with a
///    String as raw value.
/// 3. A `RawRepresentable` type is stored as its raw value, also if it is Codable.
/// 4. A `Codable` type is stored as the property-list objects that it encodes, with dates and data as such.
///
/// Numbers convert if nothing is lost: 4.0 reads as Int, 1 as Bool; 4.5 is a mismatch for Int. A Double reads as Float
/// if both have the same value or the same shortest digits. In a file that people write, Date and Data have more forms:
/// see <doc:FilesThatPeopleEdit>. An inner nil is stored as `$null`; a string that resembles it gets one more `$`. A
/// format with a null has that for nil, and such a string as it is; an element of type `T?` other than `String?` keeps
/// the `$`.
///
/// ## Performance
/// Linear in the size of the value.
///
/// ## Errors
/// Decoding never traps. ``init(encode:decode:)`` describes errors of your closures.
///
/// ## Threads
/// Any thread. `Sendable` if the values are.
public struct PrefCoding<Value> {
    /// Encodes a value; nil removes the key.
    package let encode: (Value) throws -> StoredValue?
    let decoding: (StoredValue, ValueForm) throws -> Value
    /// Decodes a value and its fields; nil for a type without fields, and for a coding of closures.
    package let decodeFields: FieldDecoding<Value>?
    /// Whether decoding costs no more than comparing two stored values.
    package let isCheap: Bool

    package init(
        encode: @escaping (Value) throws -> StoredValue?, decode: @escaping (StoredValue, ValueForm) throws -> Value,
        decodeFields: FieldDecoding<Value>? = nil, isCheap: Bool = false
    ) {
        self.encode = encode
        decoding = decode
        self.decodeFields = decodeFields
        self.isCheap = isCheap
    }

    /// Creates a coding from two closures.
    ///
    /// - Parameters:
    ///   - encode: returns a property-list object, which is checked, or nil to remove the key. If it throws, the write
    ///     fails with ``PrefsError/valuesNotPlistCompatible(invalidElements:)``, and nothing changes.
    ///   - decode: gets the stored object: String, Data, Date, Bool, NSNumber, `[Any]` or `[String: Any]`. If it throws
    ///     or returns nil, the read reports ``PrefsError/typeMismatch(_:)`` and returns the default.
    public init(
        encode: @escaping @Sendable (Value) throws -> Any?, decode: @escaping @Sendable (Any) throws -> Value?
    ) {
        self.init(
            encode: { value in try encode(value).map { try PropertyListVetter.value(of: $0) } },
            decode: { stored, _ in
                guard let value = try decode(stored.object) else {
                    throw ValueMismatch(expected: Value.self, found: stored)
                }
                return value
            })
    }

    package func decode(_ stored: StoredValue, as form: ValueForm = .exact) throws -> Value {
        try decoding(stored, form)
    }
}

// MARK: - One value

extension PrefCoding {
    /// - Parameters:
    ///   - form: the form that is accepted if the value does not have the exact form.
    ///   - fallback: a stored value that gives the missing fields of a Codable type.
    package func value(
        of stored: StoredValue, orAs form: ValueForm = .exact, filledFrom fallback: () -> StoredValue? = { nil }
    ) throws(ValueMismatch) -> Value {
        do throws(ValueMismatch) {
            return try value(of: stored, as: .exact, filledFrom: fallback)
        } catch {
            guard form != .exact else { throw error }
            return try value(of: stored, as: form, filledFrom: fallback)
        }
    }

    package func value(
        of stored: StoredValue, as form: ValueForm, filledFrom fallback: () -> StoredValue?
    ) throws(ValueMismatch) -> Value {
        // A null is no value, also for a coding of closures.
        if stored.isNull, let none = (Value.self as? any OptionalValue.Type)?.noValue as? Value { return none }
        do {
            do {
                return try decode(stored, as: form)
            } catch {
                guard let decodeFields else { throw error }
                let (value, keys) = try decodeFields(stored, form) { fallback().map(form.raw) }
                // The type knows no field of the value.
                guard !keys.contains(where: \.areForeign) else { throw error }
                return value
            }
        } catch {
            throw ValueMismatch(error, in: Value.self)
        }
    }

    /// The value to store; nil if its key is to be removed.
    package func stored(for value: Value) throws(ValueMismatch) -> StoredValue? {
        do {
            return try encode(value)
        } catch {
            throw ValueMismatch(encoding: error, of: Value.self)
        }
    }

    /// The stored form of a value; nil if it cannot be stored.
    package func vetted(_ value: Value) -> StoredValue? {
        guard let stored = try? encode(value), (try? PropertyListVetter.check(stored)) != nil else { return nil }
        return stored
    }

    /// The new value with the fields of the stored one that the type does not know.
    package func withUnknownFields(
        _ new: StoredValue, of stored: StoredValue, as form: ValueForm, filledFrom fallback: () -> StoredValue?
    ) -> StoredValue {
        guard let decodeFields, UnknownFields.mayBeLost(from: stored, in: new),
            let keys = try? decodeFields(stored, form, { fallback().map(form.raw) }).keys
        else { return new }
        return UnknownFields.preserved(in: new, from: stored, keys: keys)
    }

    /// A copy of a value of objects, which no other code can change; the value itself if it cannot be stored.
    package static func ownCopy(of value: Value) -> Value {
        let coding = PrefCoding(rule: Value.self)
        guard let stored = try? coding.encode(value), let copy = try? coding.decode(stored) else { return value }
        return copy
    }
}

// Unchecked because the closures of the rule capture metatypes, which no type parameter can declare to be Sendable.
extension PrefCoding: @unchecked Sendable where Value: Sendable {}

/// Decodes a value, and returns the keys that its types know. Missing fields come from the fallback. Exists only for
/// Codable types and containers of them.
package typealias FieldDecoding<Value> = (
    _ stored: StoredValue, _ form: ValueForm, _ fallback: () -> StoredValue?
) throws -> (value: Value, keys: [CodedKeys])
