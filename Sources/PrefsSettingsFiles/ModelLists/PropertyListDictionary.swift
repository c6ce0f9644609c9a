public import Foundation
public import PersistentPreferences
import PrefsPropertyLists

/// The keys of one kind of property-list dictionary: `enum QuoteKey: String, PropertyListKey { case author, text }`.
///
/// Follows `PlistKey`.
public protocol PropertyListKey: RawRepresentable, SendableMetatype where RawValue == String {}

/// The types of the values of a ``PropertyListDictionary``. Another type does not compile.
///
/// Do not conform your own types: convert one of these, as a ``PropertyListModel`` does. Follows `PlistValue`.
public protocol PropertyListValue: Decodable {}

extension String: PropertyListValue {}
extension Bool: PropertyListValue {}
extension Int: PropertyListValue {}
extension Double: PropertyListValue {}
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
/// func author(of url: URL) throws -> String {
///     try PropertyListDictionary(contentsOf: url).value(for: QuoteKey.author)
/// }
/// ```
///
/// Numbers convert if nothing is lost, as ``PrefCoding`` describes. A value type; may be passed between threads.
/// Follows `PlistDictionary`.
public struct PropertyListDictionary: Sendable {
    let values: [String: StoredValue]

    /// Creates a dictionary from a property-list file, as `NSDictionary(contentsOf:)` does.
    ///
    /// - Throws: ``PrefsError``: the file is missing, cannot be read or is malformed, or its root is not a dictionary.
    public init(contentsOf url: URL) throws {
        _ = try NameVetting.path(of: url)
        try self.init(PropertyListDocument.contents(ofResource: url).root)
    }

    init(_ stored: StoredValue) throws(PrefsError) {
        guard let values = stored.dictionary else {
            let reason = "expected a dictionary, found \(ValueMismatch.kind(of: stored))"
            throw .mismatch(of: [PropertyListFailure(path: "", topLevelKey: "", reason: reason)])
        }
        self.values = values
    }

    /// Returns the value of a key.
    ///
    /// - Throws: ``PrefsError/typeMismatch(_:)``, which names the key, if the key is absent or its value is of another
    ///   type.
    public func value<Value: PropertyListValue>(
        for key: some PropertyListKey, as type: Value.Type = Value.self
    ) throws(PrefsError) -> Value {
        let key = key.rawValue
        guard let stored = values[key] else {
            throw .mismatch(of: [PropertyListFailure(path: key, topLevelKey: key, reason: "is missing")])
        }
        do {
            return try StoredValueDecoder.value(type, from: stored) { nil }.value
        } catch {
            throw .mismatch(of: [ValueMismatch(error, in: type).failure(forKey: key)])
        }
    }
}

/// A model that is created from a property-list dictionary, without string literals, casts or force unwraps.
///
/// ```swift
/// import PrefsSettingsFiles
///
/// struct Quote { let author: String; let text: String }
///
/// extension Quote: PropertyListModel {
///     enum Key: String, PropertyListKey { case author, text }
///
///     init(_ dictionary: PropertyListDictionary) throws {
///         author = try dictionary.value(for: Key.author)
///         text = try dictionary.value(for: Key.text)
///     }
/// }
/// ```
///
/// A Codable type does not need this protocol: neither a ``PropertyListController`` nor a ``PersistentPrefs/Pref`` asks
/// for it. Follows `Quote`.
public protocol PropertyListModel {
    /// Creates the model.
    ///
    /// - Throws: the error of the dictionary, which names the key that is missing or of another type.
    init(_ dictionary: PropertyListDictionary) throws
}
