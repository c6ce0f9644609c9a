/// The keys of one dictionary of a stored value, and those that its type knows.
package final class CodedKeys {
    /// The path as messages show it.
    package var path: String { place.map(\.text).joined() }
    /// The path from the root of the value.
    package let place: [PlaceStep]
    private let present: Set<String>
    private var requested: Set<String> = []
    private var named: Set<String> = []

    init(place: [PlaceStep], present: Set<String>) {
        self.place = place
        self.present = present
    }

    /// The same record of a dictionary that is part of a larger value.
    func inside(_ step: PlaceStep) -> CodedKeys {
        let keys = CodedKeys(place: [step] + place, present: present)
        (keys.requested, keys.named) = (requested, named)
        return keys
    }

    /// The keys for which the type has neither asked nor a name.
    package var unknown: [String] { present.subtracting(requested).subtracting(named).sorted() }
    package var missing: [String] { requested.subtracting(present).sorted() }
    /// Whether the dictionary has keys, and its type knows none of them.
    package var areForeign: Bool { !present.isEmpty && present.isDisjoint(with: requested.union(named)) }

    func recordRequest(_ key: String) {
        requested.insert(key)
    }

    /// A type may read one dictionary through several kinds of keys.
    func recordNames<Key: CodingKey>(of type: Key.Type) {
        named.formUnion(present.filter { Key(stringValue: $0) != nil })
    }
}

/// One step of the path to a part of a value. A key may contain the characters that a path is written with.
package enum PlaceStep: Hashable {
    case key(String)
    case index(Int)

    var text: String {
        switch self {
        case .key(let key): ".\(key)"
        case .index(let index): "[\(index)]"
        }
    }
}
