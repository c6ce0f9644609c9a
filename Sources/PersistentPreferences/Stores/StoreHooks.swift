import PrefsPropertyLists

/// A store of this package, which has `Roots`.
package protocol RootsStore: PrefsStore {
    /// The roots of the store.
    var ownRoots: Roots { get }
}

extension PrefsStore {
    /// The roots of the store as the base class uses them.
    package var roots: Roots {
        // By its class: the first search for a conformance costs 200,000 instructions at the start of a program.
        (self as? PropertyListFileStore)?.ownRoots ?? (self as? UserDefaultsStore)?.ownRoots
            ?? (self as? any RootsStore)?.ownRoots
            ?? Roots(unreachable: .unknownError(error: nil))
    }
}

/// A store for an instance with one property, which no class declares. No `withStore` replaces its roots.
///
/// Not an initializer of the base class: a class with an initializer that clients cannot see gives them no error for a
/// property without a value.
package final class PropertyStore: RootsStore {
    package let ownRoots: Roots
    let property: any DeclaredProperty

    package init(of property: any DeclaredProperty, in roots: Roots) {
        (self.property, ownRoots) = (property, roots)
    }
}

/// An instance, whose class has a store.
package protocol StoreOwner: AnyObject, Sendable {
    static var store: any PrefsStore { get }
}

/// Lets an instance choose its store, once when it is created or at each access. Pass it only to an initializer.
package final class ChoosingStore: RootsStore {
    package let ownRoots = Roots(unreachable: .userDefaultsUnavailable)
    private let choose: @Sendable (any StoreOwner) throws -> any PrefsStore
    /// The store that was chosen last. It is kept for its observers, and shared by all instances of one place.
    private let chosen = Locked<(any PrefsStore)?>(nil)

    /// - Parameter choose: returns the store of an instance: always one object as long as it is in use. Called after
    ///   the instance has been initialized, except for the first time.
    package init(_ choose: @escaping @Sendable (any StoreOwner) throws -> any PrefsStore) {
        self.choose = choose
    }

    /// The store of an instance; nil if it has none at the moment.
    func store(of owner: any StoreOwner) -> (any PrefsStore)? { try? choose(owner) }

    /// - Parameter owner: the instance; nil if it was released.
    func roots(of owner: (any StoreOwner)?) -> Roots {
        do {
            guard let owner else { throw PrefsError.userDefaultsUnavailable }
            let store = try choose(owner)
            chosen.withLock { $0 = store }
            return store.roots
        } catch {
            return Roots(unreachable: PrefsError(error))
        }
    }
}
