/// A range of the standard library as a schema needs it.
protocol BoundedRange {
    typealias Bounds = (lower: Any?, upper: Any?, includesUpper: Bool)

    var bounds: Bounds { get }
}

extension ClosedRange: BoundedRange {
    var bounds: Bounds { (lowerBound, upperBound, true) }
}

extension Range: BoundedRange {
    var bounds: Bounds { (lowerBound, upperBound, false) }
}

extension PartialRangeFrom: BoundedRange {
    var bounds: Bounds { (lowerBound, nil, true) }
}

extension PartialRangeThrough: BoundedRange {
    var bounds: Bounds { (nil, upperBound, true) }
}

extension PartialRangeUpTo: BoundedRange {
    var bounds: Bounds { (nil, upperBound, false) }
}
