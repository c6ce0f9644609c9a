package import PrefsPropertyLists

/// A `PrefProperty` of any type.
package protocol DeclaredProperty: AnyObject, Sendable {
    /// The keys in the declaration: one, or none if the key is the name of the property. More are a mistake.
    var givenKeys: [String] { get }
    var formerKeys: [String] { get }
    var valueType: Any.Type { get }
    var anyDefaultValue: Any { get }
    /// The stored form of the default; nil if the default has no stored form.
    var storedDefault: StoredValue? { get }
    var constraintDescription: String? { get }
    /// Why the default is not valid; nil if it is.
    var defaultViolation: String? { get }
    /// Whether its values are hidden: `@Pref(.sensitive)`.
    var isSensitive: Bool { get }
    var isRequired: Bool { get }
    /// Whether the fields of its values are merged: `@Pref(.merged)`.
    var isMerged: Bool { get }
    var help: String? { get }
    /// The new value with the fields of the stored one that the type does not know.
    func withUnknownFields(_ new: StoredValue, of stored: StoredValue, as form: ValueForm) -> StoredValue
    /// Converts a value that a person has written to the form in which the property stores it. Missing fields come from
    /// the default.
    ///
    /// - Parameters:
    ///   - form: the accepted form of the value.
    ///   - keepsUnknownFields: whether the result has the fields that the type does not know.
    /// - Throws: as a read does.
    func canonical(
        _ stored: StoredValue, forKey key: String, from form: ValueForm, keepsUnknownFields: Bool
    ) throws(PrefsError) -> StoredValue
    /// The stored form of the value that a read gives for a stored one; nil if that is nil.
    ///
    /// - Parameter form: the form that is accepted if the value does not have the exact form.
    /// - Throws: as a read does.
    func encodedRead(of stored: StoredValue, forKey key: String, as form: ValueForm) throws(PrefsError) -> StoredValue?
    /// Why the value stored under a key cannot be read: it is of another type, or violates the constraint. nil if it
    /// can be read.
    ///
    /// - Parameter form: the form that is accepted if the value does not have the exact form.
    func error(of stored: StoredValue, forKey key: String, as form: ValueForm) -> PrefsError?
}

extension DeclaredProperty {
    /// The value as a file of the form has it: see `ValueForm.written`. It reads as exactly this value.
    package func written(
        _ value: StoredValue, forKey key: String, over raw: StoredValue? = nil, from before: StoredValue? = nil,
        _ form: ValueForm
    ) -> StoredValue {
        // A part of a struct reads as the whole.
        let read = isMerged ? (try? canonical(value, forKey: key, from: .exact)) ?? value : value
        return form.written(value, over: raw, from: before) {
            (try? self.canonical($0, forKey: key, from: form)) == read
        }
    }

    /// The fields by which its values are merged; nil if a value is a whole.
    package var sectionFields: SectionFields? {
        isMerged ? SectionFields(of: anyDefaultValue, storedAs: storedDefault) : nil
    }

    /// nil if the key is the name of the property.
    package var explicitKey: String? { givenKeys.first }

    package func canonical(
        _ stored: StoredValue, forKey key: String, from form: ValueForm
    ) throws(PrefsError) -> StoredValue {
        try canonical(stored, forKey: key, from: form, keepsUnknownFields: true)
    }

    package func error(of stored: StoredValue, forKey key: String) -> PrefsError? {
        error(of: stored, forKey: key, as: .exact)
    }
}

/// A wrapper that a mirror finds in an instance.
protocol PrefWrapper {
    var declaredProperty: any DeclaredProperty { get }
}

extension ShownText {
    /// A value of a property, without the words of an optional.
    package static func value(_ value: Any) -> String {
        guard let optional = value as? any OptionalValue else { return "\(value)" }
        return optional.wrappedValue.map(self.value) ?? "nil"
    }
}
