package import Foundation
package import PrefsPropertyLists

/// What a tool for any class asks an instance.
extension PersistentPrefs {
    /// The allowed keys, declared and listed.
    package var allowedKeyList: [String] { allowedKeys.list }

    /// The class of an instance, for messages.
    package var className: String { "\(type(of: self))" }

    /// The file that holds the root; nil if the store has none.
    package var fileURL: URL? { state.roots.fileURL }

    /// Whether the entries of the store are the keys, and there are no roots.
    package var hasFlatLayout: Bool { state.roots.layout == .flat }

    /// Whether the values of a key are shown to nobody.
    package func isSensitive(_ key: String) -> Bool { declarations.isSensitive(key) }

    /// What is stored for the default of a declared property; nil for other keys, and if that is nothing.
    package func storedDefault(forKey key: String) -> StoredValue? { declarations[key]?.property.storedDefault }

    /// Why something cannot be stored under a key, or does not read back: its type or the constraint. nil if it fits, and for a key
    /// without a declaration.
    package func mismatch(of stored: StoredValue, forKey key: String) -> PropertyListFailure? {
        declarations[key]?.property.error(of: stored, forKey: key)?.failures
            .first
    }

    /// The value of an export, or of a file that a person has written, as the property stores it.
    ///
    /// - Throws: `PrefsError.typeMismatch`, `.constraintViolated` if it does not fit.
    package func canonical(_ value: StoredValue, forKey key: String) throws(PrefsError) -> StoredValue {
        try declarations[key]?.property.canonical(value, forKey: key) ?? value
    }

    /// What the program reads of a stored value: with the fields that it lacks, and without those that its type does not know. nil if
    /// it does not fit.
    package func readValue(of stored: StoredValue, forKey key: String) -> StoredValue? {
        guard let property = declarations[key]?.property else { return stored }
        // A text that people may write for a date is one in JSON only.
        guard property.error(of: stored, forKey: key) == nil else { return nil }
        return try? property.canonical(stored, forKey: key, keepsUnknownFields: false)
    }
}
