import Foundation

/// Vets lists and dictionaries of Swift and of Objective-C.
extension PropertyListVetter {
    mutating func values(of objects: some Sequence<Any>, depth: Int) -> StoredValue? {
        guard isWithinLimit(depth) else { return nil }
        var values: [StoredValue] = []
        values.reserveCapacity(objects.underestimatedCount)
        for (index, object) in objects.enumerated() {
            path.append(.index(index))
            if let value = value(of: object, depth: depth + 1) { values.append(value) }
            path.removeLast()
            if isExhausted { return nil }
        }
        return .array(values)
    }

    mutating func members(of pairs: some Sequence<(Any, Any)>, depth: Int) -> StoredValue? {
        guard isWithinLimit(depth) else { return nil }
        var members: [String: StoredValue] = [:]
        members.reserveCapacity(pairs.underestimatedCount)
        for (key, object) in pairs {
            let key = type(of: key) == AnyHashable.self ? (key as? AnyHashable)?.base ?? key : key
            var name: String?
            if type(of: key) is AnyClass, let text = key as? NSString {
                name = self.text(text)
                if name == nil { return nil }
            }
            guard let text = name ?? key as? String else {
                return refuse("a key of type \(type(of: key)) cannot be stored in a property list; keys are strings")
            }
            guard StreamSafeText.isSafe(text) else { return refuse(StreamSafeText.reason) }
            path.append(.key(text))
            defer { path.removeLast() }
            guard let name = name ?? self.text(text) else { return nil }
            if members.index(forKey: name) != nil {
                return refuse("two keys differ only in their Unicode spelling")
            }
            if let value = member(object, depth: depth + 1) { members[name] = value }
            if isExhausted { return nil }
        }
        return isNoReference(members) ? .dictionary(members) : nil
    }
}
