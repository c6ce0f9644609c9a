import Foundation

/// An order of values of all types. Sets are stored sorted, so that equal sets have equal stored forms. References and
/// foreign objects, which sets cannot hold, are ordered by their kind alone.
extension StoredValue {
    static func precedes(_ left: StoredValue, _ right: StoredValue) -> Bool { compare(left, right) < 0 }

    private static func compare(_ left: StoredValue, _ right: StoredValue) -> Int {
        switch (left, right) {
        case (.string(let left), .string(let right)): compare(left.utf8, right.utf8)
        case (.bool(let left), .bool(let right)): (left ? 1 : 0) - (right ? 1 : 0)
        case (.integer(let left), .integer(let right)): compare(left, right)
        case (.unsigned(let left), .unsigned(let right)): compare(left, right)
        case (.real(let left), .real(let right)): compare(left, right)
        case (.date(let left), .date(let right)):
            compare(left.timeIntervalSinceReferenceDate, right.timeIntervalSinceReferenceDate)
        case (.data(let left), .data(let right)): compare(left, right)
        case (.array(let left), .array(let right)): compare(left, right, compare)
        case (.dictionary(let left), .dictionary(let right)):
            compare(pairs(left), pairs(right)) { left, right in
                let order = compare(left.key.utf8, right.key.utf8)
                return order == 0 ? compare(left.value, right.value) : order
            }
        default: compare(left.rank, right.rank)
        }
    }

    private static func pairs(_ members: [String: StoredValue]) -> [(key: String, value: StoredValue)] {
        members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }

    private static func compare<T: Comparable>(_ left: T, _ right: T) -> Int {
        left < right ? -1 : right < left ? 1 : 0
    }

    /// Compares every bit of two numbers. The one NaN is greater than all numbers.
    private static func compare(_ left: Double, _ right: Double) -> Int {
        if left.bitPattern == right.bitPattern { return 0 }
        return left.isTotallyOrdered(belowOrEqualTo: right) ? -1 : 1
    }

    private static func compare<S: Sequence>(_ left: S, _ right: S) -> Int where S.Element: Comparable {
        compare(left, right) { $0 < $1 ? -1 : $1 < $0 ? 1 : 0 }
    }

    private static func compare<S: Sequence>(
        _ left: S, _ right: S, _ order: (S.Element, S.Element) -> Int
    ) -> Int {
        var others = right.makeIterator()
        for element in left {
            guard let other = others.next() else { return 1 }
            let result = order(element, other)
            if result != 0 { return result }
        }
        return others.next() == nil ? 0 : -1
    }

    private var rank: Int {
        switch self {
        case .string: 0
        case .bool: 1
        case .integer: 2
        case .unsigned: 3
        case .real: 4
        case .date: 5
        case .data: 6
        case .array: 7
        case .dictionary: 8
        case .uid: 9
        case .foreign: 10
        case .null: 11
        case .decimal: 12
        }
    }
}
