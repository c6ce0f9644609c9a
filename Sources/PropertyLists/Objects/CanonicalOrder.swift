import Foundation

/// An order of canonical values, whatever their types: what makes equal sets equal lists.
enum CanonicalOrder {
    static func precedes(_ left: Any, _ right: Any) -> Bool {
        compare(left, right) < 0
    }

    private static func compare(_ left: Any, _ right: Any) -> Int {
        switch (left, right) {
        case (let left as String, let right as String):
            return compare(left.utf8, right.utf8)
        case (let left as Date, let right as Date):
            return compare(left.timeIntervalSinceReferenceDate, right.timeIntervalSinceReferenceDate)
        case (let left as Data, let right as Data):
            return compare(left, right)
        case (let left as [Any], let right as [Any]):
            return compare(left, right) { compare($0, $1) }
        case (let left as [String: Any], let right as [String: Any]):
            return compare(pairs(left), pairs(right)) { left, right in
                let order = compare(left.key.utf8, right.key.utf8)
                return order == 0 ? compare(left.value, right.value) : order
            }
        default:
            if let left = CanonicalNumber(object: left), let right = CanonicalNumber(object: right) {
                return left.precedes(right) ? -1 : right.precedes(left) ? 1 : 0
            }
            return compare(rank(left), rank(right))
        }
    }

    private static func pairs(_ dictionary: [String: Any]) -> [(key: String, value: Any)] {
        dictionary.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }

    private static func compare<T: Comparable>(_ left: T, _ right: T) -> Int {
        left < right ? -1 : right < left ? 1 : 0
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

    private static func rank(_ value: Any) -> Int {
        switch value {
        case is String: 0
        case is Date: 2
        case is Data: 3
        case is [Any]: 4
        case is [String: Any]: 5
        default: 1
        }
    }
}

extension CanonicalNumber {
    /// Orders by kind, then by size.
    fileprivate func precedes(_ other: CanonicalNumber) -> Bool {
        switch (self, other) {
        case (.bool(let left), .bool(let right)): !left && right
        case (.integer(let left), .integer(let right)): left < right
        case (.unsigned(let left), .unsigned(let right)): left < right
        case (.double(let left), .double(let right)):
            Double(bitPattern: left).isTotallyOrdered(belowOrEqualTo: Double(bitPattern: right)) && left != right
        default: rank < other.rank
        }
    }

    private var rank: Int {
        switch self {
        case .bool: 0
        case .integer: 1
        case .unsigned: 2
        case .double: 3
        }
    }
}
