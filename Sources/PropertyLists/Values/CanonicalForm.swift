package import Foundation

/// A value that is in canonical form already, by its kind.
///
/// Compares exact types: a cast to a container would try to bridge every number, at the price of a hundred comparisons.
package enum CanonicalForm {
    case text(String)
    case bool(Bool)
    case number(NSNumber)
    case date(Date)
    case data(Data)
    case list([Any])
    case dictionary([String: Any])
    case uid(KeyedArchiveUID)
    /// A value that is not in canonical form.
    case foreign

    package init(_ value: Any) {
        if let form = _openExistential(value, do: outerForm) { self = form } else { self = Self.innerForm(value) }
    }

    private static func innerForm(_ value: Any) -> CanonicalForm {
        let kind = type(of: value)
        if kind is AnyClass {
            guard kind is NSNumber.Type, kind != NSDecimalNumber.self, let number = value as? NSNumber else {
                return .foreign
            }
            return .number(number)
        }
        if kind == String.self, let text = value as? String { return .text(text) }
        if kind == Bool.self, let bool = value as? Bool { return .bool(bool) }
        if kind == [Any].self, let list = value as? [Any] { return .list(list) }
        if kind == [String: Any].self, let dictionary = value as? [String: Any] { return .dictionary(dictionary) }
        if kind == Date.self, let date = value as? Date { return .date(date) }
        if kind == Data.self, let data = value as? Data { return .data(data) }
        if kind == KeyedArchiveUID.self, let uid = value as? KeyedArchiveUID { return .uid(uid) }
        return .foreign
    }
}

/// nil if the static type of the value, which may be a protocol or a base class, is not its dynamic type.
///
/// The bit casts are safe, because the types are the same. A cast would look for conformances and take ten times as long.
private func outerForm<Value>(_ value: Value) -> CanonicalForm? {
    if Value.self == String.self { return .text(unsafeBitCast(value, to: String.self)) }
    if isNumber(Value.self) {
        let number = withUnsafePointer(to: value) { UnsafeRawPointer($0).load(as: NSNumber.self) }
        return type(of: number) == NSDecimalNumber.self ? .foreign : .number(number)
    }
    if Value.self == Bool.self { return .bool(unsafeBitCast(value, to: Bool.self)) }
    if Value.self == [Any].self { return .list(unsafeBitCast(value, to: [Any].self)) }
    if Value.self == [String: Any].self { return .dictionary(unsafeBitCast(value, to: [String: Any].self)) }
    if Value.self == Date.self { return .date(unsafeBitCast(value, to: Date.self)) }
    if Value.self == Data.self { return .data(unsafeBitCast(value, to: Data.self)) }
    if Value.self == KeyedArchiveUID.self { return .uid(unsafeBitCast(value, to: KeyedArchiveUID.self)) }
    return nil
}

/// Whether a type is the class of Foundation's numbers: on Apple platforms a subclass of `NSNumber`.
@inline(__always)
private func isNumber(_ type: Any.Type) -> Bool { type == NSNumber.self || type == classOfNumbers }

private let classOfNumbers: Any.Type = Swift.type(of: NSNumber(value: Int64(1)))
