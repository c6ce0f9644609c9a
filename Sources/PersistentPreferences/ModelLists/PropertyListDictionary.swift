public import Foundation
import PrefsPropertyLists

/// The keys of one kind of property-list dictionary: `enum QuoteKey: String, PropertyListKey { case author, text }`.
///
/// Follows `PlistKey`.
public protocol PropertyListKey: RawRepresentable, SendableMetatype where RawValue == String {}

/// The types of the values of a ``PropertyListDictionary``. A value of another type does not compile.
///
/// ```swift
/// try dictionary.set(["wisdom"], for: QuoteKey.tags)
/// ```
///
/// Do not conform your own types: convert them to one of these, as a ``PropertyListModel`` does. Follows `PlistValue`.
public protocol PropertyListValue {}

extension String: PropertyListValue {}
extension Bool: PropertyListValue {}
extension Int: PropertyListValue {}
extension Int8: PropertyListValue {}
extension Int16: PropertyListValue {}
extension Int32: PropertyListValue {}
extension Int64: PropertyListValue {}
extension UInt: PropertyListValue {}
extension UInt8: PropertyListValue {}
extension UInt16: PropertyListValue {}
extension UInt32: PropertyListValue {}
extension UInt64: PropertyListValue {}
extension Double: PropertyListValue {}
extension Float: PropertyListValue {}
extension Date: PropertyListValue {}
extension Data: PropertyListValue {}
extension Array: PropertyListValue where Element: PropertyListValue {}
extension Dictionary: PropertyListValue where Key == String, Value: PropertyListValue {}

/// A property-list dictionary with typed keys and checked values.
///
/// ```swift
/// enum QuoteKey: String, PropertyListKey { case author, text }
///
/// var dictionary = PropertyListDictionary()
/// try dictionary.set("Seneca", for: QuoteKey.author)
/// let author: String = try dictionary.value(for: QuoteKey.author)
/// ```
///
/// Numbers convert if nothing is lost, as ``PrefCoding`` describes. A value type; may be passed between threads. Follows
/// `PlistDictionary`.
public struct PropertyListDictionary: PropertyListValue, @unchecked Sendable {
    /// The contents: String, Data, Date, Bool, NSNumber, `[Any]` and `[String: Any]`.
    public private(set) var contents: [String: Any]

    /// Creates an empty dictionary.
    public init() {
        contents = [:]
    }

    /// Creates a dictionary from a copy of property-list values.
    ///
    /// - Throws: the first failure if a property list cannot hold the values.
    public init(_ contents: [String: Any]) throws(PropertyListFailure) {
        self.contents = [:]
        for (key, value) in contents { self.contents[key] = try Self.canonical(value, key) }
    }

    init(canonical contents: [String: Any]) {
        self.contents = contents
    }

    /// Returns the value of a key.
    ///
    /// - Throws: a failure that names the key if there is no value, or if it is of another type.
    public func value<Value: PropertyListValue>(
        for key: some PropertyListKey, as type: Value.Type = Value.self
    ) throws(PropertyListFailure) -> Value {
        guard let value = try valueIfPresent(for: key, as: type) else {
            throw PropertyListFailure(path: key.rawValue, topLevelKey: key.rawValue, reason: "is missing")
        }
        return value
    }

    /// Returns the value of a key, or nil if there is none.
    ///
    /// - Throws: a failure that names the key if the value is of another type.
    public func valueIfPresent<Value: PropertyListValue>(
        for key: some PropertyListKey, as type: Value.Type = Value.self
    ) throws(PropertyListFailure) -> Value? {
        guard let object = contents[key.rawValue] else { return nil }
        do {
            return try Self.coding(of: type).decode(object)
        } catch {
            throw ValueMismatch(error, in: type).failure(forKey: key.rawValue)
        }
    }

    /// Stores a value under a key; nil removes it.
    ///
    /// - Throws: a failure that names the key if a property list cannot hold the value, for example a date that is not finite.
    public mutating func set<Value: PropertyListValue>(
        _ value: Value?, for key: some PropertyListKey
    ) throws(PropertyListFailure) {
        guard let value else {
            contents[key.rawValue] = nil
            return
        }
        do {
            contents[key.rawValue] = try Self.canonical(Self.coding(of: Value.self).encode(value), key.rawValue)
        } catch let failure as PropertyListFailure {
            throw failure
        } catch {
            throw ValueMismatch(error, in: Value.self).failure(forKey: key.rawValue)
        }
    }

    private static func coding<Value: PropertyListValue>(of type: Value.Type) throws -> ValueCoding<Value> {
        guard let coding = CodingRule.nested(type) else {
            throw ValueMismatch(reason: "\(type) is not a property-list type")
        }
        return coding
    }

    private static func canonical(_ value: Any, _ key: String) throws(PropertyListFailure) -> Any {
        switch PropertyListVetter.canonical(value, forKey: key) {
        case .success(let copy): return copy
        case .failure(let refusal):
            throw refusal.failures.first
                ?? PropertyListFailure(path: key, topLevelKey: key, reason: "cannot be stored in a property list")
        }
    }
}

extension PropertyListDictionary: StorableScalar {
    package static var schema: ValueSchema { ValueSchema(types: ["object"]) }

    package var storable: Any { contents }

    package init?(storable: Any) {
        guard let contents = storable as? [String: Any] else { return nil }
        self.contents = contents
    }
}
