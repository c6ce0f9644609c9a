import PrefsPropertyLists

extension PrefsStore {
    /// The roots of the store as the base class uses them.
    package var roots: Roots { rootsOfPackage ?? Roots(ForeignDomain(self), durability: .process) }

    /// The roots of a store of this package; nil for a store of another module.
    var rootsOfPackage: Roots? {
        // By its class: the first search for a conformance costs 200,000 instructions at the start of a program.
        (self as? PropertyListFileStore)?.ownRoots ?? (self as? UserDefaultsStore)?.ownRoots
            ?? (self as? any RootsStore)?.ownRoots
    }
}

/// A store that can say which roots it has, and who writes them.
package protocol ListingStore: PrefsStore {
    /// The root keys, sorted. Costs a request or more.
    func rootNames() throws -> [String]
    /// The host, program and process that have made the newest change of a root; nil if nobody knows. Costs two requests.
    func lastWriter(of root: String) -> String?
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

/// A store that is passed to an initializer, and that lets the instance choose its store at each access.
package protocol ChoosingStore: PrefsStore {
    /// The store of an instance; nil if it has none at the moment.
    func store(of prefs: any StoreOwner) -> (any PrefsStore)?
    /// - Parameter prefs: the instance; nil if it was released.
    func roots(of prefs: (any StoreOwner)?) -> Roots
}
