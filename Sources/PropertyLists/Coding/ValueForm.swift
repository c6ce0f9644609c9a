/// The accepted forms of stored values. Copying it costs nothing for the exact form.
package struct ValueForm: Sendable, Equatable {
    /// The form in which this package and `UserDefaults` store values.
    package static var exact: ValueForm { ValueForm(others: nil) }

    /// The forms that are read in addition to the exact one; nil if there are none.
    package let others: (any WrittenForms)?

    /// Whether nil is a null of the format, so that no text stands for it.
    package var hasOwnNull: Bool { others?.hasOwnNull == true }

    package init(others: (any WrittenForms)?) {
        self.others = others
    }

    /// This form in a place where nil has a marker, as in a property list.
    var marked: ValueForm { hasOwnNull ? ValueForm(others: others?.marked) : self }

    /// Whether tools for such files use a key, so that it is not a mistake.
    package func isKeyOfTools(_ key: String) -> Bool { others?.isKeyOfTools(key) == true }

    /// A value in the exact form, such as a default, as a file of this form has it.
    package func raw(_ exact: StoredValue) -> StoredValue { others?.raw(exact) ?? exact }

    /// A value as a file of this form has it.
    ///
    /// - Parameters:
    ///   - value: in the form that its type stores.
    ///   - raw: the value in the file that it replaces; nil for a new one.
    ///   - before: `raw` in the form that its type stores.
    ///   - isRead: whether the type reads a raw value as `value`; nil for a value without a type.
    package func written(
        _ value: StoredValue, over raw: StoredValue?, from before: StoredValue?, isRead: ((StoredValue) -> Bool)?
    ) -> StoredValue {
        others?.written(value, over: raw, from: before, isRead: isRead) ?? value
    }

    package static func == (left: ValueForm, right: ValueForm) -> Bool { left.others === right.others }

    /// Creates a scalar from a stored value; nil if it is not a value of the type.
    func scalar<Scalar: StorableScalar>(_ type: Scalar.Type, of stored: StoredValue) -> Scalar? {
        if let others { others.scalar(type, of: stored) } else { Scalar(storable: stored) }
    }
}

/// The forms of values that people and other programs write in a file format.
package protocol WrittenForms: AnyObject, Sendable {
    /// Whether nil is a null of the format, so that no text stands for it.
    var hasOwnNull: Bool { get }
    /// These forms where nil has a marker.
    var marked: any WrittenForms { get }
    /// Creates a scalar from a value in any form; nil if it is not a value of the type.
    func scalar<Scalar: StorableScalar>(_ type: Scalar.Type, of stored: StoredValue) -> Scalar?
    /// See `ValueForm.raw`.
    func raw(_ exact: StoredValue) -> StoredValue
    /// See `ValueForm.written`. Each part that has not changed stays as it was written, and a null stays until its key gets
    /// a value.
    func written(
        _ value: StoredValue, over raw: StoredValue?, from before: StoredValue?, isRead: ((StoredValue) -> Bool)?
    ) -> StoredValue
    /// An example of a value as people write it, for errors; nil if the type needs no example.
    func example(of type: Any.Type) -> String?
    /// Whether tools for such files use a key, so that it is not a mistake.
    func isKeyOfTools(_ key: String) -> Bool
}

// MARK: - Scalars

/// A type whose values are single values of a property list.
package protocol StorableScalar {
    /// The stored form of the value. Vetting may reject it.
    var storable: StoredValue { get }
    /// Creates a value from a stored one; nil if it is not a value of the type.
    init?(storable: StoredValue)
    /// All values; nil if they cannot be listed.
    static var all: [Self]? { get }
}

extension StorableScalar {
    package static var all: [Self]? { nil }
}

// MARK: - nil

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
