import PrefsPropertyLists

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
    /// By the address of the class.
    private static let stores = Locked(NumberTable<PrefsStore>())

    package static func store(of type: any StoreOwner.Type) -> PrefsStore {
        let address = Int(bitPattern: ObjectIdentifier(type))
        if let known = stores.withLock({ $0[address] }) { return known }
        // Not in the lock: the property may use instances of other classes.
        let new = type.store
        return stores.withLock { $0.add(new, at: address) } ?? new
    }
}
