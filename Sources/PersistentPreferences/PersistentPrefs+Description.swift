import Foundation

extension PersistentPrefs {
    /// The text of an instance: its class, root key and stored values, with the keys sorted.
    func shownText() -> String {
        let values = (try? peek()) ?? [:]
        let pairs = values.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        return "\(type(of: self))(\"\(key)\")" + (pairs.isEmpty ? " is empty" : " {\(pairs.joined(separator: ", "))}")
    }

    /// The visible values, read without any effect on `lastError`.
    fileprivate func peek() throws -> [String: Any] {
        var access = try access(root: key)
        return allowedKeys.visible(in: try access.values())
    }
}

/// What `dump` shows of an instance.
extension InstanceState: CustomReflectable {
    var customMirror: Mirror {
        Mirror(self, children: ["key": key, "values": (try? owner?.peek()) ?? [:]], displayStyle: .class)
    }
}

/// What `dump` shows of a property.
extension PersistentPrefs.Pref: CustomReflectable {
    /// The default.
    public var customMirror: Mirror {
        Mirror(self, children: ["default": declaredProperty.anyDefaultValue], displayStyle: .struct)
    }
}
