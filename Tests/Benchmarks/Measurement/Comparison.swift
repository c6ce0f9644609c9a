/// Compares a row with others of its group, by their times in one round.
struct Comparison: Sendable {
    let title: String
    let others: [String]
    /// The goal of the ratio. It is printed and not checked.
    let goal: String?
    let ratio: @Sendable (_ own: Double, _ others: [Double]) -> Double

    /// How many times as long as another row takes.
    static func times(_ other: String, atMost limit: Double? = nil) -> Comparison {
        Comparison(title: "× \(other)", others: [other], goal: limit.map { "≤ \($0)" }) { $0 / $1[0] }
    }

    /// How many times as fast as another row.
    static func faster(than other: String, atLeast limit: Double? = nil) -> Comparison {
        Comparison(title: "times as fast as \(other)", others: [other], goal: limit.map { "≥ \($0)" }) { $1[0] / $0 }
    }
}
