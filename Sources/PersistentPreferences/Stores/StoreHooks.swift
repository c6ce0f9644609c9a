import PrefsPropertyLists

/// A store of this package, which has `Roots`. For a store of another module, `PrefsStore.roots` makes them from the
/// store's public methods.
package protocol RootsStore: PrefsStore {
    /// The roots of the store.
    var ownRoots: Roots { get }
}

/// The methods of a store with roots. They are public, because the stores are.
extension RootsStore {
    /// Reads a root.
    public func read(root: String) throws -> [String: Any]? { try ownRoots.read(root: root) }

    /// Changes a root.
    public func update(root: String, _ body: (inout [String: Any]?) throws -> Void) throws {
        try ownRoots.update(root: root, body)
    }

    /// Observes a root.
    public func observe(root: String, _ action: @escaping @Sendable (PrefsChange) -> Void) throws -> PrefsObservation {
        try ownRoots.observe(root: root, action)
    }
}

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

/// A store that is passed to an initializer, and that lets the instance choose its store at each access.
package protocol ChoosingStore: PrefsStore {
    /// The store of an instance; nil if it has none at the moment.
    func store(of prefs: PersistentPrefs) -> (any PrefsStore)?
    /// - Parameter prefs: the instance; nil if it was released.
    func roots(of prefs: PersistentPrefs?) -> Roots
}

/// Replaces the stores of instances in a program that runs tests. It does not exist in other programs.
package protocol StoreReplacement: AnyObject, Sendable {
    /// Whether the roots belong to a test that has not ended.
    func isRunning(_ roots: Roots) -> Bool
    /// The roots of an access outside of every `withStore`.
    ///
    /// - Parameter own: the roots of the instance, of its class or of a test, which may have ended.
    /// - Returns: nil if the access uses `own`.
    func roots(inPlaceOf own: Roots) -> Roots?
    /// Records an access to the default domain.
    func noteDefaultDomain()
}

/// The replacement of this process.
package enum StoreReplacements {
    private static let installed = Locked<(any StoreReplacement)?>(nil)

    /// Set once, by the first instance or default store of the process, so that accesses need no synchronization.
    static let current = installed.withLock { $0 }

    private static let earlier = Locked<String?>(nil)

    /// The class of the first instance that was created before a replacement was installed, so that accesses of such
    /// classes are not replaced.
    package static var earlierClass: String? { earlier.withLock { $0 } }

    /// The replacement for a new instance.
    static func current(for prefs: PersistentPrefs) -> (any StoreReplacement)? {
        if current == nil { earlier.withLock { $0 = $0 ?? "\(type(of: prefs))" } }
        return current
    }

    /// - Returns: false if an instance or the default store was created before. In that case the call has no effect.
    package static func install(_ replacement: any StoreReplacement) -> Bool {
        installed.withLock { $0 = replacement }
        return current === replacement
    }
}
