import Foundation

/// The fields of a stored value that its type does not know, for example fields of a newer version of the program.
package enum UnknownFields {
    /// Returns a new value with the unknown fields of the old one.
    ///
    /// A field is unknown if the decoder of its dictionary's type neither asked for it nor has a `CodingKey` for it. It
    /// is added to the dictionary at the same path of the new value, if that dictionary lacks the key. Elements of
    /// arrays correspond if their known parts are equal, or else, in arrays of equal count that are not sets, if their
    /// indices are equal. Fields without a corresponding dictionary are dropped.
    ///
    /// Costs time linear in the two values for each level of nested arrays; without unknown fields, linear in the
    /// number of dictionaries.
    ///
    /// - Parameters:
    ///   - new: the encoded value.
    ///   - old: the stored value.
    ///   - keys: the record of a decoding of `old`.
    package static func preserved(in new: StoredValue, from old: StoredValue, keys: [CodedKeys]) -> StoredValue {
        var fields = FieldTree()
        for keys in keys { fields.insert(Set(keys.unknown), at: keys.place[...]) }
        return fields.isEmpty ? new : fields.added(to: new, from: old)
    }

    /// Whether the old value has a field in a place where the new value lacks it. If not, there is nothing to preserve.
    /// The place of an element is its index. If an element lacks a field, or the counts differ, elements may have
    /// moved, and each may correspond to every other.
    ///
    /// Costs time linear in the two values for each level of nested arrays. Decodes nothing.
    package static func mayBeLost(from old: StoredValue, in new: StoredValue) -> Bool {
        switch (old, new) {
        case (.dictionary(let old), .dictionary(let new)):
            old.contains { key, part in new[key].map { mayBeLost(from: part, in: $0) } ?? true }
        case (.array(let old), .array(let new)):
            (old.count != new.count || zip(old, new).contains { mayBeLost(from: $0, in: $1) })
                && mayBeLost(from: old, in: new)
        default: false
        }
    }

    /// Whether a field may be lost if any old value may correspond to any new one. Then each new dictionary needs all
    /// keys.
    private static func mayBeLost(from old: [StoredValue], in new: [StoredValue]) -> Bool {
        let (oldLists, newLists) = (old.compactMap(\.array), new.compactMap(\.array))
        if !oldLists.isEmpty, !newLists.isEmpty,
            mayBeLost(from: oldLists.flatMap { $0 }, in: newLists.flatMap { $0 })
        {
            return true
        }
        let (oldMembers, newMembers) = (old.compactMap(\.dictionary), new.compactMap(\.dictionary))
        guard !oldMembers.isEmpty, !newMembers.isEmpty else { return false }
        var oldParts: [String: [StoredValue]] = [:]
        for (key, part) in oldMembers.joined() { oldParts[key, default: []].append(part) }
        return oldParts.contains { key, oldParts in
            let newParts = newMembers.compactMap { $0[key] }
            return newParts.count < newMembers.count || mayBeLost(from: oldParts, in: newParts)
        }
    }
}

/// Unknown fields by their places. Only places with unknown fields have a branch.
private struct FieldTree {
    private var fields: Set<String> = []
    private var branches: [PlaceStep: FieldTree] = [:]

    var isEmpty: Bool { fields.isEmpty && branches.isEmpty }

    mutating func insert(_ unknown: Set<String>, at place: ArraySlice<PlaceStep>) {
        if unknown.isEmpty { return }
        guard let step = place.first else {
            fields.formUnion(unknown)
            return
        }
        branches[step, default: FieldTree()].insert(unknown, at: place.dropFirst())
    }

    func added(to new: StoredValue, from old: StoredValue) -> StoredValue {
        switch (new, old) {
        case (.dictionary(var members), .dictionary(let stored)):
            for (step, branch) in branches {
                guard case .key(let key) = step, let member = members[key], let other = stored[key] else { continue }
                members[key] = branch.added(to: member, from: other)
            }
            for key in fields where members.index(forKey: key) == nil { members[key] = stored[key] }
            return .dictionary(members)
        case (.array(var elements), .array(let stored)):
            for (index, source) in sources(of: elements, in: stored) {
                guard let branch = branch(at: source) else { continue }
                elements[index] = branch.added(to: elements[index], from: stored[source])
            }
            return .array(elements)
        default: return new
        }
    }

    private func branch(at index: Int) -> FieldTree? { branches[.index(index)] ?? branches[.member(index)] }

    /// The index of the stored element that each element corresponds to. Equal elements correspond in their order.
    private func sources(of elements: [StoredValue], in stored: [StoredValue]) -> [Int: Int] {
        var free: [StoredValue: [Int]] = [:]
        for (index, element) in stored.enumerated().reversed() {
            free[branch(at: index)?.removed(from: element) ?? element, default: []].append(index)
        }
        var sources: [Int: Int] = [:]
        for (index, element) in elements.enumerated() { sources[index] = free[element]?.popLast() }
        let isSet = branches.keys.contains { if case .member = $0 { true } else { false } }
        guard elements.count == stored.count, !isSet else { return sources }
        let used = Set(sources.values)
        for index in elements.indices where sources[index] == nil && !used.contains(index) { sources[index] = index }
        return sources
    }

    /// The part of a stored value that the type knows.
    private func removed(from old: StoredValue) -> StoredValue {
        switch old {
        case .dictionary(var members):
            for (step, branch) in branches {
                if case .key(let key) = step, let member = members[key] { members[key] = branch.removed(from: member) }
            }
            for field in fields { members[field] = nil }
            return .dictionary(members)
        case .array(var elements):
            for (step, branch) in branches {
                switch step {
                case .index(let index), .member(let index):
                    if elements.indices.contains(index) { elements[index] = branch.removed(from: elements[index]) }
                case .key: break
                }
            }
            return .array(elements)
        default: return old
        }
    }
}
