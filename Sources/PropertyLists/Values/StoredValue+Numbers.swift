import Foundation

/// Conversions of stored numbers to other types, if nothing is lost.
extension StoredValue {
    package func integer<I: FixedWidthInteger>(as type: I.Type = I.self) -> I? {
        switch self {
        case .integer(let value): I(exactly: value)
        case .unsigned(let value): I(exactly: value)
        case .real(let value): I(exactly: value)
        default: nil
        }
    }

    package var double: Double? {
        switch self {
        case .integer(let value): Double(exactly: value)
        case .unsigned(let value): Double(exactly: value)
        case .real(let value): value
        default: nil
        }
    }

    /// The digits of the number; nil if the value is not a number.
    package var numberText: String? {
        switch self {
        case .integer(let value): value.description
        case .unsigned(let value): value.description
        case .real(let value): value.description
        case .decimal(let text): text
        default: nil
        }
    }

    /// The number as a Double, rounded if necessary; nil if the value is not a number.
    package var nearestDouble: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .unsigned(let value): Double(value)
        case .real(let value): value
        case .decimal(let text): Double(text)
        default: nil
        }
    }

    /// Whether the text of a number has more digits than any Decimal.
    var hasMoreDigitsThanADecimal: Bool {
        if case .decimal(let text) = self { NumberText.significantDigits(of: text).count > 38 } else { false }
    }

    /// The Float that equals the number exactly or has the same shortest decimal digits; nil if there is no such Float.
    var float: Float? {
        switch self {
        case .integer(let value): return Float(exactly: value)
        case .unsigned(let value): return Float(exactly: value)
        case .real(let value):
            let nearest = Float(value)
            let isExact = value.isNaN || Double(nearest) == value
            return isExact || nearest.isFinite && Double(nearest.description) == value ? nearest : nil
        default: return nil
        }
    }

    var boolean: Bool? {
        switch self {
        case .bool(let value): value
        case .integer(0): false
        case .integer(1): true
        default: nil
        }
    }

    /// True for a number. False for a Boolean.
    package var isNumber: Bool {
        switch self {
        case .integer, .unsigned, .real, .decimal: true
        default: false
        }
    }
}
