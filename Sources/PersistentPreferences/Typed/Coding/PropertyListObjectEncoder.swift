import Foundation

/// Makes property-list objects of Codable values, without bytes in between.
///
/// What it makes is what `PropertyListEncoder` would, but that URL and Decimal are texts, that sets are sorted, and the
/// pairs of a dictionary that is stored as a list, and that a text that could be taken for the marker of nil is escaped.
enum PropertyListObjectEncoder {
    static func object(from value: some Encodable) throws -> Any {
        let node = EncodingNode()
        let place = CodingPlace()
        do {
            try node.encode(value, at: place)
            guard let object = node.object else { throw ValueMismatch(reason: "\(type(of: value)) encodes nothing") }
            return object
        } catch {
            throw ValueMismatch(encoding: error, of: type(of: value), noted: place.notes)
        }
    }
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
        case .list(let nodes): Self.objects(of: nodes)
        // A member that has encoded nothing is an empty dictionary, as it is for Foundation.
        case .dictionary(let nodes): nodes.mapValues { $0.object ?? [String: Any]() }
        }
    }

    private static func objects(of nodes: [EncodingNode]) -> [Any] {
        nodes.map { $0.object ?? [String: Any]() }
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

    /// - Parameter isContinued: whether what was encoded there before stays, rather than being replaced.
    func member(_ key: String, isContinued: Bool = false) -> EncodingNode {
        guard case .dictionary(var nodes) = content else { return EncodingNode() }
        if isContinued, let node = nodes[key] { return node }
        let node = EncodingNode()
        content = .nothing
        nodes[key] = node
        content = .dictionary(nodes)
        return node
    }

    func encode<T: Encodable>(_ value: T, at place: CodingPlace) throws {
        // The cast sees through optionals: a text in one has to be escaped as well.
        if let scalar = value as? any StorableScalar {
            setScalar(NilMarker.escaped(scalar.storable))
            return place.notes.noteSuccess()
        }
        do {
            try place.checkLimits()
            try value.encode(to: ObjectEncoder(node: self, place: place))
            // Once more, for containers that were nested by hand: those could not throw.
            try place.checkLimits()
            if case .list(let nodes) = content, let value = value as? any UnorderedValue {
                setScalar(type(of: value).ordered(Self.objects(of: nodes)))
            }
            place.notes.noteSuccess()
        } catch {
            place.notes.noteFailure(of: T.self, at: place)
            throw error
        }
    }
}

/// Equal values are equal lists, in whatever order they encode their elements.
private protocol UnorderedValue {
    static func ordered(_ elements: [Any]) -> [Any]
}

extension Set: UnorderedValue {
    static func ordered(_ elements: [Any]) -> [Any] {
        elements.sorted(by: CanonicalOrder.precedes)
    }
}

extension Dictionary: UnorderedValue {
    /// Keys that are neither texts nor integers are encoded as a list in which key and value alternate.
    static func ordered(_ elements: [Any]) -> [Any] {
        guard elements.count.isMultiple(of: 2) else { return elements }
        let pairs = stride(from: 0, to: elements.count, by: 2).map { elements[$0...($0 + 1)] }
        return pairs.sorted { CanonicalOrder.precedes($0[$0.startIndex], $1[$1.startIndex]) }.flatMap { $0 }
    }
}

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
        inner(key, isContinued: true).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        inner(key, isContinued: true).unkeyedContainer()
    }

    func superEncoder() -> any Encoder {
        inner(PlaceKey.super)
    }

    func superEncoder(forKey key: Key) -> any Encoder {
        inner(key)
    }

    private func inner(_ key: any CodingKey, isContinued: Bool = false) -> ObjectEncoder {
        let place = place.inside(key)
        // One that is too deep stands alone, or the chain would be too long for the stack to release.
        guard place.isWithinLimits() else { return ObjectEncoder(node: EncodingNode(), place: place) }
        return ObjectEncoder(node: node.member(key.stringValue, isContinued: isContinued), place: place)
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
        let place = place.inside(PlaceKey(count))
        guard place.isWithinLimits() else { return ObjectEncoder(node: EncodingNode(), place: place) }
        return ObjectEncoder(node: node.append(), place: place)
    }
}
