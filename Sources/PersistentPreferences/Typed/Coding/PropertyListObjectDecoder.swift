import Foundation

/// Makes Codable values of property-list objects, without bytes in between. Nothing stored can make it trap: what does
/// not fit throws.
enum PropertyListObjectDecoder {
    static func value<T: Decodable>(_ type: T.Type, from object: Any) throws -> T {
        do {
            return try ObjectDecoder(object: object, place: CodingPlace()).decode(type)
        } catch {
            throw ValueMismatch(error, in: type)
        }
    }
}

private struct ObjectDecoder: Decoder, SingleValueDecodingContainer {
    let object: Any
    let place: CodingPlace

    var codingPath: [any CodingKey] { place.path }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard let members = object as? [String: Any] else { throw mismatch([String: Any].self) }
        return KeyedDecodingContainer(KeyedDecoder<Key>(members: members, place: place))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard let elements = object as? [Any] else { throw mismatch([Any].self) }
        return ListDecoder(elements: elements, place: place)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { NilMarker.isMarker(object) }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        if type == String.self {
            guard let text = object as? String else { throw mismatch(type) }
            if let text = NilMarker.unescaped(text) as? T { return text }
        }
        if let scalar = type as? any StorableScalar.Type {
            guard let value = scalar.init(storable: object) as? T else { throw mismatch(type) }
            return value
        }
        // A type may decode itself from the same object again, without end.
        guard place.depth <= 2 * PropertyListLimits.fileDepth else { throw mismatch(type) }
        return try T(from: ObjectDecoder(object: object, place: place.deeper))
    }

    func mismatch(_ type: Any.Type) -> ValueMismatch {
        Self.mismatch(type, object, at: place)
    }

    static func mismatch(_ type: Any.Type, _ object: Any, at place: CodingPlace) -> ValueMismatch {
        ValueMismatch(expected: type, found: object).inside(ValueMismatch.text(of: place.path))
    }
}

private struct KeyedDecoder<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let members: [String: Any]
    let place: CodingPlace

    var codingPath: [any CodingKey] { place.path }
    var allKeys: [Key] { members.keys.compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { members.index(forKey: key.stringValue) != nil }

    func decodeNil(forKey key: Key) throws -> Bool { try member(key).decodeNil() }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try member(key).decode(type)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try member(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try member(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        try member(PlaceKey.super)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        try member(key)
    }

    private func member(_ key: any CodingKey) throws -> ObjectDecoder {
        guard let object = members[key.stringValue] else {
            throw DecodingError.keyNotFound(
                key, DecodingError.Context(codingPath: place.path, debugDescription: "missing"))
        }
        return ObjectDecoder(object: object, place: place.inside(key))
    }
}

private struct ListDecoder: UnkeyedDecodingContainer {
    let elements: [Any]
    let place: CodingPlace
    private(set) var currentIndex = 0

    init(elements: [Any], place: CodingPlace) {
        self.elements = elements
        self.place = place
    }

    var codingPath: [any CodingKey] { place.path }
    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex >= elements.count }

    mutating func decodeNil() throws -> Bool {
        guard try element(Never.self).decodeNil() else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        let value = try element(type).decode(type)
        currentIndex += 1
        return value
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        let container = try element(type).container(keyedBy: type)
        currentIndex += 1
        return container
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let container = try element([Any].self).unkeyedContainer()
        currentIndex += 1
        return container
    }

    mutating func superDecoder() throws -> any Decoder {
        let decoder = try element((any Decoder).self)
        currentIndex += 1
        return decoder
    }

    private func element(_ type: Any.Type) throws -> ObjectDecoder {
        let place = place.inside(PlaceKey(currentIndex))
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(
                type, DecodingError.Context(codingPath: place.path, debugDescription: "the list has ended"))
        }
        return ObjectDecoder(object: elements[currentIndex], place: place)
    }
}
