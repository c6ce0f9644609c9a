import Foundation

/// Makes property-list objects of Codable values, without bytes in between.
///
/// What it makes is what `PropertyListEncoder` would, but that URL and Decimal are texts, that sets are sorted, and the
/// pairs of a dictionary that is stored as a list, and that a text that could be taken for the marker of nil is escaped.
package enum PropertyListObjectEncoder {
    package static func object(from value: some Encodable) throws -> Any {
        let node = EncodingNode()
        let place = CodingContext()
        do {
            try node.encode(value, at: place)
            guard let object = node.object else { throw ValueMismatch(reason: "\(type(of: value)) encodes nothing") }
            return object
        } catch {
            throw ValueMismatch(encoding: error, of: type(of: value), noted: place.notes)
        }
    }
}

struct ObjectEncoder: Encoder, SingleValueEncodingContainer {
    let node: EncodingNode
    let place: CodingContext

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
    let place: CodingContext

    var codingPath: [any CodingKey] { place.path }

    func encodeNil(forKey key: Key) {
        node.setMember(key.stringValue, NilMarker.text)
    }

    func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        if let scalar = EncodingNode.scalar(value, place.notes) {
            node.setMember(key.stringValue, scalar)
            return place.notes.noteSuccess()
        }
        try node.member(key.stringValue).encodeParts(of: value, at: place.inside(key))
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
    let place: CodingContext

    var codingPath: [any CodingKey] { place.path }
    var count: Int { node.count }

    func encodeNil() {
        node.append(NilMarker.text)
    }

    func encode<T: Encodable>(_ value: T) throws {
        if let scalar = EncodingNode.scalar(value, place.notes) {
            node.append(scalar)
            return place.notes.noteSuccess()
        }
        let index = count
        try node.append().encodeParts(of: value, at: place.inside(PlaceKey(index)))
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
