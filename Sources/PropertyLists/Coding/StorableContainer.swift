import Foundation

/// Finds the codings of what a container holds: `CodingRule`, which asks containers in turn.
package protocol ContentCodings {
    /// nil if the type cannot be stored in a container.
    func coding<Content>(of type: Content.Type) -> PrefCoding<Content>?
}

/// A type whose values hold other values.
package protocol StorableContainer {
    /// A `PrefCoding<Self>`; nil if its elements cannot be stored.
    static func coding(_ contents: some ContentCodings) -> Any?
    /// The type of its contents.
    static var contentType: Any.Type { get }
}

extension Array: StorableContainer {
    package static var contentType: Any.Type { Element.self }

    package static func coding(_ contents: some ContentCodings) -> Any? {
        guard let coding = contents.coding(of: Element.self) else { return nil }
        return PrefCoding<[Element]>(
            encode: { .array(try $0.encoded(by: coding)) },
            decode: { stored, form in try decoded(stored) { (try coding.decoding($0, form), []) }.value },
            decodeFields: coding.decodeFields.map { decode in
                { stored, form, _ in try decoded(stored) { try decode($0, form) { nil } } }
            })
    }

    /// Elements have no fallback, because it is unknown which element of the default corresponds.
    fileprivate static func decoded(
        _ stored: StoredValue, _ decode: (StoredValue) throws -> (Element, [CodedKeys])
    ) throws -> (value: [Element], keys: [CodedKeys]) {
        guard case .array(let elements) = stored else { throw ValueMismatch(expected: Self.self, found: stored) }
        var result: (value: [Element], keys: [CodedKeys]) = ([], [])
        result.value.reserveCapacity(elements.count)
        do {
            for element in elements {
                let (value, fields) = try decode(element)
                let index = result.value.count
                result.value.append(value)
                if !fields.isEmpty { result.keys += fields.map { $0.inside(.index(index)) } }
            }
        } catch {
            throw ValueMismatch(error, in: Element.self).inside("[\(result.value.count)]")
        }
        return result
    }
}

extension Set: StorableContainer {
    package static var contentType: Any.Type { Element.self }

    package static func coding(_ contents: some ContentCodings) -> Any? {
        guard let coding = contents.coding(of: Element.self) else { return nil }
        return PrefCoding<Set<Element>>(
            encode: { .array(try $0.map(coding.element).sorted(by: StoredValue.precedes)) },
            decode: { stored, form in Set(try [Element].decoded(stored) { (try coding.decoding($0, form), []) }.value)
            },
            decodeFields: coding.decodeFields.map { decode in
                { stored, form, _ in
                    let (elements, fields) = try [Element].decoded(stored) { try decode($0, form) { nil } }
                    return (Set(elements), fields.map { $0.inSet() })
                }
            })
    }
}

extension Array {
    fileprivate func encoded(by coding: PrefCoding<Element>) throws -> [StoredValue] {
        var result: [StoredValue] = []
        result.reserveCapacity(count)
        // Neither by `enumerated()` nor by a call of the coding: code that is not compiled for the type looks up their types
        // for each element.
        let encode = coding.encode
        do {
            for value in self { result.append(try encode(value) ?? NilMarker.value) }
        } catch {
            throw ValueMismatch(encoding: error, of: Element.self).inside("[\(result.count)]")
        }
        return result
    }
}

/// Keys are strings, or have raw values that are strings.
extension Dictionary: StorableContainer {
    package static var contentType: Any.Type { Value.self }

    package static func coding(_ contents: some ContentCodings) -> Any? {
        guard let keys = textKeys, let coding = contents.coding(of: Value.self) else { return nil }
        return PrefCoding<[Key: Value]>(
            encode: { .dictionary(try $0.encoded(by: coding, keys.text)) },
            decode: { stored, form in try decoded(stored, keys.key) { (try coding.decoding($0, form), []) }.value },
            decodeFields: coding.decodeFields.map { decode in
                { stored, form, _ in try decoded(stored, keys.key) { try decode($0, form) { nil } } }
            })
    }

    private func encoded(by coding: PrefCoding<Value>, _ text: (Key) -> String) throws -> [String: StoredValue] {
        var members: [String: StoredValue] = [:]
        members.reserveCapacity(count)
        for (key, value) in self {
            let text = text(key)
            let member: StoredValue
            do {
                member = try coding.element(value)
            } catch {
                throw ValueMismatch(encoding: error, of: Value.self).inside(".\(text)")
            }
            // Two spellings of one letter are one key of a dictionary. Two raw values may be one key, too.
            guard members.updateValue(member, forKey: text) == nil else {
                throw ValueMismatch(reason: "two keys have the same string")
            }
        }
        return members
    }

    private static func decoded(
        _ stored: StoredValue, _ key: (String) -> Key?, _ decode: (StoredValue) throws -> (Value, [CodedKeys])
    ) throws -> (value: [Key: Value], keys: [CodedKeys]) {
        guard let members = stored.dictionary ?? pairs(in: stored, isKey: { key($0) != nil }) else {
            throw ValueMismatch(expected: Self.self, found: stored)
        }
        var result: (value: [Key: Value], keys: [CodedKeys]) = ([:], [])
        result.value.reserveCapacity(members.count)
        for (text, member) in members {
            guard let key = key(text) else {
                throw ValueMismatch(reason: "expected a key of type \(Key.self), found another string").inside(
                    ".\(text)")
            }
            do {
                let (value, fields) = try decode(member)
                result.value[key] = value
                result.keys += fields.map { $0.inside(.key(text)) }
            } catch {
                throw ValueMismatch(error, in: Value.self).inside(".\(text)")
            }
        }
        return result
    }

    /// The members in the array that `PropertyListEncoder` stores for a dictionary whose keys are not String: keys and
    /// values in turn.
    private static func pairs(in stored: StoredValue, isKey: (String) -> Bool) -> [String: StoredValue]? {
        guard Key.self != String.self, let elements = stored.array, elements.count.isMultiple(of: 2) else {
            return nil
        }
        var result: [String: StoredValue] = [:]
        for index in stride(from: 0, to: elements.count, by: 2) {
            guard let key = elements[index].string, isKey(key) else { return nil }
            result[key] = elements[index + 1]
        }
        return result
    }

    private static var textKeys: (text: (Key) -> String, key: (String) -> Key?)? {
        if Key.self == String.self { return ({ $0 as? String ?? "" }, { $0 as? Key }) }
        guard let raw = Key.self as? any RawRepresentable.Type else { return nil }
        return textKeys(raw) as? (text: (Key) -> String, key: (String) -> Key?)
    }

    private static func textKeys<Raw: RawRepresentable>(_ type: Raw.Type) -> Any? {
        guard Raw.RawValue.self == String.self else { return nil }
        let text: (Key) -> String = { (($0 as? Raw)?.rawValue as? String) ?? "" }
        let key: (String) -> Key? = { ($0 as? Raw.RawValue).flatMap { Raw(rawValue: $0) } as? Key }
        return (text: text, key: key)
    }
}

/// An optional. nil is absent at the top level, and a marker inside containers.
package protocol StorableOptional: StorableContainer {
    /// A `PrefCoding<Self>`; nil if the wrapped type cannot be stored.
    static func topLevelCoding(_ contents: some ContentCodings) -> Any?
}

extension Optional: StorableOptional {
    package static var contentType: Any.Type { Wrapped.self }

    package static func topLevelCoding(_ contents: some ContentCodings) -> Any? {
        guard let coding = contents.coding(of: Wrapped.self) else { return nil }
        return PrefCoding<Wrapped?>(
            encode: { try $0.map(coding.element) }, decode: { try coding.decoding($0, inner($1, isElement: false)) },
            decodeFields: coding.decodeFields.map { decode in { try decode($0, $1, $2) } }, isCheap: coding.isCheap)
    }

    package static func coding(_ contents: some ContentCodings) -> Any? {
        guard let coding = contents.coding(of: Wrapped.self) else { return nil }
        return PrefCoding<Wrapped?>(
            encode: { try $0.map { NilMarker.escaped(try coding.element($0)) } ?? NilMarker.value },
            decode: { stored, form in
                let form = inner(form, isElement: true)
                return NilMarker.isMarker(stored, in: form)
                    ? nil : try coding.decoding(NilMarker.unescaped(stored, in: form), form)
            },
            decodeFields: coding.decodeFields.map { decode in
                { stored, form, fallback in
                    let form = inner(form, isElement: true)
                    return NilMarker.isMarker(stored, in: form)
                        ? (nil, []) : try decode(NilMarker.unescaped(stored, in: form), form, fallback)
                }
            },
            isCheap: coding.isCheap)
    }

    /// The form of the value in the optional. nil has a marker in it if the value may be nil, too, because one null cannot
    /// stand for both.
    private static func inner(_ form: ValueForm, isElement: Bool) -> ValueForm {
        if !form.hasOwnNull || Wrapped.self == String.self { return form }
        let mayBeNil =
            isElement || Wrapped.self is any StorableOptional.Type || Wrapped.self is any RawRepresentable.Type
        return mayBeNil ? form.marked : form
    }
}

extension PrefCoding {
    /// The stored form of a value in a container. The rule never returns nil there.
    fileprivate func element(_ value: Value) throws -> StoredValue { try encode(value) ?? NilMarker.value }
}

/// The values of types with few values.
package enum ListedValues {
    private static let most = 256

    /// All values of a type, without nil for an optional; nil if they cannot be listed.
    package static func all(of type: Any.Type) -> [Any]? {
        if let optional = type as? any StorableOptional.Type { return all(of: optional.contentType) }
        if let listed = type as? any CaseIterable.Type { return cases(of: listed) }
        return (type as? any StorableScalar.Type)?.all
    }

    private static func cases<T: CaseIterable>(of type: T.Type) -> [Any]? {
        let cases = Array(T.allCases.prefix(most + 1))
        return cases.count > most ? nil : cases
    }
}
