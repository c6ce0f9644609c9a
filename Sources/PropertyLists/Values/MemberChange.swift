/// A member of a dictionary that was added, changed or removed. A new spelling of its key is a removal and an addition.
struct MemberChange {
    let key: String
    /// The value before the change; nil if the member was added.
    let before: StoredValue?
    /// The value after the change; nil if the member was removed.
    let after: StoredValue?

    /// The changes, in no order. They may include a dictionary that is equal and has other storage.
    static func changes(from before: [String: StoredValue], to after: [String: StoredValue]) -> [MemberChange] {
        var changes: [MemberChange] = []
        var added = 0
        after.forEach(besides: before) { key, value, former in
            if let former, former.key.hasSameBytes(as: key) {
                if mayDiffer(former.value, value) {
                    changes.append(MemberChange(key: key, before: former.value, after: value))
                }
                return true
            }
            if let former {
                changes.append(MemberChange(key: former.key, before: former.value, after: nil))
            } else {
                added += 1
            }
            changes.append(MemberChange(key: key, before: nil, after: value))
            return true
        }
        if before.count + added > after.count {
            for (key, value) in before where after.index(forKey: key) == nil {
                changes.append(MemberChange(key: key, before: value, after: nil))
            }
        }
        return changes
    }

    /// Whether two values may differ. Does not compare the members of dictionaries, because the writer compares them
    /// later.
    private static func mayDiffer(_ left: StoredValue, _ right: StoredValue) -> Bool {
        guard case .dictionary(let left) = left, case .dictionary(let right) = right else { return left != right }
        return !left.isIdentical(to: right)
    }
}

extension [String: StoredValue] {
    /// Calls the closure with each member and the member of another dictionary that has an equal key, until the closure
    /// returns false.
    ///
    /// A changed copy of a dictionary has its members in almost the same order. So most are found without a search.
    @inline(__always)
    func forEach(besides other: Self, _ body: (String, StoredValue, _ other: Element?) -> Bool) {
        var next = other.startIndex
        for (key, value) in self {
            if next == other.endIndex || !other[next].key.hasSameBytes(as: key) {
                guard let found = other.index(forKey: key) else {
                    if body(key, value, nil) { continue }
                    return
                }
                next = found
            }
            guard body(key, value, other[next]) else { return }
            next = other.index(after: next)
        }
    }
}
