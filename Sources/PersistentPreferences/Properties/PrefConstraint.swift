/// The values that a property accepts: a closed range or an array of choices.
///
/// ```swift
/// @Pref(in: 8...72) var size = 12
/// @Pref(in: ["light", "dark"]) var theme = "light"
/// ```
///
/// Conform your own type for another kind of choice. ``contains(_:)`` is called for each write and each decoded read, on any
/// thread.
public protocol PrefChoices<PrefChoice> {
    /// The type of the values.
    associatedtype PrefChoice

    /// Whether a value is one of the choices. Called on any thread.
    func contains(_ value: PrefChoice) -> Bool

    /// The choices in words that complete "must be": `in 8...72`, `one of 1, 2, 3`.
    var choicesDescription: String { get }
}

extension ClosedRange: PrefChoices {
    /// The type of the bounds.
    public typealias PrefChoice = Bound

    /// `in 8...72`.
    public var choicesDescription: String { "in \(lowerBound)...\(upperBound)" }
}

extension Array: PrefChoices where Element: Equatable {
    /// The type of the elements, which are the choices.
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
