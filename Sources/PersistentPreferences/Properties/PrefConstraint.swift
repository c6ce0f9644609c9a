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

/// `in: 8...72`. Not an extension of `ClosedRange`, so that clients see no new members there.
struct RangeChoices<Bound: Comparable>: PrefChoices {
    let range: ClosedRange<Bound>

    func contains(_ value: Bound) -> Bool { range.contains(value) }

    var choicesDescription: String { "in \(range.lowerBound)...\(range.upperBound)" }
}

/// `in: Theme.allCases`.
struct ListChoices<Element: Equatable>: PrefChoices {
    let list: [Element]

    func contains(_ value: Element) -> Bool { list.contains(value) }

    var choicesDescription: String { "one of " + list.map { "\($0)" }.joined(separator: ", ") }
}

/// A check of values, in words and in code.
///
/// An object, so that a property finds out without its type whether it has one.
final class PrefConstraint<Value> {
    let description: String
    /// Returns the requirement that a value violates; nil if it is valid.
    let violation: (Value) -> String?

    init(check: @escaping (Value) -> String?) {
        description = "a custom check"
        violation = check
    }

    init(_ choices: some PrefChoices<Value>) {
        description = choices.choicesDescription
        violation = { choices.contains($0) ? nil : "must be \(choices.choicesDescription)" }
    }

    /// The constraint of an optional value: nil is always valid.
    init<Choices: PrefChoices>(optional choices: Choices) where Value == Choices.PrefChoice? {
        let constraint = PrefConstraint<Choices.PrefChoice>(choices)
        description = constraint.description
        violation = { $0.flatMap(constraint.violation) }
    }
}
