import Foundation
import PrefsPropertyLists

/// The JSON Schema of the stored values of a type, in the form of an export.
///
/// A schema accepts every value that the type can read. If it is unknown what the type reads, the schema accepts every
/// value.
struct ValueSchema {
    /// The keywords of the schema, as JSON. Empty if every value is accepted.
    private(set) var keywords: [String: StoredValue]
    /// The keywords for the number of elements; nil if a stored value may have another number of elements than its
    /// value.
    private(set) var count: (minimum: String?, maximum: String?) = (nil, nil)
    fileprivate var types: [String] = []
    /// Whether equal values have equal stored forms.
    fileprivate var isExact = true

    /// - Parameter types: the names of types in JSON Schema; none for any type.
    init(
        types: [String] = [], _ keywords: [String: StoredValue] = [:],
        countedBy count: (minimum: String?, maximum: String?) = (nil, nil)
    ) {
        self.keywords = keywords
        self.types = types
        self.count = count
        if let first = types.first {
            self.keywords["type"] = types.count == 1 ? .string(first) : .array(types.map(StoredValue.string))
        }
    }

    /// The types of a number. Infinite numbers and NaN are objects in JSON.
    static let numberTypes = ["number", "object"]
    static var number: ValueSchema {
        let names = StoredValue.array(JSONForm.nonfinite.map { .string($0.name) })
        return form(JSONForm.double, ["enum": names], types: numberTypes)
    }

    /// Replaces the keywords of any number by the keywords of a finite number.
    static func finite(_ keywords: [String: StoredValue]) -> [String: StoredValue] {
        guard keywords["type"]?.array == numberTypes.map(StoredValue.string) else { return keywords }
        return keywords.filter { !["properties", "required", "additionalProperties"].contains($0.key) }
            .merging(["type": .string("number")]) { $1 }
    }

    /// The schema of a value that JSON cannot express: an object with one key.
    ///
    /// - Parameters:
    ///   - types: the types of the object and of other accepted values.
    ///   - others: the keywords of the other values.
    static func form(
        _ key: String, _ content: [String: StoredValue], types: [String] = ["object"],
        _ others: [String: StoredValue] = [:]
    ) -> ValueSchema {
        let keywords: [String: StoredValue] = [
            "properties": .dictionary([key: .dictionary(content)]), "required": .array([.string(key)]),
            "additionalProperties": .bool(false),
        ]
        return ValueSchema(types: types, keywords.merging(others) { $1 })
    }

    /// This schema inside a container, where nil has a marker.
    var orNil: ValueSchema {
        if keywords.isEmpty { return self }
        var inner = keywords
        if let listed = inner["enum"]?.array { inner["enum"] = .array(listed.map(NilMarker.escaped)) }
        return ValueSchema(
            types: [], ["anyOf": .array([.dictionary(inner), .dictionary(["const": NilMarker.value])])])
    }

    /// The keyword that restricts a value to a list of stored forms.
    ///
    /// - Returns: nil if other forms may be stored, too: a Boolean may be stored as a number, a URL as a dictionary.
    func listing(_ stored: [StoredValue]) -> [String: StoredValue]? {
        let isExact: Bool =
            switch isExact ? types : [] {
            case ["string"]: stored.allSatisfy { $0.string != nil }
            case ["integer"], Self.numberTypes: stored.allSatisfy(\.isNumber)
            default: false
            }
        return isExact ? ["enum": .array(stored)] : nil
    }

    // MARK: - The rule

    /// The schema of a type under its own key, by the rule of `PrefCoding`.
    ///
    /// - Parameter example: the stored form of a value, if one is known.
    init(of type: Any.Type, example: StoredValue?) {
        var rule = SchemaRule()
        if let optional = type as? any StorableOptional.Type {
            self = rule.schema(of: optional.contentType, example: example)
        } else {
            self = rule.schema(of: type, example: example)
        }
    }

    /// Whether a type, or the type inside an optional, is a number that is stored as a number.
    static func isNumber(_ type: Any.Type) -> Bool {
        if let optional = type as? any StorableOptional.Type { return isNumber(optional.contentType) }
        let types = (type as? any ScalarSchema.Type)?.schema.types
        return types == ["integer"] || types == numberTypes
    }
}

/// Finds the schema of a type as `CodingRule` finds its coding.
private struct SchemaRule {
    /// The types around the current one, because a type may contain itself.
    private var around: [Any.Type] = []

    init() {}

    /// - Parameter isCoded: whether a Codable type decodes the value. Then raw values have no special form.
    mutating func schema(of type: Any.Type, example: StoredValue?, isCoded: Bool = false) -> ValueSchema {
        guard !around.contains(where: { $0 == type }), around.count < 32 else { return ValueSchema() }
        around.append(type)
        defer { around.removeLast() }
        if let scalar = type as? any ScalarSchema.Type { return scalar.schema }
        if let container = type as? any ContainerSchema.Type, container.coding(depth: 0) != nil {
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
                guard (try? PropertyListVetter.check(form, forKey: "")) != nil else { return nil }
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

// MARK: - Types

/// A scalar type with the JSON Schema of all accepted forms of a value, in an export.
protocol ScalarSchema: StorableScalar {
    static var schema: ValueSchema { get }
}

/// A container with the JSON Schema of its stored form.
protocol ContainerSchema: StorableContainer {
    /// - Parameters:
    ///   - example: the stored form of one value.
    ///   - content: returns the schema of the contents, given an example of them.
    static func schema(_ example: StoredValue?, _ content: (_ example: StoredValue?) -> ValueSchema) -> ValueSchema
}
