/// How a value becomes a property-list object and is read back: the one rule of this package, or a coding of your own.
///
/// The rule, the first that fits:
/// 1. what a property list holds: String, Bool, the integers, Double, Float, Date, Data; `Any`, which is vetted when it
///    is written; and, as strings, URL and Decimal (exact);
/// 2. optionals, arrays, sets (stored sorted, so that equal sets are equal files) and dictionaries with string keys (String,
///    or a type whose raw value is one) of values;
/// 3. the raw value of a `RawRepresentable`, whether it is Codable or not;
/// 4. the property-list objects that a `Codable` makes of itself: dates as dates, data as data.
///
/// Numbers convert if nothing is lost: 4.0 reads as Int, 1 as Bool, 5 as Double; 4.5 as Int is a type mismatch, and so is
/// a number out of range. A Double reads as Float where both have the same shortest decimal form.
///
/// nil inside of a container, and the inner nil of a doubly optional value, is stored as the string `$null`, as
/// `PropertyListEncoder` does; a string that could be taken for it gets one more `$`.
///
/// Cost: linear in the value. Decoding never traps, whatever is stored. Safe to use from any thread; `Sendable` if the values are.
public struct PrefCoding<Value> {
    /// nil removes the key.
    package let encode: (Value) throws -> Any?
    package let decode: (Any) throws -> Value
    package let cachePolicy: DecodeCachePolicy

    init(
        encode: @escaping (Value) throws -> Any?, decode: @escaping (Any) throws -> Value,
        cachePolicy: DecodeCachePolicy
    ) {
        self.encode = encode
        self.decode = decode
        self.cachePolicy = cachePolicy
    }

    /// A coding of your own.
    ///
    /// - Parameters:
    ///   - encode: gives what a property list can hold, which is vetted; nil removes the key. What it throws becomes
    ///     ``PrefsError/valuesNotPlistCompatible(invalidElements:)``, and nothing changes.
    ///   - decode: gets String, Data, Date, Bool, NSNumber, `[Any]` or `[String: Any]`, whatever is stored. nil, or what
    ///     it throws, becomes ``PrefsError/typeMismatch(_:)``, and the default is read.
    public init(
        encode: @escaping @Sendable (Value) throws -> Any?, decode: @escaping @Sendable (Any) throws -> Value?
    ) {
        self.init(
            encode: encode,
            decode: {
                guard let value = try decode($0) else { throw ValueMismatch(expected: Value.self, found: $0) }
                return value
            }, cachePolicy: .of(Value.self))
    }

    /// The rule, for a type that the compiler has vouched for.
    package init(rule: Value.Type) {
        guard let coding = CodingRule.coding(for: Value.self) else {
            preconditionFailure("\(Value.self) cannot be stored: make it Codable, or give a coding")
        }
        self = coding
    }
}

// Unchecked because the closures of the rule capture metatypes, which no type parameter can declare to be Sendable.
extension PrefCoding: @unchecked Sendable where Value: Sendable {}
