import Foundation

/// Makes property-list objects of Codable values, without bytes in between.
///
/// What it makes is what `PropertyListEncoder` would, but that URL and Decimal are texts, that sets are sorted, and that
/// a text that could be taken for the marker of nil is escaped.
enum PropertyListObjectEncoder {
    static func object(from value: some Encodable) throws -> Any {
        let node = EncodingNode()
        try node.encode(value, at: CodingPlace())
        guard let object = node.object else {
            throw EncodingError.invalidValue(
                value, EncodingError.Context(codingPath: [], debugDescription: "\(type(of: value)) encodes nothing"))
        }
        return object
    }
}

/// Where a coder stands: the way from the top, made into a list only when somebody asks.
struct CodingPlace {
    private final class Step {
        let key: any CodingKey
        let above: Step?

        init(_ key: any CodingKey, above: Step?) {
            self.key = key
            self.above = above
        }
    }

    private var last: Step?
    private(set) var depth = 0

    func inside(_ key: any CodingKey) -> CodingPlace {
        CodingPlace(last: Step(key, above: last), depth: depth + 1)
    }

    /// Deeper, without a key.
    var deeper: CodingPlace { CodingPlace(last: last, depth: depth + 1) }

    init() {}

    private init(last: Step?, depth: Int) {
        self.last = last
        self.depth = depth
    }

    var path: [any CodingKey] {
        var keys: [any CodingKey] = []
        var step = last
        while let current = step {
            keys.append(current.key)
            step = current.above
        }
        return keys.reversed()
    }
}

/// The key of a list's element, or of an encoder's `super`.
struct PlaceKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ index: Int) {
        stringValue = "Index \(index)"
        intValue = index
    }

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init?(intValue: Int) {
        self.init(intValue)
    }

    static let `super` = PlaceKey(stringValue: "super")
}

/// One object in the making. Containers of it that are asked for twice are the same container.
private final class EncodingNode {
    private enum Content {
        case nothing
        case scalar(Any)
        case list([EncodingNode])
        case dictionary([String: EncodingNode])
    }

    private var content = Content.nothing

    var object: Any? {
        switch content {
        case .nothing: nil
        case .scalar(let object): object
        // A member that has encoded nothing is an empty dictionary, as it is for Foundation.
        case .list(let nodes): nodes.map { $0.object ?? [String: Any]() }
        case .dictionary(let nodes): nodes.mapValues { $0.object ?? [String: Any]() }
        }
    }

    var count: Int {
        if case .list(let nodes) = content { nodes.count } else { 0 }
    }

    func setScalar(_ object: Any) {
        content = .scalar(object)
    }

    func makeList() {
        if case .list = content { return }
        content = .list([])
    }

    func makeDictionary() {
        if case .dictionary = content { return }
        content = .dictionary([:])
    }

    func append() -> EncodingNode {
        let node = EncodingNode()
        guard case .list(var nodes) = content else { return node }
        content = .nothing
        nodes.append(node)
        content = .list(nodes)
        return node
    }

    func member(_ key: String) -> EncodingNode {
        let node = EncodingNode()
        guard case .dictionary(var nodes) = content else { return node }
        content = .nothing
        nodes[key] = node
        content = .dictionary(nodes)
        return node
    }

    func encode<T: Encodable>(_ value: T, at place: CodingPlace) throws {
        guard place.depth <= PropertyListLimits.depth else {
            throw EncodingError.invalidValue(
                value,
                EncodingError.Context(
                    codingPath: place.path, debugDescription: "nested deeper than \(PropertyListLimits.depth) levels"))
        }
        if T.self == String.self, let text = value as? String {
            setScalar(NilMarker.escaped(text))
        } else if let scalar = value as? any StorableScalar {
            // A text that comes in an optional, too.
            setScalar(scalar is String ? NilMarker.escaped(scalar.storable) : scalar.storable)
        } else {
            try value.encode(to: ObjectEncoder(node: self, place: place))
            if value is any SetValue, case .list(let nodes) = content {
                // Equal sets are equal lists, in whatever order they come.
                setScalar(nodes.map { $0.object ?? [String: Any]() }.sorted(by: CanonicalOrder.precedes))
            }
        }
    }
}

private protocol SetValue {}
extension Set: SetValue {}

private struct ObjectEncoder: Encoder, SingleValueEncodingContainer {
    let node: EncodingNode
    let place: CodingPlace

    var codingPath: [any CodingKey] { place.path }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node.makeDictionary()
        return KeyedEncodingContainer(KeyedEncoder<Key>(node: node, place: place))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        node.makeList()
        return ListEncoder(node: node, place: place)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encodeNil() { node.setScalar(NilMarker.text) }

    func encode<T: Encodable>(_ value: T) throws {
        try node.encode(value, at: place.deeper)
    }
}

private struct KeyedEncoder<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: EncodingNode
    let place: CodingPlace

    var codingPath: [any CodingKey] { place.path }

    func encodeNil(forKey key: Key) {
        node.member(key.stringValue).setScalar(NilMarker.text)
    }

    func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        try node.member(key.stringValue).encode(value, at: place.inside(key))
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        inner(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        inner(key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder {
        inner(PlaceKey.super)
    }

    func superEncoder(forKey key: Key) -> any Encoder {
        inner(key)
    }

    private func inner(_ key: any CodingKey) -> ObjectEncoder {
        ObjectEncoder(node: node.member(key.stringValue), place: place.inside(key))
    }
}

private struct ListEncoder: UnkeyedEncodingContainer {
    let node: EncodingNode
    let place: CodingPlace

    var codingPath: [any CodingKey] { place.path }
    var count: Int { node.count }

    func encodeNil() {
        node.append().setScalar(NilMarker.text)
    }

    func encode<T: Encodable>(_ value: T) throws {
        let index = count
        try node.append().encode(value, at: place.inside(PlaceKey(index)))
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        inner().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        inner().unkeyedContainer()
    }

    func superEncoder() -> any Encoder {
        inner()
    }

    private func inner() -> ObjectEncoder {
        let index = count
        return ObjectEncoder(node: node.append(), place: place.inside(PlaceKey(index)))
    }
}
