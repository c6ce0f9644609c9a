/// The middle of several measurements, and where half of them lie.
struct Spread {
    let median: Double
    let lowerQuartile: Double
    let upperQuartile: Double

    /// - Parameter values: at least one value.
    init(_ values: [Double]) {
        let sorted = values.sorted()
        func value(at part: Double) -> Double {
            let position = part * Double(sorted.count - 1)
            let index = Int(position)
            let next = min(index + 1, sorted.count - 1)
            return sorted[index] + (sorted[next] - sorted[index]) * (position - Double(index))
        }
        median = value(at: 0.5)
        lowerQuartile = value(at: 0.25)
        upperQuartile = value(at: 0.75)
    }
}
