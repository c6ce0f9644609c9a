package import Foundation
package import PrefsPropertyLists

/// The questions of a tool for any class.
extension PersistentPrefs {
    /// The allowed keys, declared and listed.
    package var allowedKeyList: [String] { allowedKeys.list }

    /// Converts the stored values of the allowed keys, after migration. nil if they cannot be read or converted;
    /// ``lastError`` says why.
    package func readingStored<R>(_ convert: ([String: StoredValue]) throws -> R) -> R? {
        state.bridge.access(nil, of: self)
        return read { try convert(allowedKeys.visible(in: $0.values(&$1))) }
    }

    /// The class of an instance, for messages.
    package var className: String { "\(type(of: self))" }

    /// The file that holds the root; nil if the store does not use a file.
    package var fileURL: URL? { state.roots.fileURL }

    /// Whether the entries of the store are the keys, and there are no roots.
    package var hasFlatLayout: Bool { state.roots.layout == .flat }

    /// Whether the values of a key are hidden: `@Pref(.sensitive)`.
    package func isSensitive(_ key: String) -> Bool { declarations.isSensitive(key) }

    /// The stored form of the default of a declared property; nil for other keys, and for a default without a stored
    /// form.
    package func storedDefault(forKey key: String) -> StoredValue? { declarations[key]?.property.storedDefault }

    /// Why a value cannot be stored under a key or cannot be read back: its type or the constraint. nil if it fits, and
    /// for a key without a declaration.
    package func mismatch(of stored: StoredValue, forKey key: String) -> PropertyListFailure? {
        declarations[key]?.property.error(of: stored, forKey: key)?.failures
            .first
    }

    /// Converts a value of an export, or of a file that a person has written, to the form in which the property stores
    /// it.
    ///
    /// - Throws: `PrefsError.typeMismatch`, `.constraintViolated` if it does not fit.
    ///
    /// - Parameter form: the accepted form of the value.
    package func canonical(
        _ value: StoredValue, forKey key: String, from form: ValueForm
    ) throws(PrefsError) -> StoredValue {
        try declarations[key]?.property.canonical(value, forKey: key, from: form) ?? value
    }

    /// The value that the program reads from a stored value. Missing fields are added, and fields that the type does
    /// not know are removed. nil if the stored value does not fit.
    package func readValue(of stored: StoredValue, forKey key: String) -> StoredValue? {
        guard let property = declarations[key]?.property else { return stored }
        guard property.error(of: stored, forKey: key) == nil else { return nil }
        return try? property.canonical(stored, forKey: key, from: .exact, keepsUnknownFields: false)
    }

    /// The value of a key in the store or in a layer. Does not change ``lastError``.
    package func currentValue(forKey key: String) throws(PrefsError) -> StoredValue? {
        do {
            var outcome = AccessOutcome(of: state)
            return try Root(self.key, of: state).view(of: key, &outcome).value(forKey: key, &outcome)
        } catch {
            throw PrefsError(error)
        }
    }
}
