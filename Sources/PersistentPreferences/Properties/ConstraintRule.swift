/// What a schema can express of a constraint.
enum ConstraintRule<Value> {
    case range(lower: Value?, upper: Value?, includesUpper: Bool)
    case list([Value])
    case length(CountBounds)
    case count(CountBounds)
    /// A regular expression that a whole text must match.
    case pattern(String)

    /// None for a range of another type, of which only its words are known.
    static func of(_ range: some RangeExpression<Value>) -> [ConstraintRule] {
        switch range {
        case let range as ClosedRange<Value>:
            [.range(lower: range.lowerBound, upper: range.upperBound, includesUpper: true)]
        case let range as Range<Value>: [.range(lower: range.lowerBound, upper: range.upperBound, includesUpper: false)]
        case let range as PartialRangeFrom<Value>: [.range(lower: range.lowerBound, upper: nil, includesUpper: true)]
        case let range as PartialRangeThrough<Value>: [.range(lower: nil, upper: range.upperBound, includesUpper: true)]
        case let range as PartialRangeUpTo<Value>: [.range(lower: nil, upper: range.upperBound, includesUpper: false)]
        default: []
        }
    }

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
struct CountBounds {
    let least: Int?
    let greatest: Int?

    init?(_ range: some RangeExpression<Int>) {
        guard case .range(let lower, let upper, let includesUpper)? = ConstraintRule<Int>.of(range).first else {
            return nil
        }
        least = lower.map { max(0, $0) }
        greatest = upper.map { max(0, includesUpper ? $0 : $0 - ($0 > .min ? 1 : 0)) }
    }
}
