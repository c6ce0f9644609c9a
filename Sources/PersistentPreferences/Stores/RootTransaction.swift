/// How every store of this package reads and changes one root of the domain that it keeps.
extension Transaction {
    /// The dictionary under a root key.
    static func dictionary(of root: String, in content: Content?) throws(PrefsError) -> [String: Any]? {
        guard let entry = content?[root] else { return nil }
        guard let dictionary = entry as? [String: Any] else { throw .rootIsNotDictionary(key: root) }
        return dictionary
    }

    /// Puts what the body makes of the root in its place. It is in canonical form; nil leaves the root as it is.
    func replace(root: String, _ body: ([String: Any]?) throws -> [String: Any]?) throws {
        let before = try Self.dictionary(of: root, in: content)
        guard let after = try body(before) else { return }
        let isUntouched =
            switch (before, self[root]) {
            case (nil, nil): true
            case (let before?, let now?): CanonicalValue.areIdentical(before, now)
            default: false
            }
        // A step of a migration may have written there, too.
        if isUntouched { self[root] = after } else { try merge(from: before, to: after, into: root) }
    }

    /// Runs the body of an update and merges the difference that it made into the root, which nested updates may have
    /// changed meanwhile.
    func update(root: String, _ body: (inout [String: Any]?) throws -> Void) throws {
        let entry = self[root]
        guard entry == nil || entry is [String: Any] else {
            // Nothing but its removal may be done to a root that is no dictionary.
            var values: [String: Any]? = [:]
            try body(&values)
            guard values == nil else { throw PrefsError.rootIsNotDictionary(key: root) }
            self[root] = nil
            return
        }
        let before = entry as? [String: Any]
        var after = before
        try body(&after)
        guard let after else {
            // Left as missing as it was, it may have been written by a nested update meanwhile.
            if before != nil, self[root] != nil { self[root] = nil }
            return
        }
        try merge(from: before, to: after, into: root)
    }

    private func merge(from before: [String: Any]?, to after: [String: Any], into root: String) throws {
        let change = try RootChange(from: before ?? [:], to: after)
        if change.isEmpty, before != nil { return }
        var now = self[root] as? [String: Any]
        // An empty dictionary where there was nothing is a root too.
        if try change.apply(to: &now) || now == nil { self[root] = now ?? [:] }
    }
}
