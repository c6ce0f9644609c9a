import PersistentPreferences
import PrefsPropertyLists

/// A model that is created from a property-list dictionary and encodes itself as one, without string literals, casts or
/// force unwraps.
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
///
///     func encode(to dictionary: inout PropertyListDictionary) throws {
///         try dictionary.set(author, for: Key.author)
///         try dictionary.set(text, for: Key.text)
///     }
/// }
/// ```
///
/// A model that is only read does not need `encode(to:)`. A Codable type does not need this protocol: neither a
/// ``PropertyListController`` nor a ``PersistentPrefs/Pref`` asks for it. Follows `Quote`.
public protocol PropertyListModel {
    /// Creates the model.
    ///
    /// - Throws: the ``PropertyListFailure`` of the dictionary, which names the key that is missing or of another type.
    init(_ dictionary: PropertyListDictionary) throws

    /// Stores the model's values in an empty dictionary. By default it throws a ``PropertyListFailure``, and the model
    /// cannot be saved.
    func encode(to dictionary: inout PropertyListDictionary) throws
}

extension PropertyListModel {
    /// Throws, because a model without this method cannot be saved.
    public func encode(to dictionary: inout PropertyListDictionary) throws {
        let reason = "\(Self.self) cannot be saved, because it does not implement encode(to:)"
        throw PropertyListFailure(path: "", topLevelKey: "", reason: reason)
    }
}
