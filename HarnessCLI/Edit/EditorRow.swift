import Foundation
import PrefsTestSet

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

    let key: HarnessKey
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

    static func content(_ value: Any?, of key: HarnessKey) -> Content {
        guard let value else { return .notSet }
        let text = ValueText.line(value)
        guard key.fits(value) else { return .ofOtherType(text, name: ValueText.typeName(value)) }
        return key.isDefault(value) ? .isDefault(text) : .set(text)
    }
}

extension HarnessKey {
    fileprivate func isDefault(_ value: Any) -> Bool {
        func isSame<Value: Equatable>(_ type: Value.Type) -> Bool {
            value as? Value == PrefsTestSet.defaultValues[name] as? Value
        }
        return switch type {
        case .int: isSame(Int.self)
        case .string: isSame(String.self)
        case .array: isSame([String].self)
        case .dictionary: isSame([String: String].self)
        case .date: isSame(Date.self)
        }
    }
}
