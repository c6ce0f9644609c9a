import Foundation

/// The fields of a stored value that its type does not know, for example those of a newer version of the program.
package enum UnknownFields {
    /// Returns a new value with the unknown fields of the old one.
    ///
    /// A field is unknown if the decoder of its dictionary's type neither asked for it nor has a `CodingKey` for it. It is added to the
    /// dictionary at the same path of the new value, if that lacks the key. Elements of arrays correspond if their known parts are
    /// equal, or else, in arrays of equal count that are not sets, if their indices are equal. Fields without a corresponding dictionary are dropped.
    ///
    /// Cost: linear in the two values for each level of nested arrays; without unknown fields, linear in the number of dictionaries.
    ///
    /// - Parameters:
    ///   - new: in canonical form, as encoded.
    ///   - old: in canonical form, as stored.
    ///   - keys: what a decoding of `old` has recorded.
    package static func preserved(in new: Any, from old: Any, keys: [CodedKeys]) -> Any {
        var fields = FieldTree()
        for keys in keys { fields.insert(Set(keys.unknown), at: keys.place[...]) }
        return fields.isEmpty ? new : fields.added(to: new, from: old)
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

    func added(to new: Any, from old: Any) -> Any {
        switch (CanonicalForm(new), CanonicalForm(old)) {
        case (.dictionary(var members), .dictionary(let stored)):
            for (step, branch) in branches {
                guard case .key(let key) = step, let member = members[key], let other = stored[key] else { continue }
                members[key] = branch.added(to: member, from: other)
            }
            for key in fields where members.index(forKey: key) == nil { members[key] = stored[key] }
            return members
        case (.list(var elements), .list(let stored)):
            for (index, source) in sources(of: elements, in: stored) {
                guard let branch = branch(at: source) else { continue }
                elements[index] = branch.added(to: elements[index], from: stored[source])
            }
            return elements
        default: return new
        }
    }

    private func branch(at index: Int) -> FieldTree? { branches[.index(index)] ?? branches[.member(index)] }

    /// The index of the stored element that each element corresponds to. Of equal elements, the first corresponds to the first.
    private func sources(of elements: [Any], in stored: [Any]) -> [Int: Int] {
        var free: [KnownPart: [Int]] = [:]
        for (index, element) in stored.enumerated().reversed() {
            free[KnownPart(branch(at: index)?.removed(from: element) ?? element), default: []].append(index)
        }
        var sources: [Int: Int] = [:]
        for (index, element) in elements.enumerated() { sources[index] = free[KnownPart(element)]?.popLast() }
        let isSet = branches.keys.contains { if case .member = $0 { true } else { false } }
        guard elements.count == stored.count, !isSet else { return sources }
        let used = Set(sources.values)
        for index in elements.indices where sources[index] == nil && !used.contains(index) { sources[index] = index }
        return sources
    }

    /// What the type knows of a stored value.
    private func removed(from old: Any) -> Any {
        switch CanonicalForm(old) {
        case .dictionary(var members):
            for (step, branch) in branches {
                if case .key(let key) = step, let member = members[key] { members[key] = branch.removed(from: member) }
            }
            for field in fields { members[field] = nil }
            return members
        case .list(var elements):
            for (step, branch) in branches {
                switch step {
                case .index(let index), .member(let index):
                    if elements.indices.contains(index) { elements[index] = branch.removed(from: elements[index]) }
                case .key: break
                }
            }
            return elements
        default: return old
        }
    }
}

/// A canonical value that can be looked up.
private struct KnownPart: Hashable {
    let value: Any

    init(_ value: Any) { self.value = value }

    static func == (left: KnownPart, right: KnownPart) -> Bool { CanonicalValue.areEqual(left.value, right.value) }

    func hash(into hasher: inout Hasher) {
        switch CanonicalForm(value) {
        case .text(let text): Self.hash(text, into: &hasher)
        case .bool(let bool): hasher.combine(bool)
        case .number(let number): Self.hash(number, into: &hasher)
        case .date(let date): hasher.combine(date.timeIntervalSinceReferenceDate.bitPattern)
        case .data(let data): hasher.combine(data)
        case .list(let elements):
            hasher.combine(elements.count)
            for element in elements { KnownPart(element).hash(into: &hasher) }
        case .dictionary(let members):
            // The order of a dictionary is not part of its value.
            var hashes = 0
            for (key, value) in members {
                var member = Hasher()
                Self.hash(key, into: &member)
                KnownPart(value).hash(into: &member)
                hashes ^= member.finalize()
            }
            hasher.combine(hashes)
        case .uid, .foreign: break
        }
    }

    /// By its bytes, because the characters of a long text take too long.
    private static func hash(_ text: String, into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    private static func hash(_ number: NSNumber, into hasher: inout Hasher) {
        switch CanonicalNumber(number) {
        case .bool(let value): hasher.combine(value)
        case .integer(let value): hasher.combine(value)
        case .unsigned(let value): hasher.combine(value)
        case .double(let bits): hasher.combine(bits)
        }
    }
}
