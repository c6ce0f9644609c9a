import Foundation
import PrefsPropertyLists

/// Finds the schema of a type as `CodingRule` finds its coding.
struct SchemaRule {
    /// The schema of a type under its own key, by the rule of `PrefCoding`.
    ///
    /// - Parameter example: the stored form of a value, if one is known.
    static func schema(ofKey type: Any.Type, example: StoredValue?) -> ValueSchema {
        var rule = SchemaRule()
        return rule.schema(of: (type as? any StorableOptional.Type)?.contentType ?? type, example: example)
    }

    /// Whether a type, or the type inside an optional, is a number that is stored as a number.
    static func isNumber(_ type: Any.Type) -> Bool {
        if let optional = type as? any StorableOptional.Type { return isNumber(optional.contentType) }
        let types = (type as? any ScalarSchema.Type)?.schema.types
        return types == ["integer"] || types == ValueSchema.numberTypes
    }

    /// The types around the current one, because a type may contain itself.
    private var around: [Any.Type] = []

    private init() {}

    /// - Parameter isCoded: whether a Codable type decodes the value. Then raw values have no special form.
    private mutating func schema(of type: Any.Type, example: StoredValue?, isCoded: Bool = false) -> ValueSchema {
        guard !around.contains(where: { $0 == type }), around.count < 32 else { return ValueSchema() }
        around.append(type)
        defer { around.removeLast() }
        if let scalar = type as? any ScalarSchema.Type { return scalar.schema }
        if let container = type as? any ContainerSchema.Type, container.coding(CodingRule.Contents.outermost) != nil {
            return container.schema(example) { schema(of: container.contentType, example: $0, isCoded: isCoded) }
        }
        if let listed = type as? any CaseIterable.Type, let schema = schema(ofCases: listed) { return schema }
        if !isCoded, let raw = type as? any RawRepresentable.Type { return schema(ofRaw: raw) }
        if let codable = type as? any (Decodable & Encodable).Type { return schema(ofCoded: codable, example: example) }
        return ValueSchema()
    }

    /// The schema of a type with few values, which are stored as raw values, in their encoded form, or in both forms.
    private func schema<T: CaseIterable>(ofCases type: T.Type) -> ValueSchema? {
        guard let values = ListedValues.all(of: type) as? [T], let coding = CodingRule.nested(type) else { return nil }
        var stored: [StoredValue] = []
        for value in values {
            let forms = [
                try? coding.encode(value), (value as? any Encodable).flatMap { try? StoredValueEncoder.value(of: $0) },
            ]
            for case let form? in forms {
                guard (try? PropertyListVetter.check(form)) != nil else { return nil }
                if !stored.contains(form) { stored.append(form) }
            }
        }
        // A type that accepts other values, such as names from newer versions, has more values than it lists.
        let others = SchemaKinds.samples.filter { !stored.contains($0) }
        guard !others.contains(where: { (try? coding.decode($0)) != nil }) else { return nil }
        let kinds = stored.reduce(into: SchemaKinds()) { $0.insert($1) }
        return ValueSchema(types: kinds.names, ["enum": .array(stored.map(JSONForm.exported))])
    }

    private mutating func schema<T: RawRepresentable>(ofRaw type: T.Type) -> ValueSchema {
        let raw = schema(of: T.RawValue.self, example: nil)
        guard let codable = type as? any (Decodable & Encodable).Type else { return raw }
        // A Codable type may encode itself in another form, which is read, too.
        let kinds = SchemaKinds(readBy: codable)
        return Set(kinds.names).isSubset(of: raw.types) ? raw : ValueSchema()
    }

    private mutating func schema<T: Decodable & Encodable>(ofCoded type: T.Type, example: StoredValue?) -> ValueSchema {
        var kinds = SchemaKinds(readBy: type)
        if let example { kinds.insert(example) }
        let members = example?.dictionary ?? [:]
        var properties: [String: StoredValue] = [:]
        if let fields = StoredValueDecoder.requests(of: type, to: example ?? .dictionary([:])).fields {
            for (key, types) in fields.types where types.count == 1 {
                let field = schema(of: types[0], example: members[key], isCoded: true)
                properties[key] = .dictionary((fields.optional.contains(key) ? field.orNil : field).keywords)
            }
        }
        var schema = ValueSchema(types: kinds.names, properties.isEmpty ? [:] : ["properties": .dictionary(properties)])
        schema.isExact = false
        return schema
    }
}

/// The JSON types that the stored form of a type has in an export.
private struct SchemaKinds {
    /// A value of each type.
    static let samples: [StoredValue] = [
        .string(""), .integer(0), .real(1.5), .bool(true), .array([]), .dictionary([:]),
        .date(Date(timeIntervalSinceReferenceDate: 0)), .data(Data()),
    ]

    private static let all = ["boolean", "integer", "number", "string", "array", "object"]
    private var found: Set<String> = []

    init() {}

    /// The types that a Codable type reads, whether or not it accepts the sample.
    init<T: Decodable>(readBy type: T.Type) {
        for sample in Self.samples where StoredValueDecoder.requests(of: type, to: sample).hasRead {
            insert(sample)
        }
    }

    /// The names of the types, in the order of `all`.
    var names: [String] {
        Self.all.filter { found.contains($0) && !($0 == "integer" && found.contains("number")) }
    }

    mutating func insert(_ value: StoredValue) {
        switch value {
        case .string: found.insert("string")
        case .bool: found.insert("boolean")
        case .integer, .unsigned: found.insert("integer")
        // An infinite number is an object in JSON.
        case .real, .decimal: found.formUnion(ValueSchema.numberTypes)
        case .array: found.insert("array")
        case .date, .data, .dictionary, .uid, .foreign, .null: found.insert("object")
        }
    }
}
