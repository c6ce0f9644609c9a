import Foundation
import PersistentPreferences
import PrefsJSON
import PrefsPropertyLists

/// The questions of the tool for the declarations of any class.
extension PersistentPrefs {
    /// Whether the entries of the store are the keys, and there are no roots.
    var hasFlatLayout: Bool { state.roots.layout == .flat }

    /// Whether the values of a key are hidden: `@Pref(.sensitive)`.
    func isSensitive(_ key: String) -> Bool { declarations.isSensitive(key) }

    func isDecimal(_ key: String) -> Bool {
        guard let type = declarations[key]?.property.valueType else { return false }
        return type == Decimal.self || type == Decimal?.self
    }

    /// The stored form of the default of a declared property; nil for other keys, and for a default without a stored
    /// form.
    func storedDefault(forKey key: String) -> StoredValue? { declarations[key]?.property.storedDefault }

    /// Why a value cannot be stored under a key or cannot be read back: its type or the constraint. nil if it fits, and
    /// for a key without a declaration.
    func mismatch(of stored: StoredValue, forKey key: String) -> PropertyListFailure? {
        declarations[key]?.property.error(of: stored, forKey: key)?.failures.first
    }

    /// Whether a value that cannot be read has more faults than the one that replaces it, so that a write is accepted.
    func isMended(_ former: StoredValue, by new: StoredValue, forKey key: String) -> Bool {
        declarations[key]?.property.isMended(former, by: new, forKey: key, as: state.roots.form) ?? false
    }

    /// The value that the program reads from a stored value. Missing fields are added, and fields that the type does
    /// not know are removed. nil if the stored value does not fit.
    func readValue(of stored: StoredValue, forKey key: String) -> StoredValue? {
        guard let property = declarations[key]?.property else { return stored }
        guard property.error(of: stored, forKey: key) == nil else { return nil }
        return try? property.canonical(stored, forKey: key, from: .exact, keepsUnknownFields: false)
    }
}
