import Foundation

/// Keeps fields that a type does not know, for example fields that a newer version of the program has stored.
package enum UnknownFields {
    /// Returns a new value, to which the unknown fields of the old one are added.
    ///
    /// A field is unknown if its type has no `CodingKey` for it, and the decoder did not ask for it. Each unknown field
    /// goes into the corresponding dictionary of the new value, unless that has the key. If there is no such
    /// dictionary, the field is dropped. What corresponds:
    /// - dictionaries at one path, such as `window.frame`;
    /// - elements of arrays whose known parts are equal;
    /// - the remaining elements with one index, if both arrays have equal counts and are not sets.
    ///
    /// Costs time linear in the two values for each level of nested arrays. Without unknown fields, costs time linear
    /// in the number of dictionaries.
    ///
    /// - Parameters:
    ///   - new: the encoded value.
    ///   - old: the stored value.
    ///   - keys: the record of a decoding of `old`: which keys of each dictionary its type does not know.
    package static func preserved(in new: StoredValue, from old: StoredValue, keys: [CodedKeys]) -> StoredValue {
        var fields = FieldTree()
        for keys in keys { fields.insert(Set(keys.unknown), at: keys.place[...]) }
        return fields.isEmpty ? new : fields.added(to: new, from: old)
    }

    /// Whether the new value lacks a field that the old value has in the corresponding place. If false, there is
    /// nothing to preserve.
    ///
    /// First compares elements of arrays by their index. If one lacks a field, or if the counts differ, elements may
    /// have moved: then any old element may correspond to any new one. The answer may be true although nothing is lost.
    ///
    /// Costs time linear in the two values for each level of nested arrays. Decodes nothing.
    package static func mayBeLost(from old: StoredValue, in new: StoredValue) -> Bool {
        switch (old, new) {
        case (.dictionary(let old), .dictionary(let new)):
            old.contains { key, part in new[key].map { mayBeLost(from: part, in: $0) } ?? true }
        case (.array(let old), .array(let new)):
            old.contains(where: \.isContainer)
                && (old.count != new.count || zip(old, new).contains { mayBeLost(from: $0, in: $1) })
                && mayBeLost(from: old, in: new)
        default: false
        }
    }

    /// Whether a field may be lost, if any old value may correspond to any new one: whether a new dictionary lacks a key
    /// that an old one has.
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

/// The unknown fields of one value, and of the values in it. Only parts with unknown fields have a branch.
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
            for (index, source) in sources(of: elements, in: stored).enumerated() {
                guard let source, let branch = branch(at: source) else { continue }
                elements[index] = branch.added(to: elements[index], from: stored[source])
            }
            return .array(elements)
        default: return new
        }
    }

    private func branch(at index: Int) -> FieldTree? { branches[.index(index)] ?? branches[.member(index)] }

    /// For the index of each new element, the index of the stored element that it corresponds to. Of equal elements,
    /// the first corresponds to the first, and so on.
    private func sources(of elements: [StoredValue], in stored: [StoredValue]) -> [Int?] {
        var free: [StoredValue: [Int]] = [:]
        for (index, element) in stored.enumerated().reversed() {
            free[branch(at: index)?.removed(from: element) ?? element, default: []].append(index)
        }
        var sources = elements.map { free[$0]?.popLast() }
        let isSet = branches.keys.contains { if case .member = $0 { true } else { false } }
        guard elements.count == stored.count, !isSet else { return sources }
        var isUsed = stored.map { _ in false }
        for case let source? in sources { isUsed[source] = true }
        for index in elements.indices where sources[index] == nil && !isUsed[index] { sources[index] = index }
        return sources
    }

    /// A stored value without its unknown fields.
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
