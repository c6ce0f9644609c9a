public import Foundation
public import PersistentPreferences
package import PrefsPropertyLists

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
/// import PrefsSettingsFiles
///
/// enum QuoteKey: String, PropertyListKey { case author, text }
///
/// var dictionary = PropertyListDictionary()  // or (contentsOf: url)
/// try dictionary.set("Seneca", for: QuoteKey.author)
/// let author: String = try dictionary.value(for: QuoteKey.author)
/// ```
///
/// Numbers convert if nothing is lost, as ``PrefCoding`` describes. A value type; may be passed between threads.
/// Follows `PlistDictionary`.
public struct PropertyListDictionary: PropertyListValue, Sendable {
    private(set) var values: [String: StoredValue]

    /// The contents: String, Data, Date, Bool, NSNumber, `[Any]` and `[String: Any]`. Costs time linear in their size.
    public var contents: [String: Any] { values.objects }

    /// Creates an empty dictionary.
    public init() {
        values = [:]
    }

    /// Creates a dictionary from a copy of property-list values.
    ///
    /// - Throws: the first failure if a property list cannot hold the values.
    public init(_ contents: [String: Any]) throws(PropertyListFailure) {
        values = [:]
        for (key, object) in contents {
            values[key] = try Self.vetted(key) { () throws(PropertyListVetter.Refusal) in
                try PropertyListVetter.value(of: object, forKey: key)
            }
        }
    }

    /// Creates a dictionary from a property-list file, as `NSDictionary(contentsOf:)` does.
    ///
    /// - Throws: ``PrefsError`` if the file is missing, cannot be read or is malformed; ``PropertyListFailure`` if its
    ///   root is not a dictionary.
    public init(contentsOf url: URL) throws {
        _ = try NameVetting.path(of: url)
        let root = try PropertyListDocument.contents(ofResource: url).root
        guard let values = root.dictionary else {
            let reason = "expected a dictionary, found \(ValueMismatch.kind(of: root))"
            throw PropertyListFailure(path: "", topLevelKey: "", reason: reason)
        }
        self.values = values
    }

    init(values: [String: StoredValue]) {
        self.values = values
    }

    /// Returns the value of a key.
    ///
    /// - Throws: a failure that names the key if the key is absent, or if its value is of another type.
    public func value<Value: PropertyListValue>(
        for key: some PropertyListKey, as type: Value.Type = Value.self
    ) throws(PropertyListFailure) -> Value {
        guard let value = try valueIfPresent(for: key, as: type) else {
            throw PropertyListFailure(path: key.rawValue, topLevelKey: key.rawValue, reason: "is missing")
        }
        return value
    }

    /// Returns the value of a key, or nil if the key is absent.
    ///
    /// - Throws: a failure that names the key if the value is of another type.
    public func valueIfPresent<Value: PropertyListValue>(
        for key: some PropertyListKey, as type: Value.Type = Value.self
    ) throws(PropertyListFailure) -> Value? {
        guard let stored = values[key.rawValue] else { return nil }
        do {
            return try Self.coding(of: type).decode(stored)
        } catch {
            throw ValueMismatch(error, in: type).failure(forKey: key.rawValue)
        }
    }

    /// Stores a value under a key; nil removes it.
    ///
    /// - Throws: a failure that names the key if a property list cannot hold the value, for example a date that is not
    ///   finite.
    public mutating func set<Value: PropertyListValue>(
        _ value: Value?, for key: some PropertyListKey
    ) throws(PropertyListFailure) {
        guard let value else {
            values[key.rawValue] = nil
            return
        }
        let new: StoredValue?
        do {
            new = try Self.coding(of: Value.self).encode(value)
        } catch {
            throw ValueMismatch(error, in: Value.self).failure(forKey: key.rawValue)
        }
        values[key.rawValue] = try Self.vetted(key.rawValue) { () throws(PropertyListVetter.Refusal) in
            if let new { try PropertyListVetter.check(new, forKey: key.rawValue) }
            return new
        }
    }

    private static func coding<Value: PropertyListValue>(of type: Value.Type) throws -> PrefCoding<Value> {
        guard let coding = CodingRule.nested(type) else {
            throw ValueMismatch(reason: "\(type) is not a property-list type")
        }
        return coding
    }

    /// - Throws: the first failure.
    private static func vetted<R>(
        _ key: String, _ body: () throws(PropertyListVetter.Refusal) -> R
    ) throws(PropertyListFailure) -> R {
        do {
            return try body()
        } catch {
            throw error.failures.first
                ?? PropertyListFailure(path: key, topLevelKey: key, reason: "cannot be stored in a property list")
        }
    }
}

extension PropertyListDictionary: StorableScalar {
    package var storable: StoredValue { .dictionary(values) }

    package init?(storable: StoredValue) {
        guard case .dictionary(let values) = storable else { return nil }
        self.values = values
    }
}
