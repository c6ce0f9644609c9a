import Foundation

/// Lists and dictionaries, of Swift's kind and of Objective-C's.
extension PropertyListVetter {
    mutating func copyElements(_ elements: some Sequence<Any>, depth: Int) -> [Any]? {
        guard isWithinLimit(depth) else { return nil }
        var copies: [Any] = []
        copies.reserveCapacity(elements.underestimatedCount)
        for (index, element) in elements.enumerated() {
            path.append(.index(index))
            if let copy = copy(element, depth: depth + 1) { copies.append(copy) }
            path.removeLast()
            if isExhausted { return nil }
        }
        return copies
    }

    mutating func look(at elements: [Any], depth: Int) -> Copy? {
        guard isWithinLimit(depth) else { return nil }
        var copies: [Any]?
        for index in elements.indices {
            path.append(.index(index))
            defer { path.removeLast() }
            switch look(at: elements[index], depth: depth + 1) {
            case .same: copies?.append(elements[index])
            case .other(let copy):
                if copies == nil { copies = Array(elements[..<index]) }
                copies?.append(copy)
            case .none: if isExhausted { return nil }
            }
        }
        return copies.map { .other($0) } ?? .same
    }

    mutating func look(at members: [String: Any], depth: Int) -> Copy? {
        guard isWithinLimit(depth) else { return nil }
        var copies: [String: Any]?
        for (key, value) in members {
            guard StreamSafeText.isSafe(key) else { return refuse(StreamSafeText.reason) }
            path.append(.key(key))
            defer { path.removeLast() }
            guard let name = copyText(key) else { return nil }
            let copy = look(at: value, depth: depth + 1)
            if !CanonicalValue.haveEqualWords(key, name) {
                copies = copies ?? members
                copies?[key] = nil
                copies?[name] = value
            }
            switch copy {
            case .same: break
            case .other(let copy):
                copies = copies ?? members
                copies?[key] = copy
            case .none: if isExhausted { return nil }
            }
        }
        guard checked(copies ?? members) != nil else { return nil }
        return copies.map { .other($0) } ?? .same
    }

    mutating func copyPairs(_ pairs: some Sequence<(Any, Any)>, depth: Int) -> [String: Any]? {
        guard isWithinLimit(depth) else { return nil }
        var copies: [String: Any] = [:]
        for (key, value) in pairs {
            let key = type(of: key) == AnyHashable.self ? (key as? AnyHashable)?.base ?? key : key
            var name: String?
            if type(of: key) is AnyClass, let text = key as? NSString {
                name = copyText(text)
                if name == nil { return nil }
            }
            guard let text = name ?? key as? String else {
                return refuse("a key of type \(type(of: key)) cannot be stored in a property list; keys are strings")
            }
            guard StreamSafeText.isSafe(text) else { return refuse(StreamSafeText.reason) }
            path.append(.key(text))
            defer { path.removeLast() }
            guard let name = name ?? copyText(text) else { return nil }
            if copies.index(forKey: name) != nil {
                return refuse("two keys differ only in their Unicode spelling")
            }
            if let copy = copy(value, depth: depth + 1) { copies[name] = copy }
            if isExhausted { return nil }
        }
        return checked(copies)
    }

    private mutating func checked(_ copies: [String: Any]) -> [String: Any]? {
        // In XML it is read as the object of a keyed archive, a real number too.
        if copies.count == 1, let value = copies["CF$UID"], CanonicalValue.isNumber(value) {
            return refuse("a dictionary of a lone number CF$UID cannot be stored in a property list")
        }
        return copies
    }
}
