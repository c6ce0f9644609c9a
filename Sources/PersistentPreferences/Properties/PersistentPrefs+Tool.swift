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
}
