import Foundation
import PrefsPropertyLists

extension PersistentPrefs {
    /// The text of an instance: its class, root key and stored values, with the keys sorted.
    func shownText() -> String {
        let name = "\(type(of: self))(\"\(key)\")"
        switch peek() {
        case .success(let values) where values.isEmpty: return name + " is empty"
        case .success(let values):
            func text() -> String {
                let pairs = values.objects.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
                return name + " {\(pairs.joined(separator: ", "))}"
            }
            // Swift's text of a value with 127 levels takes 160 KB of stack. Otherwise no thread, because a debugger may stop all others.
            return StoredValue.dictionary(values).hasManyLevels ? SpareStack.run(text) : text()
        case .failure(let error): return name + " cannot be read: \(error)"
        }
    }

    /// The visible values, read without any effect on `lastError`.
    fileprivate func peek() -> Result<[String: StoredValue], PrefsError> {
        do {
            var outcome = AccessOutcome(of: state)
            let view = try Root(key, of: state).view(&outcome)
            return .success(allowedKeys.visible(in: try view.values(&outcome)))
        } catch {
            return .failure(PrefsError(error))
        }
    }
}

/// What `dump` shows of an instance.
extension InstanceState: CustomReflectable {
    var customMirror: Mirror {
        let values: Any =
            switch owner?.peek() {
            case .success(let values)?: values.objects
            case .failure(let error)?: error
            case nil: "released"
            }
        return Mirror(self, children: ["key": key, "values": values], displayStyle: .class)
    }
}

/// What `dump` shows of a property.
extension PersistentPrefs.Pref: CustomReflectable {
    /// The default.
    public var customMirror: Mirror {
        Mirror(self, children: ["default": declaredProperty.anyDefaultValue], displayStyle: .struct)
    }
}
