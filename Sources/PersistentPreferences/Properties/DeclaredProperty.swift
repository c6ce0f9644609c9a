package import PrefsPropertyLists

/// A `PrefProperty` of any type.
package protocol DeclaredProperty: AnyObject, Sendable {
    /// The keys in the declaration: one, or none if the key is the name of the property. More are a mistake.
    var givenKeys: [String] { get }
    var formerKeys: [String] { get }
    var valueType: Any.Type { get }
    var anyDefaultValue: Any { get }
    /// The stored form of the default; nil if the default has no stored form.
    var storedDefault: StoredValue? { get }
    var constraintDescription: String? { get }
    /// Why the default is not valid; nil if it is.
    var defaultViolation: String? { get }
    /// Whether its values are hidden: `@Pref(.sensitive)`.
    var isSensitive: Bool { get }
    var isRequired: Bool { get }
    /// Whether the fields of its values are merged: `@Pref(.merged)`.
    var isMerged: Bool { get }
    var help: String? { get }
    /// The new value with the fields of the stored one that the type does not know.
    func withUnknownFields(
        _ new: StoredValue, of stored: StoredValue, as form: ValueForm, in state: InstanceState
    ) -> StoredValue
    /// Converts a value that a person has written to the form in which the property stores it. Missing fields come from
    /// the default.
    ///
    /// - Parameters:
    ///   - form: the accepted form of the value.
    ///   - keepsUnknownFields: whether the result has the fields that the type does not know.
    /// - Throws: as a read does.
    func canonical(
        _ stored: StoredValue, forKey key: String, from form: ValueForm, keepsUnknownFields: Bool
    ) throws(PrefsError) -> StoredValue
    /// Why the value stored under a key cannot be read: it is of another type, or violates the constraint. nil if it
    /// can be read.
    ///
    /// - Parameter form: the form that is accepted if the value does not have the exact form.
    func error(of stored: StoredValue, forKey key: String, as form: ValueForm) -> PrefsError?
}

extension DeclaredProperty {
    /// The value as a file of the form has it: see `ValueForm.written`. It reads as exactly this value.
    package func written(
        _ value: StoredValue, forKey key: String, over raw: StoredValue? = nil, from before: StoredValue? = nil,
        _ form: ValueForm
    ) -> StoredValue {
        // A part of a struct reads as the whole.
        let read = isMerged ? (try? canonical(value, forKey: key, from: .exact)) ?? value : value
        return form.written(value, over: raw, from: before) {
            (try? self.canonical($0, forKey: key, from: form)) == read
        }
    }

    /// The fields by which its values are merged; nil if a value is a whole.
    package var sectionFields: SectionFields? {
        isMerged ? SectionFields(of: anyDefaultValue, storedAs: storedDefault) : nil
    }

    /// nil if the key is the name of the property.
    package var explicitKey: String? { givenKeys.first }

    package func canonical(
        _ stored: StoredValue, forKey key: String, from form: ValueForm
    ) throws(PrefsError) -> StoredValue {
        try canonical(stored, forKey: key, from: form, keepsUnknownFields: true)
    }

    package func error(of stored: StoredValue, forKey key: String) -> PrefsError? {
        error(of: stored, forKey: key, as: .exact)
    }
}

/// A wrapper that a mirror finds in an instance.
protocol PrefWrapper {
    var declaredProperty: any DeclaredProperty { get }
}

// MARK: - Mending

/// Values that cannot be read, and are mended step by step: the elements of a list that lack a new field, for example.
extension DeclaredProperty {
    /// Whether the new value has fewer faults than the former one, which cannot be read.
    package func isMended(_ former: StoredValue, by new: StoredValue, forKey key: String, as form: ValueForm) -> Bool {
        // Equal elements have equal faults, so a list with many of them is mended without a count of all.
        let (former, new) = StoredValue.differingElements(former, new) ?? (former, new)
        guard let before = faults(in: former, forKey: key, as: form), before > FaultCount(),
            let after = faults(in: new, forKey: key, as: form)
        else { return false }
        return after < before
    }

    /// Counts what must be left out of a value, or added to it, so that it can be read. nil if it stays unreadable, or
    /// if that takes more than a thousand looks, each of which decodes the value.
    private func faults(in stored: StoredValue, forKey key: String, as form: ValueForm) -> FaultCount? {
        var rest = stored
        var count = FaultCount()
        var looks = 0
        while looks < 1_000 {
            looks += 1
            guard let failure = error(of: rest, forKey: key, as: form)?.failures.first else { return count }
            guard failure.path.hasPrefix(key) else { return nil }
            if let next = withMissingKey(rest, failure, forKey: key, as: form, &looks) {
                count.added += 1
                rest = next
            } else if let next = rest.replacing(at: failure.path.dropFirst(key.count), with: { _ in nil }) {
                count.leftOut += 1
                rest = next
            } else {
                return nil
            }
        }
        return nil
    }

    /// The value with a value of any type for the key that it lacks, so that the next fault can be found; nil if none
    /// fits.
    private func withMissingKey(
        _ stored: StoredValue, _ failure: PropertyListFailure, forKey key: String, as form: ValueForm,
        _ looks: inout Int
    ) -> StoredValue? {
        guard let missing = failure.missingKey else { return nil }
        let values: [StoredValue] = [.bool(false), .integer(0), .string(""), .array([]), .dictionary([:])]
        let place = "\(failure.path).\(missing)"
        for value in values {
            guard let next = stored.adding(value, forKey: missing, at: failure.path.dropFirst(key.count)) else {
                return nil
            }
            looks += 1
            let other = error(of: next, forKey: key, as: form)?.failures.first
            // A struct lacks its own keys then.
            let fits = other.map { $0 != failure && (!$0.path.hasPrefix(place) || $0.missingKey != nil) } ?? true
            if fits { return next }
        }
        return nil
    }
}

/// The faults of a value that cannot be read. A part that must be left out weighs more than any number of missing keys,
/// because it may hide such keys.
private struct FaultCount: Comparable {
    var leftOut = 0
    var added = 0

    static func < (left: FaultCount, right: FaultCount) -> Bool {
        (left.leftOut, left.added) < (right.leftOut, right.added)
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

    /// The value with a member more in the dictionary at a path such as `[0].name`; nil if there is no such dictionary.
    fileprivate func adding(_ value: StoredValue, forKey key: String, at path: Substring) -> StoredValue? {
        var isThere = false
        let result = replacing(at: path) { part in
            guard case .dictionary(var members) = part else { return nil }
            isThere = true
            members[key] = value
            return .dictionary(members)
        }
        return isThere ? result : nil
    }

    /// The value with another part at a path such as `[0].name`. Without a new part, or if there is no such part, the part
    /// that the path leads into goes; nil if that is the value itself.
    fileprivate func replacing(at path: Substring, with new: (StoredValue) -> StoredValue?) -> StoredValue? {
        if path.isEmpty { return new(self) }
        switch self {
        case .array(var elements):
            guard let (index, rest) = Self.element(at: path, of: elements) else { return nil }
            if let part = elements[index].replacing(at: rest, with: new) {
                elements[index] = part
            } else {
                elements.remove(at: index)
            }
            return .array(elements)
        case .dictionary(var members):
            guard let (key, rest) = Self.member(at: path, of: members) else { return nil }
            members[key] = members[key]?.replacing(at: rest, with: new)
            return .dictionary(members)
        default: return nil
        }
    }

    /// The index of the element that a path begins with, and the rest of the path.
    private static func element(at path: Substring, of elements: [StoredValue]) -> (index: Int, rest: Substring)? {
        guard path.first == "[", let end = path.firstIndex(of: "]"), let index = Int(String(path[..<end].dropFirst())),
            elements.indices.contains(index)
        else { return nil }
        return (index, path[end...].dropFirst())
    }

    /// The key of the member that a path begins with, and the rest of the path.
    private static func member(
        at path: Substring, of members: [String: StoredValue]
    ) -> (key: String, rest: Substring)? {
        guard path.first == "." else { return nil }
        let name = path.dropFirst()
        // A key may contain a dot.
        let keys = members.keys.filter { key in
            name.hasPrefix(key) && [nil, ".", "["].contains(name.dropFirst(key.count).first)
        }
        return keys.max { $0.count < $1.count }.map { ($0, name.dropFirst($0.count)) }
    }
}
