package import Foundation

/// The objects that users get.
extension StoredValue {
    /// The value as String, Data, Date, a native Bool, NSNumber, `[Any]` or `[String: Any]`. A number is an NSNumber,
    /// so that `as? Int`, `as? Double` and `as? Float` work on Linux as on Apple platforms. Nulls in containers are left
    /// out. Costs linear time.
    package var object: Any {
        switch self {
        case .string(let text): text
        case .bool(let bool): bool
        case .integer(let value): NSNumber(value: value)
        case .unsigned(let value): NSNumber(value: value)
        case .real(let value): NSNumber(value: value)
        case .decimal: plain.object
        case .date(let date): date
        case .data(let data): data
        case .array(let elements): elements.withoutNulls.map(\.object)
        case .dictionary(let members): members.objects
        case .uid(let uid): uid
        case .foreign(let foreign): foreign.object
        case .null: NSNull()
        }
    }

    package init(_ number: NSNumber) {
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "d"), UInt8(ascii: "f"): self.init(number.doubleValue)
        case UInt8(ascii: "Q"), UInt8(ascii: "L"): self.init(number.uint64Value)
        default:
            // A Boolean has the Objective-C type of a char, but its own class.
            let isBoolean = ObjectIdentifier(type(of: number)) == Self.classOfBooleans
            self = isBoolean ? .bool(number.boolValue) : .integer(number.int64Value)
        }
    }

    private static let classOfBooleans = ObjectIdentifier(type(of: NSNumber(value: true)))
}

extension [String: StoredValue] {
    /// ``StoredValue/object`` of each value.
    package var objects: [String: Any] { withoutNulls.mapValues(\.object) }

    /// The members that other code sees.
    package var withoutNulls: [String: StoredValue] {
        values.contains(where: \.isNull) ? filter { !$0.value.isNull } : self
    }
}

extension [StoredValue] {
    /// The elements that other code sees.
    fileprivate var withoutNulls: [StoredValue] { contains(where: \.isNull) ? filter { !$0.isNull } : self }
}
