import Foundation

/// The JSON Schema of the stored objects of a type, in the form of an export.
///
/// A schema accepts every object that the type can read. Where the type does not say what it reads, the schema accepts all.
package struct ValueSchema {
    /// The keywords of the schema, as JSON. Empty if every object is accepted.
    package private(set) var keywords: [String: Any]
    /// The keywords for the number of elements; nil if an object may have another number of elements than its value.
    package private(set) var count: (minimum: String?, maximum: String?) = (nil, nil)
    fileprivate var types: [String] = []
    /// Whether equal values are stored as equal objects.
    fileprivate var isExact = true

    /// - Parameter types: the names of types in JSON Schema; none for any type.
    package init(
        types: [String] = [], _ keywords: [String: Any] = [:],
        countedBy count: (minimum: String?, maximum: String?) = (nil, nil)
    ) {
        self.keywords = keywords
        self.types = types
        self.count = count
        if let first = types.first { self.keywords["type"] = types.count == 1 ? first : types as [Any] }
    }

    /// A number, or the form of one that JSON does not have.
    static let numberTypes = ["number", "object"]
    static var number: ValueSchema {
        let names: [Any] = JSONForm.nonfinite.map(\.name)
        return ValueSchema(
            types: numberTypes,
            [
                "properties": [JSONForm.double: ["enum": names] as [String: Any]] as [String: Any],
                "required": [JSONForm.double] as [Any], "additionalProperties": false,
            ])
    }

    /// The form of a value that JSON does not have: an object with one key.
    static func form(_ key: String, _ content: [String: Any]) -> ValueSchema {
        ValueSchema(
            types: ["object"],
            [
                "properties": [key: content] as [String: Any], "required": [key] as [Any],
                "additionalProperties": false,
            ])
    }

    /// The same inside a container, where nil has a marker.
    var orNil: ValueSchema {
        if keywords.isEmpty { return self }
        var inner = keywords
        if let listed = inner["enum"] as? [Any] { inner["enum"] = listed.map { NilMarker.escaped($0) as Any } }
        return ValueSchema(types: [], ["anyOf": [inner, ["const": NilMarker.text] as [String: Any]] as [Any]])
    }

    /// The only objects that stand for a value are these.
    ///
    /// - Returns: nil if there may be others: a Boolean may be stored as a number, a URL as a dictionary.
    package func listing(_ objects: [Any]) -> [String: Any]? {
        let isExact: Bool =
            switch isExact ? types : [] {
            case ["string"]: objects.allSatisfy { $0 is String }
            case ["integer"], Self.numberTypes: objects.allSatisfy(CanonicalValue.isNumber)
            default: false
            }
        return isExact ? ["enum": objects] : nil
    }

    // MARK: - The rule

    /// The schema of a type under its own key, by the rule of `PrefCoding`.
    ///
    /// - Parameter example: a stored object of the type, if one is known.
    package init(of type: Any.Type, example: Any?) {
        var rule = SchemaRule()
        if let optional = type as? any StorableOptional.Type {
            self = rule.schema(of: optional.contentType, example: example)
        } else {
            self = rule.schema(of: type, example: example)
        }
    }

    /// Whether a type, or what is in an optional of it, is a number whose objects have its order.
    package static func isNumber(_ type: Any.Type) -> Bool {
        if let optional = type as? any StorableOptional.Type { return isNumber(optional.contentType) }
        let types = (type as? any StorableScalar.Type)?.schema.types
        return types == ["integer"] || types == numberTypes
    }
}

/// Finds the schema of a type as `CodingRule` finds its coding.
private struct SchemaRule {
    /// The types around the current one: a type may contain itself.
    private var around: [Any.Type] = []

    init() {}

    /// - Parameter isCoded: whether a Codable type decodes the object: then raw values have no form of their own.
    mutating func schema(of type: Any.Type, example: Any?, isCoded: Bool = false) -> ValueSchema {
        guard !around.contains(where: { $0 == type }), around.count < 32 else { return ValueSchema() }
        around.append(type)
        defer { around.removeLast() }
        if let scalar = type as? any StorableScalar.Type { return scalar.schema }
        if let container = type as? any StorableContainer.Type, container.coding(depth: 0) != nil {
            return container.schema(example) { schema(of: container.contentType, example: $0, isCoded: isCoded) }
        }
        if let listed = type as? any CaseIterable.Type, let schema = schema(ofCases: listed) { return schema }
        if !isCoded, let raw = type as? any RawRepresentable.Type { return schema(ofRaw: raw) }
        if let codable = type as? any (Decodable & Encodable).Type { return schema(ofCoded: codable, example: example) }
        return ValueSchema()
    }

    /// A type with few values, which are stored as their raw values, as what they encode as, or as both.
    private func schema<T: CaseIterable>(ofCases type: T.Type) -> ValueSchema? {
        guard let values = ListedValues.all(of: type) as? [T], let coding = CodingRule.nested(type) else { return nil }
        var objects: [Any] = []
        for value in values {
            let forms = [try? coding.encode(value), (value as? any Encodable).flatMap { try? Self.coded($0) }]
            for case let form? in forms {
                guard case .success(let object) = PropertyListVetter.canonical(form, forKey: "") else { return nil }
                if !objects.contains(where: { CanonicalValue.areEqual($0, object) }) { objects.append(object) }
            }
        }
        // A type that accepts anything else, such as the names of newer versions, has more values than it lists.
        let others = SchemaKinds.samples.filter { sample in !objects.contains { CanonicalValue.areEqual($0, sample) } }
        guard !others.contains(where: { (try? coding.decode($0)) != nil }) else { return nil }
        let kinds = objects.reduce(into: SchemaKinds()) { $0.insert($1) }
        return ValueSchema(types: kinds.names, ["enum": objects.map { $0 is String ? $0 : ExportedValue($0) }])
    }

    private static func coded<T: Encodable>(_ value: T) throws -> Any {
        try PropertyListObjectEncoder.object(from: value)
    }

    private mutating func schema<T: RawRepresentable>(ofRaw type: T.Type) -> ValueSchema {
        let raw = schema(of: T.RawValue.self, example: nil)
        guard let codable = type as? any (Decodable & Encodable).Type else { return raw }
        // A type that is Codable may encode itself as something else, which is read, too.
        let kinds = SchemaKinds(readBy: codable)
        return Set(kinds.names).isSubset(of: raw.types) ? raw : ValueSchema()
    }

    private mutating func schema<T: Decodable & Encodable>(ofCoded type: T.Type, example: Any?) -> ValueSchema {
        var kinds = SchemaKinds(readBy: type)
        if let example { kinds.insert(example) }
        let members = example as? [String: Any] ?? [:]
        var properties: [String: Any] = [:]
        if let fields = PropertyListObjectDecoder.requests(of: type, to: example ?? members).fields {
            for (key, types) in fields.types where types.count == 1 {
                let field = schema(of: types[0], example: members[key], isCoded: true)
                properties[key] = (fields.optional.contains(key) ? field.orNil : field).keywords
            }
        }
        var schema = ValueSchema(types: kinds.names, properties.isEmpty ? [:] : ["properties": properties])
        schema.isExact = false
        return schema
    }
}

/// The types of JSON that the objects of a type have in an export.
private struct SchemaKinds {
    /// An object of each type.
    static var samples: [Any] {
        [
            "", CanonicalNumber(0).object, CanonicalNumber(1.5).object, true, [Any](), [String: Any](),
            Date(timeIntervalSinceReferenceDate: 0), Data(),
        ]
    }

    private static let all = ["boolean", "integer", "number", "string", "array", "object"]
    private var found: Set<String> = []

    init() {}

    /// The types that a Codable type reads, whether or not it accepts the sample.
    init<T: Decodable>(readBy type: T.Type) {
        for sample in Self.samples where PropertyListObjectDecoder.requests(of: type, to: sample).hasRead {
            insert(sample)
        }
    }

    /// In the order of `all`.
    var names: [String] {
        Self.all.filter { found.contains($0) && !($0 == "integer" && found.contains("number")) }
    }

    mutating func insert(_ object: Any) {
        switch CanonicalForm(object) {
        case .text: found.insert("string")
        case .bool: found.insert("boolean")
        case .number(let number):
            // The others may be infinite, which is an object in JSON.
            if case .double = CanonicalNumber(number) {
                found.formUnion(ValueSchema.numberTypes)
            } else {
                found.insert("integer")
            }
        case .list: found.insert("array")
        case .date, .data, .dictionary, .uid, .foreign: found.insert("object")
        }
    }
}
