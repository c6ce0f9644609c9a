import Foundation
import PrefsPropertyLists

/// A scalar type with the JSON Schema of all accepted forms of a value, in an export.
protocol ScalarSchema: StorableScalar {
    static var schema: ValueSchema { get }
}

extension String: ScalarSchema {
    static var schema: ValueSchema { ValueSchema(types: ["string"]) }
}

extension Bool: ScalarSchema {
    /// Excludes the numbers 0 and 1, which are read as Booleans, but are never written for them.
    static var schema: ValueSchema { ValueSchema(types: ["boolean"]) }
}

extension ScalarSchema where Self: FixedWidthInteger {
    static var schema: ValueSchema {
        ValueSchema(types: ["integer"], ["minimum": min.storable, "maximum": max.storable])
    }
}

extension Int: ScalarSchema {}
extension Int8: ScalarSchema {}
extension Int16: ScalarSchema {}
extension Int32: ScalarSchema {}
extension Int64: ScalarSchema {}
extension UInt: ScalarSchema {}
extension UInt8: ScalarSchema {}
extension UInt16: ScalarSchema {}
extension UInt32: ScalarSchema {}
extension UInt64: ScalarSchema {}

extension Double: ScalarSchema {
    static var schema: ValueSchema { .number }
}

extension Float: ScalarSchema {
    static var schema: ValueSchema { .number }
}

extension Date: ScalarSchema {
    static var schema: ValueSchema {
        .form(
            JSONForm.date,
            ["type": .array([.string("string"), .string("number")]), "format": .string("date-time")],
            types: ["object", "string", "number"],
            ["pattern": .string("^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9:.]+(Z|[+-][0-9:]+))?$")])
    }
}

extension Data: ScalarSchema {
    static var schema: ValueSchema {
        .form(
            JSONForm.data, ["type": .string("string"), "contentEncoding": .string("base64")],
            types: ["object", "string", "array"],
            [
                "pattern": .string("^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"),
                "items": .dictionary(UInt8.schema.keywords),
            ])
    }
}

extension URL: ScalarSchema {
    static var schema: ValueSchema { ValueSchema(types: ["string", "object"]) }
}

extension Duration: ScalarSchema {
    static var schema: ValueSchema { ValueSchema(types: ["string", "number", "array"]) }
}

extension Decimal: ScalarSchema {
    static var schema: ValueSchema { ValueSchema(types: ["string", "number", "object"]) }
}

/// A container with the JSON Schema of its stored form.
protocol ContainerSchema: StorableContainer {
    /// - Parameters:
    ///   - example: the stored form of one value.
    ///   - content: returns the schema of the contents, given an example of them.
    static func schema(_ example: StoredValue?, _ content: (_ example: StoredValue?) -> ValueSchema) -> ValueSchema
}

extension Array: ContainerSchema {
    static func schema(_ example: StoredValue?, _ content: (StoredValue?) -> ValueSchema) -> ValueSchema {
        ValueSchema(
            types: ["array"], ["items": .dictionary(content(example?.array?.first).keywords)],
            countedBy: ("minItems", "maxItems"))
    }
}

extension Set: ContainerSchema {
    /// A stored array may hold equal elements.
    static func schema(_ example: StoredValue?, _ content: (StoredValue?) -> ValueSchema) -> ValueSchema {
        ValueSchema(
            types: ["array"], ["items": .dictionary(content(example?.array?.first).keywords)],
            countedBy: ("minItems", nil))
    }
}

extension Dictionary: ContainerSchema {
    static func schema(_ example: StoredValue?, _ content: (StoredValue?) -> ValueSchema) -> ValueSchema {
        ValueSchema(
            types: Key.self == String.self ? ["object"] : ["object", "array"],
            ["additionalProperties": .dictionary(content(example?.dictionary?.values.first).keywords)],
            countedBy: ("minProperties", "maxProperties"))
    }
}

extension Optional: ContainerSchema {
    static func schema(_ example: StoredValue?, _ content: (StoredValue?) -> ValueSchema) -> ValueSchema {
        content(example.flatMap { NilMarker.isMarker($0) ? nil : NilMarker.unescaped($0) }).orNil
    }
}
