package import Foundation

/// A number in the sense of a property list: 1, 1.0 and true are three values, −0.0 keeps its sign, and all NaNs are the same
/// value.
package enum CanonicalNumber: Equatable {
    case bool(Bool)
    case integer(Int64)
    case unsigned(UInt64)
    case double(UInt64)

    init(_ value: Double) {
        self = .double(value.isNaN ? Double.nan.bitPattern : value.bitPattern)
    }

    package init<I: FixedWidthInteger>(_ value: I) {
        self = Int64(exactly: value).map(Self.integer) ?? .unsigned(UInt64(truncatingIfNeeded: value))
    }

    package init(_ number: NSNumber) {
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "d"), UInt8(ascii: "f"):
            self.init(number.doubleValue)
        case UInt8(ascii: "Q"), UInt8(ascii: "L"):
            self.init(number.uint64Value)
        default:
            // A Boolean has the Objective-C type of a char, but its own class.
            if ObjectIdentifier(type(of: number)) == Self.booleanClass {
                self = .bool(number.boolValue)
            } else {
                self.init(number.int64Value)
            }
        }
    }

    /// nil if the object, which is in canonical form, is neither a number nor a Boolean.
    init?(object: Any) {
        let kind = type(of: object)
        if kind == Bool.self, let value = object as? Bool {
            self = .bool(value)
        } else if kind is NSNumber.Type, kind != NSDecimalNumber.self, let number = object as? NSNumber {
            self.init(number)
        } else {
            return nil
        }
    }

    /// The stored form: a native Bool, otherwise an NSNumber, so that `as? Int`, `as? Double` and `as? Float` work on Linux as they do
    /// on Apple platforms.
    package var object: Any {
        switch self {
        case .bool(let value): value
        case .integer(let value): NSNumber(value: value)
        case .unsigned(let value): NSNumber(value: value)
        case .double(let bits): NSNumber(value: Double(bitPattern: bits))
        }
    }

    /// Whether a number is what `object` would make of it. False for some that are.
    static func isPlain(_ number: NSNumber) -> Bool {
        guard ObjectIdentifier(type(of: number)) == plainClass else { return false }
        return switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "q"): true
        case UInt8(ascii: "d"): !number.doubleValue.isNaN
        default: false
        }
    }

    /// On Apple platforms a subclass of `NSNumber`.
    private static let plainClass = ObjectIdentifier(type(of: NSNumber(value: Int64(1))))
    private static let booleanClass = ObjectIdentifier(type(of: NSNumber(value: true)))
}
