/// The form of nil inside a container.
package enum NilMarker {
    /// The string that `PropertyListEncoder` stores for nil.
    package static let text = "$null"
    package static let value = StoredValue.string(text)

    /// Whether the value stands for nil: the marker, or the null of a file that people write.
    package static func isMarker(_ value: StoredValue, in form: ValueForm = .exact) -> Bool {
        value.isNull || !form.hasOwnNull && value.string == text
    }

    /// Adds a `$` to a string that could be mistaken for the marker or for an escaped string.
    package static func escaped(_ value: StoredValue) -> StoredValue {
        if case .string(let text) = value, isDollarsAndNull(text) { .string("$" + text) } else { value }
    }

    package static func unescaped(_ value: StoredValue, in form: ValueForm = .exact) -> StoredValue {
        guard case .string(let text) = value, text.hasPrefix("$$"), !form.hasOwnNull, isDollarsAndNull(text) else {
            return value
        }
        return .string(String(text.dropFirst()))
    }

    private static func isDollarsAndNull(_ string: String) -> Bool {
        // Tests the first byte first, because every encoded string passes through here.
        string.utf8.first == UInt8(ascii: "$") && string.hasSuffix(text)
            && string.dropLast(text.count).utf8.allSatisfy { $0 == UInt8(ascii: "$") }
    }
}
