import Foundation

/// A type whose values are single values of a property list.
package protocol StorableScalar {
    /// The stored form of the value. Vetting may reject it.
    var storable: StoredValue { get }
    /// Creates a value from a stored one; nil if it is not a value of the type.
    init?(storable: StoredValue)
    /// Creates a value from the form of a person or a JSON encoder; nil if it is not a value of the type.
    init?(written: StoredValue)
    /// An example of a value as people write it, for errors; nil if the type needs no example.
    static var writtenExample: String? { get }
    /// All values; nil if they cannot be listed.
    static var all: [Self]? { get }
    /// The JSON Schema of all accepted forms of a value, in an export.
    static var schema: ValueSchema { get }
}

extension StorableScalar {
    package static var all: [Self]? { nil }
    package static var writtenExample: String? { nil }

    package init?(written: StoredValue) { self.init(storable: written) }

    static func decode(_ stored: StoredValue, as form: ValueForm) throws(ValueMismatch) -> Self {
        guard let value = form == .exact ? Self(storable: stored) : Self(written: stored) else {
            throw ValueMismatch(expected: Self.self, found: stored, as: form)
        }
        return value
    }
}

extension String: StorableScalar {
    package static var schema: ValueSchema { ValueSchema(types: ["string"]) }

    package var storable: StoredValue {
        var text = self
        text.makeContiguousUTF8()
        return .string(text)
    }

    package init?(storable: StoredValue) {
        guard case .string(let text) = storable else { return nil }
        self = text
    }
}

extension Bool: StorableScalar {
    package static var all: [Bool]? { [true, false] }
    /// Excludes the numbers 0 and 1, which are read as Booleans, but are never written for them.
    package static var schema: ValueSchema { ValueSchema(types: ["boolean"]) }

    package var storable: StoredValue { .bool(self) }

    package init?(storable: StoredValue) {
        guard let value = storable.bool else { return nil }
        self = value
    }
}

extension StorableScalar where Self: FixedWidthInteger {
    package static var schema: ValueSchema {
        ValueSchema(types: ["integer"], ["minimum": min.storable, "maximum": max.storable])
    }

    package var storable: StoredValue { StoredValue(self) }

    package init?(storable: StoredValue) {
        guard let value = storable.integer(as: Self.self) else { return nil }
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

    package var storable: StoredValue { StoredValue(self) }

    package init?(storable: StoredValue) {
        guard let value = storable.double else { return nil }
        self = value
    }
}

extension Float: StorableScalar {
    package static var schema: ValueSchema { .number }

    package var storable: StoredValue { StoredValue(Double(self)) }

    package init?(storable: StoredValue) {
        guard let value = storable.float else { return nil }
        self = value
    }
}

extension Date: StorableScalar {
    package static var schema: ValueSchema {
        .form(
            JSONForm.date,
            ["type": .array([.string("string"), .string("number")]), "format": .string("date-time")],
            types: ["object", "string", "number"],
            ["pattern": .string("^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9:.]+(Z|[+-][0-9:]+))?$")])
    }

    package var storable: StoredValue { .date(self) }

    package init?(storable: StoredValue) {
        guard case .date(let date) = storable else { return nil }
        self = date
    }

    package static var writtenExample: String? { #""2026-11-21T19:02:43Z" or seconds since 2001"# }

    package init?(written: StoredValue) {
        switch written {
        case .date(let date): self = date
        case .string(let text):
            guard let date = TextForms.date(text) else { return nil }
            self = date
        default:
            guard let seconds = written.nearestDouble, seconds.isFinite else { return nil }
            self.init(timeIntervalSinceReferenceDate: seconds)
        }
    }
}

extension Data: StorableScalar {
    package static var schema: ValueSchema {
        .form(
            JSONForm.data, ["type": .string("string"), "contentEncoding": .string("base64")],
            types: ["object", "string", "array"],
            [
                "pattern": .string("^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"),
                "items": .dictionary(UInt8.schema.keywords),
            ])
    }

    package var storable: StoredValue { .data(ownCopy) }

    package init?(storable: StoredValue) {
        guard case .data(let data) = storable else { return nil }
        self = data
    }

    package static var writtenExample: String? { #"base64 such as "AQID""# }

    package init?(written: StoredValue) {
        switch written {
        case .data(let data): self = data
        case .string(let text): self.init(base64Encoded: text.filter { !$0.isWhitespace })
        case .array(let elements):
            let bytes = elements.compactMap { $0.integer(as: UInt8.self) }
            guard bytes.count == elements.count else { return nil }
            self.init(bytes)
        default: return nil
        }
    }
}

/// Stores a text. Reads a text and the dictionary of Foundation's encoder.
extension URL: StorableScalar {
    package static var schema: ValueSchema { ValueSchema(types: ["string", "object"]) }

    package var storable: StoredValue {
        guard let baseURL else { return absoluteString.storable }
        return .dictionary(["relative": relativeString.storable, "base": baseURL.storable])
    }

    package init?(storable: StoredValue) {
        if case .string(let text) = storable {
            self.init(string: text)
            return
        }
        guard let parts = storable.dictionary, let relative = parts["relative"]?.string else { return nil }
        guard let base = parts["base"] else {
            self.init(string: relative)
            return
        }
        guard let base = URL(storable: base) else { return nil }
        self.init(string: relative, relativeTo: base)
    }
}
