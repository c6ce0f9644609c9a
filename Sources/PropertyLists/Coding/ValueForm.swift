/// The accepted forms of stored values. Copying it costs nothing for the exact form.
package struct ValueForm: Sendable, Equatable {
    /// The form in which this package and `UserDefaults` store values.
    package static var exact: ValueForm { ValueForm(others: nil) }

    /// The forms that are read in addition to the exact one; nil if there are none.
    package let others: (any WrittenForms)?

    /// Whether nil is a null of the format, so that no text stands for it.
    var hasOwnNull: Bool { others?.hasOwnNull == true }

    package init(others: (any WrittenForms)?) {
        self.others = others
    }

    /// This form in a place where nil has a marker, as in a property list.
    var marked: ValueForm { hasOwnNull ? ValueForm(others: others?.marked) : self }

    /// The forms in which a write may express a value, the best one first. A type may not read the first ones.
    package var written: [(any WrittenForms)?] { others.map { [$0, $0.exact, nil] } ?? [nil] }

    /// A value in the exact form, such as a default, as a file of this form has it.
    package func raw(_ exact: StoredValue) -> StoredValue {
        others.map { .written(over: nil, from: nil, to: exact, $0.exact) } ?? exact
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
    /// The exact forms, except that nil is a null where the format has one.
    var exact: any WrittenForms { get }
    /// Creates a scalar from a value in any form; nil if it is not a value of the type.
    func scalar<Scalar: StorableScalar>(_ type: Scalar.Type, of stored: StoredValue) -> Scalar?
    /// The form of a scalar in the place of a raw value; nil for a new place. It may be a form that the type in this
    /// place does not read.
    func written(_ scalar: StoredValue, inPlaceOf raw: StoredValue?) -> StoredValue
    /// An example of a value as people write it, for errors; nil if the type needs no example.
    func example(of type: Any.Type) -> String?
    /// Whether tools for such files use a key, so that it is not a mistake.
    func isKeyOfTools(_ key: String) -> Bool
}
