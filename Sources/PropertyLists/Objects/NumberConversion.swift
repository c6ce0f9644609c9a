import Foundation

/// Converts stored numbers to other types, if nothing is lost.
package enum NumberConversion {
    package static func integer<I: FixedWidthInteger>(_ object: Any) -> I? {
        switch CanonicalNumber(object: object) {
        case .integer(let value): I(exactly: value)
        case .unsigned(let value): I(exactly: value)
        case .double(let bits): I(exactly: Double(bitPattern: bits))
        case .bool, nil: nil
        }
    }

    static func double(_ object: Any) -> Double? {
        switch CanonicalNumber(object: object) {
        case .integer(let value): Double(exactly: value)
        case .unsigned(let value): Double(exactly: value)
        case .double(let bits): Double(bitPattern: bits)
        case .bool, nil: nil
        }
    }

    /// A real number with the shortest digits of a Float reads as that Float; one with more digits does not.
    static func float(_ object: Any) -> Float? {
        switch CanonicalNumber(object: object) {
        case .integer(let value): return Float(exactly: value)
        case .unsigned(let value): return Float(exactly: value)
        case .double(let bits):
            let value = Double(bitPattern: bits)
            let nearest = Float(value)
            let isExact = value.isNaN || Double(nearest) == value
            return isExact || nearest.isFinite && Double(nearest.description) == value ? nearest : nil
        case .bool, nil: return nil
        }
    }

    static func bool(_ object: Any) -> Bool? {
        switch CanonicalNumber(object: object) {
        case .bool(let value): value
        case .integer(0): false
        case .integer(1): true
        default: nil
        }
    }
}
