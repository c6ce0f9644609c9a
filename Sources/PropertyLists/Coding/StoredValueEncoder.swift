import Foundation

/// Encodes Codable values as values of a property list, without bytes in between.
///
/// The result equals the result of `PropertyListEncoder`, with these differences. URL and Decimal are strings. Sets are
/// sorted, and so are the pairs of a dictionary that is stored as an array. A string that could be mistaken for the
/// marker of nil is escaped.
package enum StoredValueEncoder {
    package static func value(of value: some Encodable) throws -> StoredValue {
        let node = EncodingNode()
        let context = CodingContext()
        do {
            try node.encode(value, in: context)
            guard let encoded = node.value else { throw ValueMismatch(reason: "\(type(of: value)) encoded no value") }
            return encoded
        } catch {
            throw ValueMismatch(encoding: error, of: type(of: value), at: context.state.failure)
        }
    }
}

struct ValueEncoder: Encoder, SingleValueEncodingContainer {
    let node: EncodingNode
    let context: CodingContext

    var codingPath: [any CodingKey] { context.path }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node.makeDictionary()
        return KeyedEncodingContainer(KeyedEncoder<Key>(node: node, context: context))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        node.makeList()
        return ListEncoder(node: node, context: context)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encodeNil() { node.setScalar(NilMarker.value) }

    func encode<T: Encodable>(_ value: T) throws {
        try node.encode(value, in: context.deeper)
    }
}

private struct KeyedEncoder<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: EncodingNode
    let context: CodingContext

    var codingPath: [any CodingKey] { context.path }

    func encodeNil(forKey key: Key) {
        node.setMember(key.stringValue, NilMarker.value)
    }

    func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        node.setMember(key.stringValue, try EncodingNode.part(value, in: context) { context.inside(key) })
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        nestedEncoder(key, isContinued: true).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        nestedEncoder(key, isContinued: true).unkeyedContainer()
    }

    func superEncoder() -> any Encoder {
        nestedEncoder(PathKey.super)
    }

    func superEncoder(forKey key: Key) -> any Encoder {
        nestedEncoder(key)
    }

    private func nestedEncoder(_ key: any CodingKey, isContinued: Bool = false) -> ValueEncoder {
        let context = context.inside(key)
        // A node that is too deep is not linked to the others, because the stack could not release so long a chain.
        guard context.isWithinLimits() else { return ValueEncoder(node: EncodingNode(), context: context) }
        return ValueEncoder(node: node.member(key.stringValue, isContinued: isContinued), context: context)
    }
}

private struct ListEncoder: UnkeyedEncodingContainer {
    let node: EncodingNode
    let context: CodingContext

    var codingPath: [any CodingKey] { context.path }
    var count: Int { node.count }

    func encodeNil() {
        node.append(NilMarker.value)
    }

    func encode<T: Encodable>(_ value: T) throws {
        node.append(try EncodingNode.part(value, in: context) { context.inside(PathKey(count)) })
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        nestedEncoder().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        nestedEncoder().unkeyedContainer()
    }

    func superEncoder() -> any Encoder {
        nestedEncoder()
    }

    private func nestedEncoder() -> ValueEncoder {
        let context = context.inside(PathKey(count))
        guard context.isWithinLimits() else { return ValueEncoder(node: EncodingNode(), context: context) }
        return ValueEncoder(node: node.append(), context: context)
    }
}
