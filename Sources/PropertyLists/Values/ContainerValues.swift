import Foundation

/// Gives the vetter access to any Swift optional, array or dictionary without a cast that would copy or convert it.
package protocol OptionalValue {
    static var wrappedType: Any.Type { get }
    var wrappedValue: Any? { get }
    static var noValue: Self { get }
}

extension Optional: OptionalValue {
    package static var wrappedType: Any.Type { Wrapped.self }
    package var wrappedValue: Any? { self }
    package static var noValue: Wrapped? { nil }
}

protocol ArrayValue {
    var count: Int { get }
    var elements: [Any] { get }
}

extension Array: ArrayValue {
    var elements: [Any] { self }
}

protocol DictionaryValue {
    var count: Int { get }
    associatedtype Pairs: Sequence<(Any, Any)>
    var pairs: Pairs { get }
}

extension Dictionary: DictionaryValue {
    var pairs: some Sequence<(Any, Any)> { lazy.map { ($0.key as Any, $0.value as Any) } }
}

// On Linux, every accessor of an NSArray or NSDictionary converts all nested containers to Swift, before the vetter
// could count them. A mirror returns the references without a conversion. A string stays an object, too, because a
// Swift string would have U+FFFD in place of an unpaired surrogate.

extension NSArray {
    /// A copy of the references, because the array may be mutable and used by other code. nil for a subclass, because
    /// only its methods know its elements.
    var references: [Any]? {
        let kind = type(of: self)
        guard kind == NSArray.self || kind == NSMutableArray.self else { return nil }
        return Mirror(reflecting: self).children.map { unboxed($0.value as AnyObject) }
    }
}

extension NSDictionary {
    /// A copy of the pairs, because the dictionary may be mutable and used by other code. nil for a subclass, because
    /// only its methods know its pairs.
    var references: [(Any, Any)]? {
        let kind = type(of: self)
        guard kind == NSDictionary.self || kind == NSMutableDictionary.self else { return nil }
        return Mirror(reflecting: self).children.compactMap {
            ($0.value as? (key: NSObject, value: AnyObject)).map { (unboxed($0.key), unboxed($0.value)) }
        }
    }
}

/// The Swift value in a box of a Foundation container; any other object unchanged.
private func unboxed(_ object: AnyObject) -> Any {
    // Only boxes are passed to Foundation. It would convert any other object, and trust the length that the object
    // reports.
    ObjectIdentifier(type(of: object)) == boxClass ? NSArray(object: object).object(at: 0) : object
}

private struct Boxed {}
private let boxClass = ObjectIdentifier(type(of: Boxed() as AnyObject))
