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
            guard let amount = Decimal(string: text, locale: nil), amount.isFinite,
                text == "\(amount)" || Int(text) != nil,
                Int(text) != nil || UInt64(text) != nil
            else {
                throw CommandError("expected a 64-bit integer such as 1 or -7, found \"\(ShownText.key(text))\"")
            }
            let sum = number.decimalValue + amount
            if let result = Int("\(sum)") { return result }
            if let result = UInt64("\(sum)") { return result }
            throw CommandError("\(place): the sum \(sum) is beyond 64 bits")
        }
        guard let amount = Double(text), amount.isFinite else {
            throw CommandError("expected a number such as 0.5, found \"\(ShownText.key(text))\"")
        }
        return number.doubleValue + amount
    }
}
