import Foundation

/// Lets the vetter look into any optional, array or dictionary without a cast that would copy or convert it.
protocol OptionalValue {
    var wrappedValue: Any? { get }
}

extension Optional: OptionalValue {
    var wrappedValue: Any? { self }
}

protocol ArrayValue {
    var elements: [Any] { get }
}

extension Array: ArrayValue {
    var elements: [Any] { self }
}

extension NSArray: ArrayValue {
    /// A copy of the references: the array may be mutable and somebody else's.
    var elements: [Any] {
        let references = Mirror(reflecting: self).children
        // Of a subclass with a storage of its own the mirror shows nothing.
        guard references.count == count else { return map { $0 } }
        return references.map { unboxed($0.value as AnyObject) }
    }
}

protocol DictionaryValue {
    var pairs: [(Any, Any)] { get }
}

extension Dictionary: DictionaryValue {
    var pairs: [(Any, Any)] { map { ($0.key, $0.value) } }
}

extension NSDictionary: DictionaryValue {
    var pairs: [(Any, Any)] {
        let references = Mirror(reflecting: self).children.compactMap { $0.value as? (key: NSObject, value: AnyObject) }
        guard references.count == count else { return map { ($0.key, $0.value) } }
        return references.map { (unboxed($0.key), unboxed($0.value)) }
    }
}

/// What an Objective-C container holds, out of the box that Swift values are put in there.
///
/// On Linux every accessor of such a container turns the containers inside into Swift's, all the way down: a cycle would
/// overflow the stack, and shared references multiply, before anybody could count. A mirror gives the references. A text
/// stays an object too: as a Swift string it would have U+FFFD for an unpaired surrogate.
private func unboxed(_ object: AnyObject) -> Any {
    switch object {
    case is NSArray, is NSDictionary, is NSSet, is NSString: object
    default: NSArray(object: object).object(at: 0)
    }
}
