/// The values that a declared property lets through: a closed range, or a list of choices.
///
/// Conform a type of your own for another kind. Mirrors the set notation of `ClosedRange.contains(_:)`.
public protocol PrefChoices<PrefChoice> {
    /// The type of the values to choose from.
    associatedtype PrefChoice

    /// Whether a value is one of the choices. Called for each write and each read, on any thread.
    func contains(_ value: PrefChoice) -> Bool

    /// The choices in words that make a sentence with "must be": `in 8...72`, `one of 1, 2, 3`.
    var choicesDescription: String { get }
}

extension ClosedRange: PrefChoices {
    /// Its bounds are of the type of the values.
    public typealias PrefChoice = Bound

    /// `in 8...72`.
    public var choicesDescription: String { "in \(lowerBound)...\(upperBound)" }
}

extension Array: PrefChoices where Element: Equatable {
    /// Its elements are the choices.
    public typealias PrefChoice = Element

    /// `one of 1, 2, 3`.
    public var choicesDescription: String { "one of " + map { "\($0)" }.joined(separator: ", ") }
}

/// A check of values, in words and in code.
///
/// An object, so that a property finds out without its type whether it has one.
final class PrefConstraint<Value> {
    let description: String
    /// What a value must be and is not; nil where all is well.
    let violation: (Value) -> String?

    init(check: @escaping (Value) -> String?) {
        description = "a check of its own"
        violation = check
    }

    init<C: PrefChoices<Value>>(_ choices: C) {
        description = choices.choicesDescription
        violation = { choices.contains($0) ? nil : "must be \(choices.choicesDescription)" }
    }

    /// Of an optional value: nil is always let through.
    init<Wrapped>(optional constraint: PrefConstraint<Wrapped>) where Value == Wrapped? {
        description = constraint.description
        violation = { $0.flatMap(constraint.violation) }
    }
}
