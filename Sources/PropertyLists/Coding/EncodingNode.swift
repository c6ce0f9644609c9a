import Foundation

/// One value that is being encoded. A container that is requested twice is the same container.
final class EncodingNode {
    private enum Kind {
        case nothing, scalar, list, dictionary
    }

    private var kind = Kind.nothing
    private var scalar = StoredValue.bool(false)
    private var elements: [StoredValue] = []
    private var members: [String: StoredValue] = [:]
    /// The parts that may still change, because a type fills them by hand.
    private var openElements: [Int: EncodingNode] = [:]
    private var openMembers: [String: EncodingNode] = [:]

    init() {}

    /// - Parameter earlier: earlier content, which stays if it is a container.
    private init(continuing earlier: StoredValue?) {
        switch earlier {
        case .dictionary(let members): (kind, self.members) = (.dictionary, members)
        case .array(let elements): (kind, self.elements) = (.list, elements)
        default: break
        }
    }

    /// The encoded value; nil if nothing was encoded.
    var value: StoredValue? {
        switch kind {
        case .nothing: nil
        case .scalar: scalar
        case .list: .array(list)
        case .dictionary: .dictionary(dictionary)
        }
    }

    private var dictionary: [String: StoredValue] {
        var members = members
        for (key, node) in openMembers { members[key] = node.content }
        return members
    }

    private var list: [StoredValue] {
        var list = elements
        for (index, node) in openElements { list[index] = node.content }
        return list
    }

    /// A part that has encoded nothing is an empty dictionary, as in Foundation.
    @inline(never) private var content: StoredValue { value ?? .dictionary([:]) }

    var count: Int { elements.count }

    func setScalar(_ value: StoredValue) {
        scalar = value
        kind = .scalar
    }

    func makeList() {
        if kind == .list { return }
        (elements, openElements) = ([], [:])
        kind = .list
    }

    func makeDictionary() {
        if kind == .dictionary { return }
        // Reserves room for the members of most types.
        (members, openMembers) = (Dictionary(minimumCapacity: 6), [:])
        kind = .dictionary
    }

    func append(_ value: StoredValue) {
        if kind == .list { elements.append(value) }
    }

    /// An element that is filled by hand.
    func append() -> EncodingNode {
        let node = EncodingNode()
        if kind == .list { openElements[elements.count] = node }
        append(.bool(false))
        return node
    }

    func setMember(_ key: String, _ value: StoredValue) {
        guard kind == .dictionary else { return }
        members[key] = value
        if !openMembers.isEmpty { openMembers[key] = nil }
    }

    /// A member that is filled by hand.
    ///
    /// - Parameter isContinued: whether earlier content of the member stays, instead of being replaced.
    func member(_ key: String, isContinued: Bool = false) -> EncodingNode {
        if isContinued, let node = openMembers[key] { return node }
        let node = EncodingNode(continuing: isContinued ? members[key] : nil)
        if kind == .dictionary { openMembers[key] = node }
        return node
    }

    /// The stored form of a scalar; nil if the value is not a scalar. The most frequent types are not tested for
    /// conformances.
    private static func scalar<T>(_ value: T, _ state: CodingState) -> StoredValue? {
        if T.self == String.self, let text = value as? String { return NilMarker.escaped(text.storable) }
        if T.self == Int.self, let number = value as? Int { return number.storable }
        if T.self == Double.self, let number = value as? Double { return number.storable }
        if T.self == Bool.self, let bool = value as? Bool { return .bool(bool) }
        if T.self == Date.self, let date = value as? Date { return .date(date) }
        if state.knowsParts(of: T.self) { return nil }
        // The cast unwraps optionals, so a string in an optional is escaped, too.
        if let scalar = value as? any StorableScalar { return NilMarker.escaped(scalar.storable) }
        state.recordParts(of: T.self)
        return nil
    }

    /// The value of a part of a type.
    ///
    /// - Parameter inner: the position of the part, made only if it has parts itself.
    static func part<T: Encodable>(
        _ value: T, in context: CodingContext, _ inner: () -> CodingContext
    ) throws -> StoredValue {
        if let scalar = Self.scalar(value, context.state) {
            context.state.recordSuccess()
            return scalar
        }
        let node = EncodingNode()
        try node.encodeParts(of: value, in: inner())
        return node.content
    }

    func encode<T: Encodable>(_ value: T, in context: CodingContext) throws {
        if let scalar = Self.scalar(value, context.state) {
            setScalar(scalar)
            return context.state.recordSuccess()
        }
        try encodeParts(of: value, in: context)
    }

    /// Encodes a value that is not a scalar.
    private func encodeParts<T: Encodable>(of value: T, in context: CodingContext) throws {
        do {
            try context.checkLimits()
            try value.encode(to: ValueEncoder(node: self, context: context))
            // Checked again for containers that were nested by hand, because their methods cannot throw.
            try context.checkLimits()
            if kind == .list, let value = value as? any UnorderedValue {
                setScalar(.array(type(of: value).ordered(list)))
            }
            context.state.recordSuccess()
        } catch {
            context.state.recordFailure(of: T.self, in: context)
            throw error
        }
    }
}

/// A type whose equal values may encode their elements in different orders. They are stored as equal lists.
private protocol UnorderedValue {
    static func ordered(_ elements: [StoredValue]) -> [StoredValue]
}

extension Set: UnorderedValue {
    static func ordered(_ elements: [StoredValue]) -> [StoredValue] {
        elements.sorted(by: StoredValue.precedes)
    }
}

extension Dictionary: UnorderedValue {
    /// Sorts the pairs of a dictionary. Keys that are neither strings nor integers are encoded as an array in which
    /// keys and values alternate.
    static func ordered(_ elements: [StoredValue]) -> [StoredValue] {
        guard elements.count.isMultiple(of: 2) else { return elements }
        let pairs = stride(from: 0, to: elements.count, by: 2).map { StoredValue.array(Array(elements[$0...($0 + 1)])) }
        return pairs.sorted(by: StoredValue.precedes).flatMap { $0.array ?? [] }
    }
}
