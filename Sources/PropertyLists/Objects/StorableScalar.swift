import Foundation

/// A type whose values are single objects of a property list.
package protocol StorableScalar {
    /// The object that stands for the value: in canonical form, except for values that vetting rejects.
    var storable: Any { get }
    /// Returns nil if the object does not stand for a value of the type.
    init?(storable: Any)
    /// All values; nil if there are too many.
    static var all: [Self]? { get }
    /// The JSON Schema of every object that stands for a value, in the form of an export.
    static var schema: ValueSchema { get }
}

extension StorableScalar {
    package static var all: [Self]? { nil }

    static func decode(_ object: Any) throws(ValueMismatch) -> Self {
        guard let value = Self(storable: object) else { throw ValueMismatch(expected: Self.self, found: object) }
        return value
    }
}

extension String: StorableScalar {
    package static var schema: ValueSchema { ValueSchema(types: ["string"]) }

    package var storable: Any { self }

    package init?(storable: Any) {
        guard let text = storable as? String else { return nil }
        self = text
    }
}

extension Bool: StorableScalar {
    package static var all: [Bool]? { [true, false] }
    /// The numbers 0 and 1 are Booleans, too.
    package static var schema: ValueSchema {
        ValueSchema(
            types: ["boolean", "integer"], ["minimum": CanonicalNumber(0).object, "maximum": CanonicalNumber(1).object])
    }

    package var storable: Any { self }

    package init?(storable: Any) {
        guard let value = NumberConversion.bool(storable) else { return nil }
        self = value
    }
}

extension StorableScalar where Self: FixedWidthInteger {
    package static var schema: ValueSchema {
        ValueSchema(types: ["integer"], ["minimum": min.storable, "maximum": max.storable])
    }

    package var storable: Any { CanonicalNumber(self).object }

    package init?(storable: Any) {
        guard let value: Self = NumberConversion.integer(storable) else { return nil }
        self = value
    }
}

extension Int: StorableScalar {}
extension Int8: StorableScalar {}
extension Int16: StorableScalar {}
extension Int32: StorableScalar {}
extension Int64: StorableScalar {}
extension UInt: StorableScalar {}
extension UInt8: StorableScalar {}
extension UInt16: StorableScalar {}
extension UInt32: StorableScalar {}
extension UInt64: StorableScalar {}

extension Double: StorableScalar {
    package static var schema: ValueSchema { .number }

    package var storable: Any { NSNumber(value: self) }

    package init?(storable: Any) {
        guard let value = NumberConversion.double(storable) else { return nil }
        self = value
    }
}

extension Float: StorableScalar {
    package static var schema: ValueSchema { .number }

    package var storable: Any { NSNumber(value: Double(self)) }

    package init?(storable: Any) {
        guard let value = NumberConversion.float(storable) else { return nil }
        self = value
    }
}

extension Date: StorableScalar {
    package static var schema: ValueSchema {
        .form(JSONForm.date, ["type": ["string", "number"] as [Any], "format": "date-time"])
    }

    package var storable: Any { self }

    package init?(storable: Any) {
        guard let date = storable as? Date else { return nil }
        self = date
    }
}

extension Data: StorableScalar {
    package static var schema: ValueSchema { .form(JSONForm.data, ["type": "string", "contentEncoding": "base64"]) }

    package var storable: Any { self }

    package init?(storable: Any) {
        guard let data = storable as? Data else { return nil }
        self = data
    }
}

/// A text, or, for one with a base, the dictionary that Foundation's encoder makes of it. Both are read.
extension URL: StorableScalar {
    package static var schema: ValueSchema { ValueSchema(types: ["string", "object"]) }

    package var storable: Any {
        guard let baseURL else { return absoluteString }
        return ["relative": relativeString, "base": baseURL.storable]
    }

    package init?(storable: Any) {
        if let text = storable as? String {
            self.init(string: text)
            return
        }
        guard let parts = storable as? [String: Any], let relative = parts["relative"] as? String else { return nil }
        guard let base = parts["base"] else {
            self.init(string: relative)
            return
        }
        guard let base = URL(storable: base) else { return nil }
        self.init(string: relative, relativeTo: base)
    }
}
