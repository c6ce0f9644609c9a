import Foundation

extension StorableScalar {
    static func decode(_ stored: StoredValue, as form: ValueForm) throws(ValueMismatch) -> Self {
        guard let value = form.scalar(Self.self, of: stored) else {
            throw ValueMismatch(expected: Self.self, found: stored, as: form)
        }
        return value
    }
}

extension String: StorableScalar {
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
    package var storable: StoredValue { .bool(self) }

    package init?(storable: StoredValue) {
        guard let value = storable.boolean else { return nil }
        self = value
    }
}

extension StorableScalar where Self: FixedWidthInteger {
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
    package var storable: StoredValue { StoredValue(self) }

    package init?(storable: StoredValue) {
        guard let value = storable.double else { return nil }
        self = value
    }
}

extension Float: StorableScalar {
    package var storable: StoredValue { StoredValue(Double(self)) }

    package init?(storable: StoredValue) {
        guard let value = storable.float else { return nil }
        self = value
    }
}

extension Date: StorableScalar {
    package var storable: StoredValue { .date(self) }

    package init?(storable: StoredValue) {
        guard case .date(let date) = storable else { return nil }
        self = date
    }
}

extension Data: StorableScalar {
    package var storable: StoredValue { .data(ownCopy) }

    package init?(storable: StoredValue) {
        guard case .data(let data) = storable else { return nil }
        self = data
    }
}

/// Stores a text. Reads a text and the dictionary of Foundation's encoder.
extension URL: StorableScalar {
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
