import Foundation

/// Decodes Codable values from values of a property list, without bytes in between. It never traps. A stored value that
/// does not fit throws a `DecodingError`, which the type may catch.
package enum StoredValueDecoder {
    static func value<T: Decodable>(
        _ type: T.Type, from stored: StoredValue, _ form: ValueForm = .exact
    ) throws -> T {
        let context = CodingContext(form)
        do {
            return try ValueDecoder(stored: stored, fallback: nil, context: context).value(type)
        } catch {
            throw ValueMismatch(error, in: type, at: context.state.failure)
        }
    }

    /// Decodes a value, and returns the record of the requested keys. Missing members come from a fallback.
    ///
    /// One member at a time comes from the fallback, so that a type that tries one key and then another finds the key
    /// that the object has.
    package static func value<T: Decodable>(
        _ type: T.Type, from stored: StoredValue, _ form: ValueForm = .exact, fallback: () -> StoredValue?
    ) throws -> (value: T, keys: [CodedKeys]) {
        var allowed: Set<String> = []
        var root: StoredValue?
        while true {
            let context = CodingContext(form)
            context.state.allowedFallbacks = allowed
            context.state.keys = [:]
            do {
                let value = try ValueDecoder(stored: stored, fallback: root, context: context).value(type)
                return (value, context.state.keys.map { Array($0.values) } ?? [])
            } catch {
                let mismatch = ValueMismatch(error, in: type, at: context.state.failure)
                guard let missing = mismatch.missing, allowed.insert(missing).inserted else { throw mismatch }
                root = root ?? fallback()
            }
        }
    }

    /// The requests of a type to a stored value, even if the type rejects the value: whether it read the value, and the
    /// fields of a dictionary.
    package static func requests<T: Decodable>(of type: T.Type, to stored: StoredValue) -> (
        hasRead: Bool, fields: CodedKeys?
    ) {
        let context = CodingContext()
        context.state.keys = [:]
        _ = try? ValueDecoder(stored: stored, fallback: nil, context: context).value(type)
        return (context.state.hasReadRoot, context.state.keys?[[]])
    }

    /// A decoder for a type that is a scalar here and also has its own Codable form.
    static func decoder(of stored: StoredValue) -> any Decoder {
        ValueDecoder(stored: stored, fallback: nil, context: CodingContext())
    }
}

private struct ValueDecoder: Decoder, SingleValueDecodingContainer {
    let stored: StoredValue
    let fallback: StoredValue?
    let context: CodingContext

    var codingPath: [any CodingKey] { context.path }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .dictionary(let members) = stored else { throw mismatch([String: Any].self) }
        context.state.recordReading(in: context)
        let record = context.state.record(type, of: members, in: context)
        return KeyedDecodingContainer(
            KeyedDecoder<Key>(
                members: members, fallbacks: fallback?.dictionary, context: context, record: record))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let elements) = stored else { throw mismatch([Any].self) }
        context.state.recordReading(in: context)
        return ListDecoder(elements: elements, context: context)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { NilMarker.isMarker(stored, in: context.state.form) }

    /// Decodes the value as another type.
    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        try ValueDecoder(stored: stored, fallback: fallback, context: context.deeper).value(type)
    }

    func value<T: Decodable>(_ type: T.Type) throws -> T {
        if !context.state.knowsParts(of: type) {
            if let scalar = type as? any StorableScalar.Type {
                // The marker stands for nil and is not a string.
                guard !decodeNil() else { throw missing(type) }
                let stored = NilMarker.unescaped(stored, in: context.state.form)
                guard let value = context.state.form.scalar(scalar, of: stored) else { throw mismatch(type) }
                context.state.recordSuccess()
                context.state.recordReading(in: context)
                // `scalar` is T. A conditional cast would request the metadata of `T?`, which costs as much as the code
                // above.
                // swift-format-ignore: NeverForceUnwrap
                return value as! T
            }
            context.state.recordParts(of: type)
        }
        guard !context.isTooDeep else { throw mismatch(type) }
        do {
            let value = try type.init(from: self)
            context.state.recordSuccess()
            return value
        } catch {
            context.state.recordFailure(of: type, in: context)
            throw error
        }
    }

    @inline(never) private func mismatch(_ type: Any.Type) -> DecodingError {
        let mismatch = ValueMismatch(expected: type, found: stored, as: context.state.form)
        return DecodingError.typeMismatch(
            type,
            DecodingError.Context(
                codingPath: context.path, debugDescription: mismatch.reason, underlyingError: mismatch))
    }

    private func missing(_ type: Any.Type) -> DecodingError {
        DecodingError.valueNotFound(
            type, DecodingError.Context(codingPath: context.path, debugDescription: "nil is stored"))
    }
}

private struct KeyedDecoder<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let members: [String: StoredValue]
    let fallbacks: [String: StoredValue]?
    let context: CodingContext
    let record: CodedKeys?

    var codingPath: [any CodingKey] { context.path }
    var allKeys: [Key] { members.keys.compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool {
        record?.recordRequest(key.stringValue)
        return members.index(forKey: key.stringValue) != nil
    }

    func decodeNil(forKey key: Key) throws -> Bool {
        record?.recordOptional(key.stringValue)
        return try member(key).decodeNil()
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        record?.recordType(type, of: key.stringValue)
        // A null is no value of a type that is no optional. The search for the conformance costs as much as the rest.
        return try member(key, isAbsentIfNull: !(type is any OptionalValue.Type)).value(type)
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
        try member(PathKey.super)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        try member(key)
    }

    private func allowed(_ fallback: StoredValue?, _ key: any CodingKey) -> StoredValue? {
        guard let fallback else { return nil }
        let path = ValueMismatch.text(of: context.path + [key])
        return context.state.allowedFallbacks.contains(path) ? fallback : nil
    }

    private func member(_ key: any CodingKey, isAbsentIfNull: @autoclosure () -> Bool = false) throws -> ValueDecoder {
        record?.recordRequest(key.stringValue)
        let fallback = fallbacks?[key.stringValue]
        var member = members[key.stringValue]
        if member?.isNull == true, isAbsentIfNull() { member = nil }
        guard let stored = member ?? allowed(fallback, key) else {
            throw DecodingError.keyNotFound(
                key, DecodingError.Context(codingPath: context.path, debugDescription: "missing"))
        }
        return ValueDecoder(stored: stored, fallback: fallback, context: context.inside(key))
    }
}

private struct ListDecoder: UnkeyedDecodingContainer {
    let elements: [StoredValue]
    let context: CodingContext
    private(set) var currentIndex = 0

    init(elements: [StoredValue], context: CodingContext) {
        self.elements = elements
        self.context = context
    }

    var codingPath: [any CodingKey] { context.path }
    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex >= elements.count }

    mutating func decodeNil() throws -> Bool {
        guard try element(Never.self).decodeNil() else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        let value = try element(type).value(type)
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

    private func element(_ type: Any.Type) throws -> ValueDecoder {
        let context = context.inside(PathKey(currentIndex))
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(
                type, DecodingError.Context(codingPath: context.path, debugDescription: "the array has ended"))
        }
        return ValueDecoder(stored: elements[currentIndex], fallback: nil, context: context)
    }
}
