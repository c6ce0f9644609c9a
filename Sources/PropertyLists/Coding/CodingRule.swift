import Foundation

/// The one rule of `PrefCoding`, found for a type at its first use and kept.
package enum CodingRule {
    /// By the address of the type.
    private static let known = Locked(NumberTable<Any>())

    /// Returns nil if the type cannot be stored.
    static func coding<Value>(for type: Value.Type) -> PrefCoding<Value>? {
        let address = Int(bitPattern: ObjectIdentifier(type))
        if let coding = known.withLock({ $0[address] }) { return coding as? PrefCoding<Value> }
        guard let coding = topLevel(type) else { return nil }
        known.withLock { _ = $0.add(coding, at: address) }
        return coding
    }

    /// The coding of a value under its own key. nil removes the key, so a string needs no escape.
    private static func topLevel<Value>(_ type: Value.Type) -> PrefCoding<Value>? {
        if let coding = usual(type) { return coding }
        if let optional = type as? any StorableOptional.Type {
            return optional.topLevelCoding(Contents(depth: 0)) as? PrefCoding<Value>
        }
        return nested(type)
    }

    /// The coding of the most frequent types, found by their identity. The first search for a conformance of a type
    /// costs 200,000 instructions, and a program would pay for four searches per type at its start. Decimal and Duration
    /// conform in files of their own: a linker takes these from a static archive only if their conformance is named.
    private static func usual<Value>(_ type: Value.Type) -> PrefCoding<Value>? {
        let coding: Any? =
            switch ObjectIdentifier(type) {
            case ObjectIdentifier(Bool.self): scalar(Bool.self)
            case ObjectIdentifier(Int.self): scalar(Int.self)
            case ObjectIdentifier(Double.self): scalar(Double.self)
            case ObjectIdentifier(String.self): scalar(String.self)
            case ObjectIdentifier(Decimal.self): scalar(Decimal.self)
            case ObjectIdentifier(Duration.self): scalar(Duration.self)
            case ObjectIdentifier(Date.self): scalar(Date.self)
            case ObjectIdentifier(Data.self): scalar(Data.self)
            case ObjectIdentifier([String].self): [String].coding(Contents(depth: 1))
            case ObjectIdentifier([Int].self): unspecialized([Int].self)
            case ObjectIdentifier([String: String].self): unspecialized([String: String].self)
            default: nil
            }
        return coding as? PrefCoding<Value>
    }

    /// The coding of a container that few programs use. Its code is not compiled for the type.
    @inline(never) private static func unspecialized(_ type: any StorableContainer.Type) -> Any? {
        type.coding(Contents(depth: 1))
    }

    /// The codings inside a container of any type.
    package struct Contents: ContentCodings {
        /// How deeply the contents are nested; a type may contain itself without end.
        let depth: Int

        package static var outermost: Contents { Contents(depth: 0) }

        package func coding<Content>(of type: Content.Type) -> PrefCoding<Content>? { nested(type, depth: depth) }
    }

    /// The coding of a value inside a container. A nil in a container is stored as a marker.
    package static func nested<Value>(_ type: Value.Type, depth: Int = 0) -> PrefCoding<Value>? {
        if let coding = usual(type) { return coding }
        guard depth < PropertyListLimits.depth, !isOfClass(type) else { return nil }
        let coding: Any? =
            if type == Any.self || type == [Any].self || type == [String: Any].self {
                objects(type)
            } else if let scalar = type as? any StorableScalar.Type {
                Self.scalar(scalar)
            } else if let container = type as? any StorableContainer.Type,
                let coding = container.coding(Contents(depth: depth + 1))
            {
                coding
            } else if let raw = type as? any RawRepresentable.Type, let coding = Self.raw(raw, depth: depth + 1) {
                coding
            } else if let codable = type as? any (Decodable & Encodable).Type {
                Self.codable(codable)
            } else {
                nil
            }
        return coding as? PrefCoding<Value>
    }

    /// The coding of `Any`, `[Any]` and `[String: Any]`. Checks the whole value at once, so that the error names every
    /// failure.
    private static func objects<Value>(_ type: Value.Type) -> PrefCoding<Value> {
        PrefCoding(
            encode: { try PropertyListVetter.value(of: $0) },
            decode: { stored, _ in
                guard let value = stored.object as? Value else { throw ValueMismatch(expected: type, found: stored) }
                return value
            })
    }

    /// Whether a type is a class, or a container of one. Readers would share an object, and a change inside it would
    /// not be stored.
    private static func isOfClass(_ type: Any.Type) -> Bool {
        type is AnyClass || (type as? any StorableContainer.Type).map { isOfClass($0.contentType) } ?? false
    }

    private static func scalar<Value: StorableScalar>(_ type: Value.Type) -> Any {
        PrefCoding<Value>(encode: { $0.storable }, decode: Value.decode, isCheap: true)
    }

    private static func raw<Value: RawRepresentable>(_ type: Value.Type, depth: Int) -> Any? {
        guard let coding = nested(Value.RawValue.self, depth: depth) else { return nil }
        let codable = (type as? any (Decodable & Encodable).Type).flatMap { Self.codable($0) as? PrefCoding<Value> }
        return PrefCoding<Value>(
            encode: { try coding.encode($0.rawValue) },
            decode: { stored, form in
                do {
                    guard let value = Value(rawValue: try coding.decode(stored, as: form)) else {
                        throw ValueMismatch(reason: "expected \(accepted(Value.self)), found an unknown raw value")
                    }
                    return value
                } catch {
                    // Tries the form of PropertyListEncoder, because the type may encode itself as something other than
                    // its raw value.
                    guard let value = try? codable?.decode(stored, as: form) else { throw error }
                    return value
                }
            },
            isCheap: coding.isCheap)
    }

    /// The raw values of a type with few cases, for a message; else the name of the type.
    private static func accepted<Value: RawRepresentable>(_ type: Value.Type) -> String {
        guard let cases = ListedValues.all(of: type) as? [Value], cases.count <= 20 else { return "\(type)" }
        return "one of " + cases.map { ShownText.line("\($0.rawValue)") }.joined(separator: ", ")
    }

    private static func codable<Value: Decodable & Encodable>(_ type: Value.Type) -> Any {
        PrefCoding<Value>(
            encode: { try StoredValueEncoder.value(of: $0) },
            decode: { try StoredValueDecoder.value(type, from: $0, $1) },
            decodeFields: { try StoredValueDecoder.value(type, from: $0, $1, fallback: $2) })
    }
}

extension PrefCoding {
    /// Creates the coding of the rule. The compiler has checked the type.
    package init(rule: Value.Type) {
        guard let coding = CodingRule.coding(for: Value.self) else {
            preconditionFailure(
                "\(Value.self) cannot be stored: make it Codable, use a struct instead of a class, or give a coding")
        }
        self = coding
    }
}
