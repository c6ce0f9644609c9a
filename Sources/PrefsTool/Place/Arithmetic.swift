import Foundation
import PersistentPreferences
import PrefsPropertyLists

/// Adds to numbers of any width, exactly or not at all.
enum Arithmetic {
    /// The sum of a stored number and a text; nil if the value is not a number.
    ///
    /// - Throws: `CommandError` if the text is not a number, or if the sum cannot be represented.
    static func sum(of value: StoredValue, and text: String, _ name: String) throws -> StoredValue? {
        let place = "`\(ShownText.key(name))`"
        switch value {
        case .integer(let old): return try sum(of: Wide(old), and: text, place)
        case .unsigned(let old): return try sum(of: Wide(old), and: text, place)
        case .decimal: return try sum(of: value.plain, and: text, name)
        case .real(let old):
            guard let amount = Double(text), amount.isFinite else {
                throw CommandError("expected a number such as 0.5, found \"\(ShownText.key(text))\"")
            }
            let sum = old + amount
            guard sum.isFinite else { throw CommandError("\(place): the sum is too large for a number") }
            guard sum != old || amount == 0 else {
                throw CommandError(
                    "\(place) has too many digits, so adding \(ShownText.key(text)) would change nothing")
            }
            return StoredValue(sum)
        default: return nil
        }
    }

    /// The sum of a stored Decimal and a text; nil if one of them is not a decimal number.
    ///
    /// - Throws: `CommandError` if the sum has more digits than a Decimal.
    static func sum(ofDecimal stored: StoredValue, and text: String, _ name: String) throws -> StoredValue? {
        guard let old = Decimal(storable: stored), let amount = Decimal(storable: .string(text)) else { return nil }
        // Foundation rounds a sum that has too many digits.
        let sum = old + amount
        guard sum.isFinite, sum - amount == old, sum - old == amount else {
            throw CommandError("`\(ShownText.key(name))`: the sum has more than 38 digits")
        }
        return sum.storable
    }

    private static func sum(of old: Wide, and text: String, _ place: String) throws -> StoredValue {
        guard let amount = Wide(text) else {
            throw CommandError("expected a 64-bit integer such as 1 or -7, found \"\(ShownText.key(text))\"")
        }
        guard let sum = (old + amount)?.value else { throw CommandError("\(place): the sum is beyond 64 bits") }
        return sum
    }

    /// An integer of 65 bits: the sign, and the distance from zero. A sum never overflows silently.
    private struct Wide {
        let isNegative: Bool
        let magnitude: UInt64

        init(_ number: some FixedWidthInteger) {
            self.init(number < 0, UInt64(number.magnitude))
        }

        init?(_ text: String) {
            guard let number = Int64(text).map(Self.init) ?? UInt64(text).map(Self.init) else { return nil }
            self = number
        }

        private init(_ isNegative: Bool, _ magnitude: UInt64) {
            (self.isNegative, self.magnitude) = (isNegative, magnitude)
        }

        /// The sum; nil if it has more than 65 bits.
        static func + (left: Wide, right: Wide) -> Wide? {
            if left.isNegative == right.isNegative {
                let (sum, isBeyond) = left.magnitude.addingReportingOverflow(right.magnitude)
                return isBeyond ? nil : Wide(left.isNegative, sum)
            }
            let (large, small) = left.magnitude >= right.magnitude ? (left, right) : (right, left)
            return Wide(large.isNegative, large.magnitude - small.magnitude)
        }

        /// The stored value; nil if neither a signed nor an unsigned integer of 64 bits has it.
        var value: StoredValue? {
            if !isNegative { return StoredValue(magnitude) }
            return magnitude <= Int64.min.magnitude ? .integer(Int64(truncatingIfNeeded: 0 &- magnitude)) : nil
        }
    }
}
