public import Foundation
public import PersistentPreferences
import PrefsPropertyLists

/// The JSON Schema of a class.
extension PersistentPrefs {
    /// A JSON Schema (2020-12, as UTF-8) of what ``exported(as:)`` writes as JSON, for editors, validators and other
    /// programs.
    ///
    /// Each declared property has its type, default and help, and the constraints that JSON Schema can express: ranges
    /// of numbers, lists, lengths and counts, and patterns of plain ASCII. `$comment` has all constraints in words. A
    /// length has no upper bound, because JSON Schema counts code points and `.length` counts
    /// characters. Other keys are rejected.
    ///
    /// The schema accepts every value that a property can read, in each form that it may be stored in, except a Boolean
    /// as 0 or 1. It describes a Codable type by what it decodes: the type is asked to decode its default and a sample
    /// of each JSON type. Fields that the default does not have are accepted with any value. A type that decodes the
    /// same field as different types is described by the field in its default. The schema accepts every value of a
    /// property with your own ``PrefCoding``.
    ///
    /// The first instance of the class finds the properties. If no instance has been created in this process, the call
    /// stops the program with a message that says so. Keys that only an override of ``allowedKeys`` allows are known if
    /// ``jsonSchema()-method`` of an instance has been called. Costs time linear in the number of properties and of
    /// their defaults. Any thread.
    public class func jsonSchema() -> Data {
        knownDeclarations("jsonSchema()").jsonSchema(title: String(describing: self))
    }

    /// Returns the JSON Schema of the class. Afterwards, the method of the class also knows the ``allowedKeys`` of this
    /// instance. Cost, errors and threads are as for ``jsonSchema()-type.method``.
    public func jsonSchema() -> Data {
        declarations.record(allowedKeyList)
        return type(of: self).jsonSchema()
    }
}

extension ClassDeclarations {
    /// The JSON Schema of the values of a root, in an export.
    fileprivate func jsonSchema(title: String) -> Data {
        var properties = Dictionary(uniqueKeysWithValues: knownUndeclaredKeys.map { ($0, StoredValue.dictionary([:])) })
        for declaration in declarations {
            properties[declaration.key] = .dictionary((declaration.property as? any SchemaDescribing)?.schema ?? [:])
        }
        // An export adds a $ to a lone key that begins with $.
        for (key, schema) in properties where key.utf8.first == UInt8(ascii: "$") { properties["$" + key] = schema }
        // A file may also have the version that this package keeps, and the line by which an editor finds the schema.
        let others: [String: StoredValue] = [
            "^\(Self.pattern(of: schema.versionKey))$": .dictionary([
                "type": .string("integer"), "minimum": .integer(0),
            ]),
            "^\\$schema$": .dictionary(["type": .string("string")]),
        ]
        return JSONWriter.data(ofDocument: [
            "$schema": .string("https://json-schema.org/draft/2020-12/schema"), "title": .string(title),
            "type": .string("object"), "properties": .dictionary(properties), "patternProperties": .dictionary(others),
            "additionalProperties": .bool(false),
        ])
    }

    /// The regular expression of a text.
    private static func pattern(of text: String) -> String {
        text.unicodeScalars.reduce(into: "") { pattern, scalar in
            if "\\^$.|?*+()[]{}".unicodeScalars.contains(scalar) { pattern += "\\" }
            pattern.unicodeScalars.append(scalar)
        }
    }
}
