/// Writes a changed list: takes over the objects of the former list that are also in the new one.
extension BinaryPropertyListWriter {
    /// - Returns: whether the container is a dictionary.
    mutating func addParts(ofFormer object: Int) throws(DecodingFailure) -> Bool {
        guard let (isDictionary, parts) = try former?.parts(of: object) else { return false }
        for part in parts { references.append(try reference(toFormer: part)) }
        return isDictionary
    }

    private struct Edit {
        let change: MemberChange
        /// The index of the key among the former keys, or the index where it belongs.
        let index: Int
        let isFormerKey: Bool
    }

    /// Adds the members of a dictionary that has changed since the former list.
    mutating func addMembers(
        ofFormer object: Int, from before: [String: StoredValue], to after: [String: StoredValue]
    ) throws(DecodingFailure) {
        guard let (isDictionary, parts) = try former?.parts(of: object), isDictionary, parts.count == 2 * before.count
        else { throw .malformed("the former dictionary is another one") }
        var edits: [Edit] = []
        for change in MemberChange.changes(from: before, to: after).sorted(by: { $0.key.precedes($1.key) }) {
            let place = try former?.place(of: change.key, among: parts[..<before.count])
            guard let place, place.isFormer == (change.before != nil) else {
                throw .malformed("the former dictionary has other keys")
            }
            edits.append(Edit(change: change, index: place.index, isFormerKey: place.isFormer))
        }
        try addParts(parts[..<before.count], edits) { writer, edit, key throws(DecodingFailure) in
            if let key { return try writer.reference(toFormer: key) }
            return try writer.reference(to: .string(edit.change.key))
        }
        try addParts(parts[before.count...], edits) { writer, edit, value throws(DecodingFailure) in
            if let value, case .dictionary(let before) = edit.change.before,
                case .dictionary(let after) = edit.change.after
            {
                return writer.add(container: .changed(value, from: before, to: after))
            }
            return try writer.reference(to: edit.change.after ?? .bool(false))
        }
    }

    /// Adds references to the former keys, or to the former values. An edit inserts, replaces or leaves out one of
    /// them.
    private mutating func addParts(
        _ parts: ArraySlice<Int>, _ edits: [Edit],
        _ edited: (inout Self, Edit, _ former: Int?) throws(DecodingFailure) -> Int32
    ) throws(DecodingFailure) {
        var next = parts.startIndex
        for edit in edits {
            let place = parts.startIndex + edit.index
            while next < place {
                references.append(try reference(toFormer: parts[next]))
                next += 1
            }
            if edit.change.after != nil {
                references.append(try edited(&self, edit, edit.isFormerKey ? parts[place] : nil))
            }
            if edit.isFormerKey { next += 1 }
        }
        for part in parts[next...] { references.append(try reference(toFormer: part)) }
    }
}
