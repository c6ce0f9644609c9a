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

    /// Whether two objects are certainly equal: equal scalars of one type, one object, or containers that share their
    /// storage. Takes constant time except for texts and data.
    package static func areSame(_ left: Any, _ right: Any) -> Bool {
        let kind = type(of: left)
        guard kind == type(of: right) else { return false }
        if kind == String.self, let left = left as? String, let right = right as? String {
            return left.hasSameBytes(as: right)
        }
        if kind is AnyClass { return (left as AnyObject) === (right as AnyObject) }
        if kind == Bool.self, let left = left as? Bool, let right = right as? Bool { return left == right }
        if kind == [Any].self, let left = left as? [Any], let right = right as? [Any] {
            return SharedStorage.isShared(left, right)
        }
        if kind == [String: Any].self, let left = left as? [String: Any], let right = right as? [String: Any] {
            return SharedStorage.isShared(left, right)
        }
        if kind == Data.self, let left = left as? Data, let right = right as? Data {
            return left.hasSameBytes(as: right)
        }
        if kind == KeyedArchiveUID.self { return left as? KeyedArchiveUID == right as? KeyedArchiveUID }
        guard kind == Date.self, let left = left as? Date, let right = right as? Date else { return false }
        return StoredValue.date(left) == .date(right)
    }
}

extension [String: StoredValue] {
    /// ``StoredValue/object`` of each value.
    package var objects: [String: Any] {
        let hasNulls = values.contains(where: \.isNull)
        return (hasNulls ? filter { !$0.value.isNull } : self).mapValues(\.object)
    }
}

extension [StoredValue] {
    /// The elements that other code sees.
    fileprivate var withoutNulls: [StoredValue] { contains(where: \.isNull) ? filter { !$0.isNull } : self }
}
