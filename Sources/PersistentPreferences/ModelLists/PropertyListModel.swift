/// A model type that builds itself from a property-list dictionary, and makes one of itself: without text literals,
/// casts or force unwraps.
///
/// ```swift
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
/// For a type that is Codable ``Pref`` needs none of this. Follows `Quote` (seed 002).
public protocol PropertyListModel {
    /// Builds the model.
    ///
    /// - Throws: ``PropertyListFailure`` of the dictionary, which names the key that is missing or of another type.
    init(_ dictionary: PropertyListDictionary) throws

    /// Puts the model's values into a dictionary that is empty.
    func encode(to dictionary: inout PropertyListDictionary) throws
}
