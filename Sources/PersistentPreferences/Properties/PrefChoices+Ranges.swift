// The choices of the standard library, with their words and what a schema can express of them.

extension ClosedRange: PrefChoices {
    /// The values of a range are its bounds and what is between them.
    public typealias PrefChoice = Bound

    /// `in 8...72`.
    public var choicesDescription: String {
        "in \(ConstraintValue.text(lowerBound))...\(ConstraintValue.text(upperBound))"
    }
}

extension Range: PrefChoices {
    /// The values of a range are its bounds and what is between them.
    public typealias PrefChoice = Bound

    /// `in 0..<10`.
    public var choicesDescription: String {
        "in \(ConstraintValue.text(lowerBound))..<\(ConstraintValue.text(upperBound))"
    }
}

extension PartialRangeFrom: PrefChoices {
    /// The values of a range are its bounds and what is between them.
    public typealias PrefChoice = Bound

    /// `at least 3`.
    public var choicesDescription: String { "at least \(ConstraintValue.text(lowerBound))" }
}

extension PartialRangeThrough: PrefChoices {
    /// The values of a range are its bounds and what is between them.
    public typealias PrefChoice = Bound

    /// `at most 9`.
    public var choicesDescription: String { "at most \(ConstraintValue.text(upperBound))" }
}

extension PartialRangeUpTo: PrefChoices {
    /// The values of a range are its bounds and what is between them.
    public typealias PrefChoice = Bound

    /// `less than 10`.
    public var choicesDescription: String { "less than \(ConstraintValue.text(upperBound))" }
}

extension Array: PrefChoices where Element: Equatable {
    /// The values of a list are its elements.
    public typealias PrefChoice = Element

    /// `one of light, dark`; texts that would be misread are in quotes.
    public var choicesDescription: String {
        if isEmpty { return "one of an empty list" }
        let texts = map { element in
            let text = ConstraintValue.text(element)
            return text.isEmpty || text.contains(",") ? "\"\(text)\"" : text
        }
        return "one of " + texts.joined(separator: ", ")
    }
}

/// Choices that a schema can express.
protocol RuledChoices {
    /// A `ConstraintRule` of their values.
    var rule: Any { get }
}

extension ClosedRange: RuledChoices {
    var rule: Any { ConstraintRule<Bound>.range(lower: lowerBound, upper: upperBound, includesUpper: true) }
}

extension Range: RuledChoices {
    var rule: Any { ConstraintRule<Bound>.range(lower: lowerBound, upper: upperBound, includesUpper: false) }
}

extension PartialRangeFrom: RuledChoices {
    var rule: Any { ConstraintRule<Bound>.range(lower: lowerBound, upper: nil, includesUpper: true) }
}

extension PartialRangeThrough: RuledChoices {
    var rule: Any { ConstraintRule<Bound>.range(lower: nil, upper: upperBound, includesUpper: true) }
}

extension PartialRangeUpTo: RuledChoices {
    var rule: Any { ConstraintRule<Bound>.range(lower: nil, upper: upperBound, includesUpper: false) }
}

extension Array: RuledChoices {
    var rule: Any { ConstraintRule<Element>.list(self) }
}

/// Values in the words of a constraint.
enum ConstraintValue {
    /// The raw value of a type that does not describe itself, because it is what is stored.
    static func text(_ value: some Any) -> String {
        guard !(value is any CustomStringConvertible), let value = value as? any RawRepresentable else {
            return "\(value)"
        }
        return "\(value.rawValue)"
    }
}

/// Numbers of elements in the words of a constraint.
enum CountWords {
    /// `8...72 characters`, `at least 1 character`.
    static func amount(_ range: some RangeExpression<Int>, of unit: String) -> String {
        let amount =
            switch range {
            case let range as PartialRangeFrom<Int>: "at least \(range.lowerBound)"
            case let range as PartialRangeThrough<Int>: "at most \(range.upperBound)"
            case let range as PartialRangeUpTo<Int>: "fewer than \(range.upperBound)"
            default: "\(range)"
            }
        return "\(amount) \(unit)\(amount.hasSuffix(" 1") ? "" : "s")"
    }
}
