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
            compare(left.sortedByBytes, right.sortedByBytes) { left, right in
                let order = compare(left.key.utf8, right.key.utf8)
                return order == 0 ? compare(left.value, right.value) : order
            }
        default: compare(left.rank, right.rank)
        }
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

extension [String: StoredValue] {
    /// The members in the order of the bytes of their keys, which is the same in every process.
    package var sortedByBytes: [Element] { indicesByBytes.map { self[$0] } }

    /// The places of the members in that order.
    ///
    /// The first bytes of a key and the number of its place are one integer, because integers are sorted ten times as
    /// fast as texts. Few keys have the same first bytes.
    var indicesByBytes: [Index] {
        let places = Array(indices)
        let mask = UInt64.max >> UInt64(UInt64(places.count).leadingZeroBitCount)
        var numbers: [UInt64] = []
        numbers.reserveCapacity(places.count)
        for place in places { numbers.append(keys[place].firstBytes & ~mask | UInt64(numbers.count)) }
        numbers.sort()
        var order = numbers.map { places[Int($0 & mask)] }
        var start = 0
        while start < order.count {
            let end = numbers[start...].firstIndex { $0 & ~mask != numbers[start] & ~mask } ?? order.count
            if end > start + 1 { order[start..<end].sort { keys[$0].precedes(keys[$1]) } }
            start = end
        }
        return order
    }
}
