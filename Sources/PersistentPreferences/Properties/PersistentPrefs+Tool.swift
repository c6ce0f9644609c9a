package import Foundation
import PrefsPropertyLists

/// What a tool for any class asks an instance.
extension PersistentPrefs {
    /// The allowed keys, declared and listed.
    package var allowedKeyList: [String] { allowedKeys.list }

    /// The class of an instance, for messages.
    package var className: String { "\(type(of: self))" }

    /// The file that holds the root; nil if the store has none.
    package var fileURL: URL? {
        let store = (state.store as? LayeredRootStore)?.base ?? state.store
        return (store as? DomainStore)?.storage.fileURL
    }

    /// The default of a declared property as a canonical property-list object; nil for other keys, and if the default stores nothing.
    package func defaultObject(forKey key: String) -> Any? { declarations[key]?.property.defaultObject }

    /// Why an object cannot be stored under a key, or does not read back: its type or the constraint. nil if it fits, and for a key
    /// without a declaration.
    package func mismatch(of object: Any, forKey key: String) -> PropertyListFailure? {
        declarations[key]?.property.failure(of: object, forKey: key)
    }
}
