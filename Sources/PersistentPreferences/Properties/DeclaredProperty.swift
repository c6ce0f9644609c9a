import PrefsPropertyLists

/// A `PrefProperty` of any type.
protocol DeclaredProperty: AnyObject, Sendable {
    var explicitKey: String? { get }
    var formerKeys: [String] { get }
    var valueType: Any.Type { get }
    var anyDefaultValue: Any { get }
    /// The stored form of the default; nil if the default has no stored form.
    var storedDefault: StoredValue? { get }
    var constraintDescription: String? { get }
    /// Why the default is not valid; nil if it is.
    var defaultViolation: String? { get }
    /// The value that a text from outside stands for, such as a variable of the environment.
    func reading(of text: String) -> TextReading
    /// The text that reads as the stored value.
    func text(of stored: StoredValue) -> String
    /// Whether the property is optional, and nil satisfies a check.
    var acceptsNil: Bool { get }
    /// The texts of all values; nil if they cannot be listed.
    var choices: [String]? { get }
    /// Whether its values are hidden: `@Pref(sensitive: true)`.
    var isSensitive: Bool { get }
    var help: String? { get }
    /// The JSON Schema of the values.
    var schema: [String: StoredValue] { get }
    /// The new value with the fields of the stored one that the type does not know.
    func withUnknownFields(_ new: StoredValue, of stored: StoredValue, in state: InstanceState) -> StoredValue
    /// Converts a value that a person has written to the form in which the property stores it. Missing fields come from
    /// the default.
    ///
    /// - Parameter keepsUnknownFields: whether the result has the fields that the type does not know.
    /// - Throws: as a read does.
    func canonical(
        _ stored: StoredValue, forKey key: String, keepsUnknownFields: Bool
    ) throws(PrefsError) -> StoredValue
    /// Why the value stored under a key cannot be read: it is of another type, or violates the constraint. nil if it
    /// can be read.
    ///
    /// - Parameter isHandWritten: whether people may have written it, in a JSON file.
    func error(of stored: StoredValue, forKey key: String, isHandWritten: Bool) -> PrefsError?
}

extension DeclaredProperty {
    func canonical(_ stored: StoredValue, forKey key: String) throws(PrefsError) -> StoredValue {
        try canonical(stored, forKey: key, keepsUnknownFields: true)
    }

    func error(of stored: StoredValue, forKey key: String) -> PrefsError? {
        error(of: stored, forKey: key, isHandWritten: false)
    }
}

/// A wrapper that a mirror finds in an instance.
protocol PrefWrapper {
    var declaredProperty: any DeclaredProperty { get }
}
