import Foundation
import PersistentPreferences

/// Adds to numbers of any width, exactly or not at all.
enum Arithmetic {
    /// - Throws: `CommandError` if the value is not a number, the text is none, or the sum cannot be represented.
    static func sum(of value: Any?, and text: String, _ name: String) throws -> Any {
        let place = "`\(ShownText.key(name))`"
        guard let value, let number = value as? NSNumber, ["integer", "float"].contains(ValueText.typeName(value))
        else {
            throw CommandError("\(place) is not a number")
        }
        if ValueText.typeName(value) == "integer" {
            guard let amount = Wide(text), let old = Wide("\(number)") else {
                throw CommandError("expected a 64-bit integer such as 1 or -7, found \"\(ShownText.key(text))\"")
            }
            guard let sum = (old + amount)?.object else { throw CommandError("\(place): the sum is beyond 64 bits") }
            return sum
        }
        guard let amount = Double(text), amount.isFinite else {
            throw CommandError("expected a number such as 0.5, found \"\(ShownText.key(text))\"")
        }
        return number.doubleValue + amount
    }

    /// An integer of 65 bits: the sign, and the distance from zero. The sum of two such never overflows silently.
    private struct Wide {
        let isNegative: Bool
        let magnitude: UInt64

        init?(_ text: String) {
            guard let magnitude = Int(text)?.magnitude ?? UInt(text) else { return nil }
            (isNegative, self.magnitude) = (text.utf8.first == UInt8(ascii: "-"), UInt64(magnitude))
        }

        private init(_ isNegative: Bool, _ magnitude: UInt64) {
            (self.isNegative, self.magnitude) = (isNegative, magnitude)
        }

        /// nil if the sum is beyond.
        static func + (left: Wide, right: Wide) -> Wide? {
            if left.isNegative == right.isNegative {
                let (sum, isBeyond) = left.magnitude.addingReportingOverflow(right.magnitude)
                return isBeyond ? nil : Wide(left.isNegative, sum)
            }
            let (large, small) = left.magnitude >= right.magnitude ? (left, right) : (right, left)
            return Wide(large.isNegative, large.magnitude - small.magnitude)
        }

        /// nil if neither a signed nor an unsigned integer of 64 bits has the value.
        var object: Any? {
            if !isNegative { return Int(exactly: magnitude).map { $0 as Any } ?? magnitude }
            return magnitude <= Int.min.magnitude ? Int(truncatingIfNeeded: 0 &- magnitude) : nil
        }
    }
}
