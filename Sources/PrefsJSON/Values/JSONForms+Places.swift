import PrefsPropertyLists

/// Writes to a file that people write. Its raw values have forms of their own and parts that no type knows. Its
/// canonical values are those that the types store.
extension JSONForms {
    func written(
        _ value: StoredValue, over raw: StoredValue?, from before: StoredValue?, isRead: ((StoredValue) -> Bool)?
    ) -> StoredValue {
        if let raw, before == value { return raw }
        guard let isRead else { return .written(over: raw, from: before, to: value, nil) }
        // A type may not read the form in which other types are written.
        for forms in [self, exact, nil] {
            let written = StoredValue.written(over: raw, from: before, to: value, forms)
            if written == value || isRead(written) { return written }
        }
        return value
    }

    func raw(_ exact: StoredValue) -> StoredValue { .written(over: nil, from: nil, to: exact, self.exact) }
}

extension StoredValue {
    /// The raw value after a change of its canonical form. Only the parts that differ are written anew, in the form
    /// that stood there; a null stays until its key gets a value. Costs time linear in the values.
    ///
    /// - Parameters:
    ///   - raw: the former raw value; nil for a new value.
    ///   - before: the canonical form of `raw`.
    ///   - after: the new canonical form.
    ///   - forms: the forms that people write; nil for the exact ones.
    fileprivate static func written(
        over raw: StoredValue?, from before: StoredValue?, to after: StoredValue, _ forms: JSONForms?
    ) -> StoredValue {
        if let raw, before == after { return raw }
        switch (raw, before, after) {
        case (.dictionary(let raw)?, .dictionary(let before)?, .dictionary(let after)):
            return .dictionary(written(over: raw, from: before, to: after, forms))
        case (.array(let raw)?, .array(let before)?, .array(let after)):
            return .array(WrittenList(raw: raw, before: before, forms: forms).written(to: after))
        case (_, _, .dictionary(let members)):
            return .dictionary(members.mapValues { written(over: nil, from: nil, to: $0, forms) })
        case (_, _, .array(let elements)):
            return .array(elements.map { written(over: nil, from: nil, to: $0, forms) })
        default: return forms?.written(after, inPlaceOf: raw) ?? after
        }
    }

    private static func written(
        over raw: [String: StoredValue], from before: [String: StoredValue], to after: [String: StoredValue],
        _ forms: JSONForms?
    ) -> [String: StoredValue] {
        var result = raw
        for (key, value) in before where after.index(forKey: key) == nil && !value.isNull { result[key] = nil }
        for (key, value) in after { result[key] = written(over: raw[key], from: before[key], to: value, forms) }
        return result
    }
}

/// A raw list, and its canonical form.
private struct WrittenList {
    let raw: [StoredValue]
    let before: [StoredValue]
    let forms: JSONForms?

    func written(to after: [StoredValue]) -> [StoredValue] {
        if before.elementsEqual(raw) { return aligned(Array(raw.indices), before, to: after) }
        let known = Set(raw)
        // A set, whose canonical form is sorted.
        if known == Set(before) {
            let new = Set(after)
            return raw.filter(new.contains) + after.filter { !known.contains($0) }.map(added)
        }
        if let values = canonicalOfSet() {
            let (known, new) = (Set(values), Set(after))
            return zip(raw, values).filter { new.contains($1) }.map { $0.0 }
                + after.filter { !known.contains($0) }.map(added)
        }
        if raw.count == before.count { return aligned(Array(raw.indices), before, to: after) }
        // Other code does not see nulls.
        let shown = raw.indices.filter { !raw[$0].isNull }
        return shown.count == before.count ? aligned(shown, before, to: after) : after.map(added)
    }

    /// The canonical forms of the raw elements of a set, which stand in another order; nil for a list.
    private func canonicalOfSet() -> [StoredValue]? {
        func isForm(_ raw: StoredValue, of value: StoredValue) -> Bool { forms?.written(value, inPlaceOf: raw) == raw }
        // The search takes the square of the count.
        guard raw.count == before.count, raw.count <= 1_000, Set(before).count == before.count,
            !zip(raw, before).allSatisfy({ isForm($0, of: $1) })
        else { return nil }
        var rest = before
        var values: [StoredValue] = []
        for element in raw {
            guard let index = rest.firstIndex(where: { isForm(element, of: $0) }) else { return nil }
            values.append(rest.remove(at: index))
        }
        return values
    }

    /// A new element, in the form of the others.
    private func added(_ element: StoredValue) -> StoredValue {
        element.isContainer
            ? .written(over: nil, from: nil, to: element, forms)
            : forms?.written(element, inPlaceOf: raw.last) ?? element
    }

    /// The elements that are equal at the start and at the end stay; those between are changed in their order.
    ///
    /// - Parameters:
    ///   - places: the indices of raw elements. Those between them stay.
    ///   - before: the canonical elements at the places.
    private func aligned(_ places: [Int], _ before: [StoredValue], to after: [StoredValue]) -> [StoredValue] {
        let (start, end) = before.commonEnds(with: after)
        var result: [StoredValue] = []
        var copied = 0
        for (index, place) in places.enumerated() {
            if index == before.count - end {
                result += after[min(index, after.count - end)..<(after.count - end)].map(added)
            }
            result += raw[copied..<place]
            copied = place + 1
            if index < start || index >= before.count - end {
                result.append(raw[place])
            } else if index < after.count - end {
                result.append(.written(over: raw[place], from: before[index], to: after[index], forms))
            }
        }
        result += raw[copied...]
        return end == 0 ? result + after[min(before.count, after.count)...].map(added) : result
    }
}
