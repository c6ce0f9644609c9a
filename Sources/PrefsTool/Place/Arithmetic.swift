import Foundation
import PrefsJSON
import PrefsPropertyLists

/// Adds to numbers of any width, exactly or not at all.
enum Arithmetic {
    /// The sum of a stored number and a text; nil if the value is not a number.
    ///
    /// - Throws: `CommandError` if the text is not a number, or if the sum cannot be represented.
    static func sum(of value: StoredValue, and text: String, _ name: String) throws -> StoredValue? {
        let place = "`\(ShownText.key(name))`"
        switch value {
        case .integer, .unsigned: return try sum(of: Decimal(storable: value) ?? 0, and: text, place)
        case .decimal(let old):
            guard let sum = try sum(ofDecimal: value, and: text, name)?.string else {
                return try self.sum(of: value.plain, and: text, name)
            }
            let ending = old.contains(".") && !sum.contains(".") ? ".0" : ""
            return try ExportFormat.value(ofJSON: Data((sum + ending).utf8), keepsNulls: true)
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

    /// - Parameter old: an integer of 64 bits. A Decimal has room for the exact sum of two.
    private static func sum(of old: Decimal, and text: String, _ place: String) throws -> StoredValue {
        guard let amount = Int64(text).map({ Decimal($0) }) ?? UInt64(text).map({ Decimal($0) }) else {
            throw CommandError("expected a 64-bit integer such as 1 or -7, found \"\(ShownText.key(text))\"")
        }
        let sum = "\(old + amount)"
        guard let value = Int64(sum).map(StoredValue.integer) ?? UInt64(sum).map({ StoredValue($0) }) else {
            throw CommandError("\(place): the sum is beyond 64 bits")
        }
        return value
    }
}
