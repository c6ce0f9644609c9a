/// The part of a constraint that a schema can express.
package enum ConstraintRule<Value> {
    case range(lower: Value?, upper: Value?, includesUpper: Bool)
    case list([Value])
    case length(CountBounds)
    case count(CountBounds)
    /// A regular expression that a whole text must match.
    case pattern(String)

    /// The rule of choices; nil if only their words are known.
    static func of(_ choices: Any) -> ConstraintRule? { (choices as? any RuledChoices)?.rule as? ConstraintRule }

    static func ofLength(_ range: some RangeExpression<Int>) -> [ConstraintRule] {
        CountBounds(range).map { [.length($0)] } ?? []
    }

    static func ofCount(_ range: some RangeExpression<Int>) -> [ConstraintRule] {
        CountBounds(range).map { [.count($0)] } ?? []
    }

    var ofOptional: ConstraintRule<Value?> {
        switch self {
        case .range(let lower, let upper, let includesUpper):
            .range(lower: lower.map(Optional.some), upper: upper.map(Optional.some), includesUpper: includesUpper)
        case .list(let list): .list(list.map(Optional.some))
        case .length(let bounds): .length(bounds)
        case .count(let bounds): .count(bounds)
        case .pattern(let pattern): .pattern(pattern)
        }
    }
}

/// The least and the greatest number of elements.
package struct CountBounds {
    package let least: Int?
    package let greatest: Int?

    init?(_ range: some RangeExpression<Int>) {
        guard case .range(let lower, let upper, let includesUpper)? = ConstraintRule<Int>.of(range) else {
            return nil
        }
        least = lower.map { max(0, $0) }
        greatest = upper.map { max(0, includesUpper ? $0 : $0 - ($0 > .min ? 1 : 0)) }
    }
}
