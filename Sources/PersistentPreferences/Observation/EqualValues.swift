/// Compares values of types that may be Equatable.
package enum EqualValues {
    /// False also if the values cannot be compared.
    package static func areEqual<Value>(_ left: Value, _ right: Value) -> Bool {
        func isEqual<T: Equatable>(_ left: T) -> Bool { left == right as? T }
        return (left as? any Equatable).map { isEqual($0) } ?? false
    }
}
