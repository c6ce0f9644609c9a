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
    var types: [String] = []
    /// Whether equal values have equal stored forms.
    var isExact = true

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
}
