import PrefsPropertyLists

/// Values that cannot be read, and are mended step by step: the elements of a list that lack a new field, for example.
extension DeclaredProperty {
    /// Whether the new value has fewer faults than the former one, which cannot be read.
    func isMended(_ former: StoredValue, by new: StoredValue, forKey key: String, as form: ValueForm) -> Bool {
        // Equal elements have equal faults, so a list with many of them is mended without a count of all.
        let (former, new) = StoredValue.differingElements(former, new) ?? (former, new)
        guard let before = faults(in: former, forKey: key, as: form), before > 0,
            let after = faults(in: new, forKey: key, as: form)
        else { return false }
        return after < before
    }

    /// The number of elements and members that must be left out so that the rest can be read; nil if it stays
    /// unreadable.
    private func faults(in stored: StoredValue, forKey key: String, as form: ValueForm) -> Int? {
        var rest = stored
        for count in 0..<1_000 {
            guard let failure = error(of: rest, forKey: key, as: form)?.failures.first else { return count }
            guard failure.path.hasPrefix(key),
                let next = rest.withoutPart(at: failure.path.dropFirst(key.count))
            else { return nil }
            rest = next
        }
        return nil
    }
}

extension StoredValue {
    /// Two lists without the elements that are equal at their starts and ends; nil if they are no lists.
    fileprivate static func differingElements(
        _ former: StoredValue, _ new: StoredValue
    ) -> (former: StoredValue, new: StoredValue)? {
        guard case .array(let old) = former, case .array(let new) = new else { return nil }
        let start = zip(old, new).prefix { $0 == $1 }.count
        let end = zip(old.dropFirst(start).reversed(), new.dropFirst(start).reversed()).prefix { $0 == $1 }.count
        return (.array(Array(old[start..<(old.count - end)])), .array(Array(new[start..<(new.count - end)])))
    }

    /// The value without the part at a path such as `[0].name`; nil if there is no such part.
    fileprivate func withoutPart(at path: Substring) -> StoredValue? {
        switch self {
        case .array(var elements):
            guard path.first == "[", let end = path.firstIndex(of: "]"),
                let index = Int(path[..<end].dropFirst()), elements.indices.contains(index)
            else { return nil }
            if let inner = elements[index].withoutPart(at: path[end...].dropFirst()) {
                elements[index] = inner
            } else {
                elements.remove(at: index)
            }
            return .array(elements)
        case .dictionary(var members):
            guard path.first == "." else { return nil }
            let name = path.dropFirst()
            // A key may contain a dot.
            let keys = members.keys.filter { key in
                name.hasPrefix(key) && [nil, ".", "["].contains(name.dropFirst(key.count).first)
            }
            guard let key = keys.max(by: { $0.count < $1.count }) else { return nil }
            members[key] = members[key]?.withoutPart(at: name.dropFirst(key.count))
            return .dictionary(members)
        default: return nil
        }
    }
}
