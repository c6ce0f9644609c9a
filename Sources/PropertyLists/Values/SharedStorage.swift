import Foundation

/// Detects containers that share their storage, because neither copy was changed.
package enum SharedStorage {
    /// A container is one word: the reference to its storage.
    static func isShared<Container>(_ left: Container, _ right: Container) -> Bool {
        unsafeBitCast(left, to: UInt.self) == unsafeBitCast(right, to: UInt.self)
    }

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
            return isShared(left, right)
        }
        if kind == [String: Any].self, let left = left as? [String: Any], let right = right as? [String: Any] {
            return isShared(left, right)
        }
        if kind == Data.self, let left = left as? Data, let right = right as? Data {
            return left.hasSameBytes(as: right)
        }
        if kind == KeyedArchiveUID.self { return left as? KeyedArchiveUID == right as? KeyedArchiveUID }
        guard kind == Date.self, let left = left as? Date, let right = right as? Date else { return false }
        return left.timeIntervalSinceReferenceDate.bitPattern == right.timeIntervalSinceReferenceDate.bitPattern
    }
}
