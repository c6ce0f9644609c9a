/// Whether a decoded value is kept and handed out again for as long as what is stored is the same.
enum DecodedReuse {
    /// Decoding costs no more than comparing what is stored in another state.
    case needless
    /// Until an object is sighted in a value.
    case useful(ObjectSighting?)
    /// Of an object two readers would share the state.
    case forbidden

    /// For a coding of somebody's own, of which only the type is known.
    static func of(_ type: Any.Type) -> DecodedReuse {
        if type is AnyClass { return .forbidden }
        guard let container = type as? any StorableContainer.Type else { return .useful(nil) }
        return of(container.contentType).inContainer
    }

    /// Of what holds values like this.
    var inContainer: DecodedReuse {
        if case .needless = self { .useful(nil) } else { self }
    }

    var isAllowed: Bool {
        switch self {
        case .needless: true
        case .forbidden: false
        case .useful(let sighting): sighting?.hasHappened != true
        }
    }

    /// Whether to look for the same object in another state.
    var isWorthwhile: Bool {
        if case .needless = self { false } else { isAllowed }
    }
}

/// That a type's values hold objects is known only when its decoder asks for one.
final class ObjectSighting: @unchecked Sendable {
    private let lock = Lock()
    private var isNoted = false

    var hasHappened: Bool { lock.withLock { isNoted } }

    func note() {
        lock.withLock { isNoted = true }
    }
}
