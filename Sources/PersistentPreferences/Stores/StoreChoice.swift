import PrefsPropertyLists

/// What an initializer of an instance does with a store that no user makes.
enum StorePurpose: Sendable {
    /// The instance has this property alone, which no class declares. No `withStore` replaces its roots.
    case property(any DeclaredProperty)
    /// The instance chooses its store.
    case choice(StoreChoice)
}

extension PrefsStore {
    /// Creates the store of an instance with one property.
    ///
    /// Not an initializer of the base class: a class with an initializer that clients cannot see gives them no error for
    /// a property without a value.
    package init(of property: any DeclaredProperty, in roots: Roots) { self.init(roots, for: .property(property)) }

    /// Creates a store that an instance chooses for itself. Pass it only to an initializer.
    package init(_ choice: StoreChoice) {
        self.init(StoreChoice.noRoots, for: .choice(choice))
    }
}

/// An instance, whose class has a store.
package protocol StoreOwner: AnyObject, Sendable {
    static var store: PrefsStore { get }
}

/// The stores of classes. The class property is read once for each class, because it may make a new place each time.
package enum ClassStores {
    private static let stores = Locked<[ObjectIdentifier: PrefsStore]>([:])

    package static func store(of type: any StoreOwner.Type) -> PrefsStore {
        let key = ObjectIdentifier(type)
        if let known = stores.withLock({ $0[key] }) { return known }
        // Not in the lock: the property may use instances of other classes.
        let new = type.store
        return stores.withLock { stores in
            let store = stores[key] ?? new
            stores[key] = store
            return store
        }
    }
}

/// Lets one instance choose its store, once when it is created or at each access.
package final class StoreChoice: Sendable {
    /// The roots of the store itself, which no instance uses.
    fileprivate static let noRoots = Roots(unreachable: .userDefaultsUnavailable)

    private let fixed: @Sendable (any StoreOwner) -> PrefsStore?
    private let choose: @Sendable (any StoreOwner) throws -> PrefsStore
    /// The store that was chosen last, which is kept for the observers of the instance.
    private let chosen = Locked<PrefsStore?>(nil)

    /// - Parameters:
    ///   - fixed: returns the store that an instance keeps; nil if it chooses at each access. Called by the initializer of
    ///     the instance.
    ///   - choose: returns the store of an access.
    package init(
        fixed: @escaping @Sendable (any StoreOwner) -> PrefsStore?,
        _ choose: @escaping @Sendable (any StoreOwner) throws -> PrefsStore
    ) {
        (self.fixed, self.choose) = (fixed, choose)
    }

    func fixedStore(of owner: any StoreOwner) -> PrefsStore? { fixed(owner) }

    // Inlined, it would cost each write of other instances 10 instructions.
    /// - Parameter owner: the instance; nil if it was released.
    @inline(never)
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
