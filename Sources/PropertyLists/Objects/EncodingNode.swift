import Foundation

/// One object that is being encoded. A container that is requested twice is the same container.
///
/// The content of a container consists of objects, or of nodes that become objects. Most containers have no nodes and need no second
/// pass.
final class EncodingNode {
    private enum Kind {
        case nothing, scalar, list, dictionary
    }

    private var kind = Kind.nothing
    private var scalar: Any = ()
    private var elements: [Any] = []
    private var members: [String: Any] = [:]
    private var hasNodes = false

    var object: Any? {
        switch kind {
        case .nothing: nil
        case .scalar: scalar
        case .list: list
        case .dictionary: hasNodes ? members.mapValues(Self.made) : members
        }
    }

    private var list: [Any] { hasNodes ? elements.map(Self.made) : elements }

    /// A member that has encoded nothing is an empty dictionary, as in Foundation.
    private static func made(_ part: Any) -> Any {
        guard type(of: part) == EncodingNode.self, let node = part as? EncodingNode else { return part }
        return node.object ?? [String: Any]()
    }

    var count: Int { elements.count }

    func setScalar(_ object: Any) {
        scalar = object
        kind = .scalar
    }

    func makeList() {
        if kind == .list { return }
        elements = []
        hasNodes = false
        kind = .list
    }

    func makeDictionary() {
        if kind == .dictionary { return }
        // Room for what most types have.
        members = Dictionary(minimumCapacity: 6)
        hasNodes = false
        kind = .dictionary
    }

    func append(_ object: Any) {
        if kind == .list { elements.append(object) }
    }

    func append() -> EncodingNode {
        let node = EncodingNode()
        append(node)
        hasNodes = true
        return node
    }

    func setMember(_ key: String, _ object: Any) {
        if kind == .dictionary { members[key] = object }
    }

    /// - Parameter isContinued: whether earlier content of the member stays, instead of being replaced.
    func member(_ key: String, isContinued: Bool = false) -> EncodingNode {
        if isContinued, let node = members[key] as? EncodingNode { return node }
        let node = EncodingNode()
        setMember(key, node)
        hasNodes = true
        return node
    }

    /// nil if the value is not a scalar. The most frequent types are not tested for conformances.
    static func scalar<T>(_ value: T, _ state: CodingState) -> Any? {
        if T.self == String.self { return NilMarker.escaped(unsafeBitCast(value, to: String.self)) }
        if T.self == Int.self { return unsafeBitCast(value, to: Int.self).storable }
        if T.self == Double.self { return unsafeBitCast(value, to: Double.self).storable }
        if T.self == Bool.self { return unsafeBitCast(value, to: Bool.self) }
        if T.self == Date.self { return unsafeBitCast(value, to: Date.self) }
        if state.knowsParts(of: T.self) { return nil }
        // The cast looks into optionals, so a string in one is escaped, too.
        if let scalar = value as? any StorableScalar { return NilMarker.escaped(scalar.storable) }
        state.recordParts(of: T.self)
        return nil
    }

    func encode<T: Encodable>(_ value: T, in context: CodingContext) throws {
        if let scalar = Self.scalar(value, context.state) {
            setScalar(scalar)
            return context.state.recordSuccess()
        }
        try encodeParts(of: value, in: context)
    }

    /// The same for a value that is not a scalar.
    func encodeParts<T: Encodable>(of value: T, in context: CodingContext) throws {
        do {
            try context.checkLimits()
            try value.encode(to: ObjectEncoder(node: self, context: context))
            // Checked again for containers that were nested by hand, because their methods cannot throw.
            try context.checkLimits()
            if kind == .list, let value = value as? any UnorderedValue {
                setScalar(type(of: value).ordered(list))
            }
            context.state.recordSuccess()
        } catch {
            context.state.recordFailure(of: T.self, in: context)
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
    /// Keys that are neither strings nor integers are encoded as an array in which keys and values alternate.
    static func ordered(_ elements: [Any]) -> [Any] {
        guard elements.count.isMultiple(of: 2) else { return elements }
        let pairs = stride(from: 0, to: elements.count, by: 2).map { elements[$0...($0 + 1)] }
        return pairs.sorted { CanonicalOrder.precedes($0[$0.startIndex], $1[$1.startIndex]) }.flatMap { $0 }
    }
}
