/// The fields of a struct: those that the default of its property stores. Lists, dictionaries and enums have none: they are
/// single values.
package struct SectionFields {
    package let names: Set<String>
    /// The fields of fields that are structs, too.
    private let nested: [String: SectionFields]

    /// - Parameter value: a struct, or an optional of one; nil for all others.
    package init?(of value: Any, storedAs stored: StoredValue?) {
        var mirror = Mirror(reflecting: value)
        if mirror.displayStyle == .optional, let wrapped = mirror.children.first?.value {
            mirror = Mirror(reflecting: wrapped)
        }
        guard mirror.displayStyle == .struct, case .dictionary(let members)? = stored else { return nil }
        names = Set(members.keys.filter(StreamSafeText.isSafe))
        nested = mirror.children.reduce(into: [:]) { nested, child in
            guard let label = child.label else { return }
            nested[label] = SectionFields(of: child.value, storedAs: members[label])
        }
    }

    /// Whether a value has a field.
    package static func has(_ field: [String], in value: StoredValue?) -> Bool {
        field.reduce(value) { $0?.dictionary?[$1] } != nil
    }

    /// A value with the fields that a part has.
    package func merging(_ part: StoredValue, over value: StoredValue?) -> StoredValue {
        guard case .dictionary(let fields) = part, case .dictionary(var members)? = value else { return part }
        for (name, field) in fields { members[name] = nested[name]?.merging(field, over: members[name]) ?? field }
        return .dictionary(members)
    }

    /// The fields of a value that were written, although a read gives it those of the default, too.
    ///
    /// - Parameter raw: the value as it was written. A null in it is nil, or no value if the field cannot be nil.
    package func part(of value: StoredValue, writtenAs raw: StoredValue) -> StoredValue {
        guard case .dictionary(let members) = value, case .dictionary(let written) = raw else { return value }
        return .dictionary(
            written.reduce(into: [:]) { part, field in
                let value = members[field.key] ?? (field.value.isNull ? NilMarker.value : nil)
                guard let value, !field.value.isNull || NilMarker.isMarker(value) else { return }
                part[field.key] = nested[field.key]?.part(of: value, writtenAs: field.value) ?? value
            })
    }

    /// A stored part with the fields in which a new value differs from the one that was read.
    package func part(_ stored: StoredValue?, changedFrom old: StoredValue?, to new: StoredValue) -> StoredValue {
        guard case .dictionary(let after) = new, case .dictionary(let before)? = old else { return new }
        var fields = stored?.dictionary ?? [:]
        for (name, field) in after where before[name] != field {
            fields[name] = nested[name]?.part(fields[name], changedFrom: before[name], to: field) ?? field
        }
        for name in before.keys where after[name] == nil { fields[name] = nil }
        return .dictionary(fields)
    }

    /// A value with the marker of nil for each field that it lacks, so that no other value shows in its place.
    package func withMarkers(_ value: StoredValue) -> StoredValue {
        guard case .dictionary(var members) = value else { return value }
        for name in names {
            members[name] = members[name].map { nested[name]?.withMarkers($0) ?? $0 } ?? NilMarker.value
        }
        return .dictionary(members)
    }

    /// A value without the fields that are nil.
    package func withoutMarkers(_ value: StoredValue) -> StoredValue {
        guard case .dictionary(var members) = value else { return value }
        for name in names {
            guard let field = members[name] else { continue }
            members[name] = NilMarker.isMarker(field) ? nil : nested[name]?.withoutMarkers(field) ?? field
        }
        return .dictionary(members)
    }
}
