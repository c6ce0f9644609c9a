/// The keys of one dictionary of a stored value, and the keys that its type knows.
package final class CodedKeys {
    /// The path as messages show it.
    package var path: String { place.map(\.text).joined() }
    /// The path from the root of the value.
    package let place: [PlaceStep]
    private let present: Set<String>
    private var requested: Set<String> = []
    private var named: Set<String> = []
    /// The types that were asked for, by key.
    package private(set) var types: [String: [Any.Type]] = [:]
    /// The keys that may be nil.
    package private(set) var optional: Set<String> = []

    init(place: [PlaceStep], present: Set<String>) {
        self.place = place
        self.present = present
    }

    /// Returns this record for a dictionary that is part of a larger value.
    func inside(_ step: PlaceStep) -> CodedKeys {
        let keys = CodedKeys(place: [step] + place, present: present)
        (keys.requested, keys.named) = (requested, named)
        return keys
    }

    /// Returns this record for a dictionary in a set, where an index has no meaning.
    func inSet() -> CodedKeys {
        guard case .index(let index)? = place.first else { return self }
        let keys = CodedKeys(place: [.member(index)] + place.dropFirst(), present: present)
        (keys.requested, keys.named) = (requested, named)
        return keys
    }

    /// The keys that the type neither requests nor names.
    package var unknown: [String] { present.subtracting(requested).subtracting(named).sorted() }
    /// The requested keys that are missing.
    package var expected: [String] { requested.subtracting(present).sorted() }
    /// Whether the dictionary has keys and its type knows no key of them.
    package var areForeign: Bool { !present.isEmpty && present.isDisjoint(with: requested.union(named)) }

    func recordRequest(_ key: String) { requested.insert(key) }

    func recordType(_ type: Any.Type, of key: String) {
        if !types[key, default: []].contains(where: { $0 == type }) { types[key, default: []].append(type) }
    }

    func recordOptional(_ key: String) { optional.insert(key) }

    /// A type may read one dictionary through several kinds of keys.
    func recordNames<Key: CodingKey>(of type: Key.Type) {
        named.formUnion(present.filter { Key(stringValue: $0) != nil })
    }
}

/// One step of the path to a part of a value. A key may contain the characters that a path is written with.
package enum PlaceStep: Hashable {
    case key(String)
    case index(Int)
    /// The element of a set that is stored at this index.
    case member(Int)

    package var text: String {
        switch self {
        case .key(let key): ".\(key)"
        case .index(let index), .member(let index): "[\(index)]"
        }
    }
}
