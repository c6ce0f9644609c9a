import Foundation
import PersistentPreferences

/// One value in the form.
struct EditorRow: Equatable {
    /// The stored value as the form shows it.
    enum Content: Equatable {
        case notSet
        case set(String)
        case isDefault(String)
        /// A value of another type, stored by another program.
        case ofOtherType(String, name: String)
    }

    let key: PrefsKey
    var content = Content.notSet
    /// True if another process changed the value since the selection moved.
    var isMarked = false
    /// Why the typed text or a reset was not stored.
    var errorMessage: String?

    /// The text to edit.
    var text: String {
        switch content {
        case .notSet: ""
        case .set(let text), .isDefault(let text), .ofOtherType(let text, _): text
        }
    }

    static func content(_ value: Any?, of key: PrefsKey, in prefs: PersistentPrefs) -> Content {
        guard let value else { return .notSet }
        let text = ValueText.line(value)
        if prefs.mismatch(of: value, forKey: key.name) != nil {
            return .ofOtherType(text, name: ValueText.typeName(value))
        }
        return ValueText.areEqual(value, prefs.defaultObject(forKey: key.name)) ? .isDefault(text) : .set(text)
    }
}
