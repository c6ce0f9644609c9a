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
    var elements: [Any] { map { $0 } }
}

protocol DictionaryValue {
    var pairs: [(Any, Any)] { get }
}

extension Dictionary: DictionaryValue {
    var pairs: [(Any, Any)] { map { ($0.key, $0.value) } }
}

extension NSDictionary: DictionaryValue {
    var pairs: [(Any, Any)] { map { ($0.key, $0.value) } }
}
