/// Finds objects of classes in values: two readers of one object would share its state, and might race.
package enum ObjectSearch {
    /// Whether a value is an object or holds one. When in doubt, the answer is yes.
    ///
    /// Cost: linear in the parts of the value whose types may hold objects.
    package static func findsObject(in value: Any) -> Bool {
        let type = type(of: value)
        if type is AnyClass { return true }
        guard mayHoldObjects(type) else { return false }
        let mirror = Mirror(reflecting: value)
        guard mirror.children.isEmpty else { return mirror.children.contains { findsObject(in: $0.value) } }
        return switch mirror.displayStyle {
        case .enum, .optional, .collection, .dictionary, .set, .tuple: false
        // A closure, or a structure that hides its parts.
        default: true
        }
    }

    /// False if no value of the type can hold an object with mutable state.
    static func mayHoldObjects(_ type: Any.Type) -> Bool {
        func isPlainBits<T>(_ type: T.Type) -> Bool { _isPOD(type) }
        if type is AnyClass { return true }
        if type is any StorableScalar.Type || isPlainBits(type) { return false }
        guard let container = type as? any StorableContainer.Type else { return true }
        return mayHoldObjects(container.contentType)
    }
}
