/// Whether a decoded value is cached and returned again while the stored object stays equal.
package enum DecodeCachePolicy {
    /// Decoding costs no more than comparing what is stored in another state.
    case unneeded
    /// Decoding costs more, and no value of the type holds an object of a class.
    case useful
    /// The same, except for values that hold an object: each reader gets its own.
    case usefulWithoutObjects
    /// Every value is an object, or an object may be hidden in it.
    case forbidden

    /// For a custom coding, of which only the type is known.
    static func of(_ type: Any.Type) -> DecodeCachePolicy {
        if type is AnyClass { return .forbidden }
        return ObjectSearch.mayHoldObjects(type) ? .usefulWithoutObjects : .useful
    }

    /// The policy of a container of such values.
    var inContainer: DecodeCachePolicy {
        if case .unneeded = self { .useful } else { self }
    }

    /// Whether several readers may get one and the same decoded value.
    package func isAllowed(for value: Any) -> Bool {
        switch self {
        case .unneeded, .useful: true
        case .usefulWithoutObjects: !ObjectSearch.findsObject(in: value)
        case .forbidden: false
        }
    }

    /// Whether it is useful to look for the same object in another state.
    package var isWorthwhile: Bool {
        switch self {
        case .useful, .usefulWithoutObjects: true
        case .unneeded, .forbidden: false
        }
    }
}
