import PrefsPropertyLists

/// What an initializer of an instance does with a store that no user makes.
enum StorePurpose: Sendable {
    /// The instance has this property alone, which no class declares. No `withStore` replaces its roots.
    case property(any DeclaredProperty)
    /// The instance chooses its store.
    case choice(StoreChoice)
}

/// Lets one instance choose its store, once when it is created or at each access.
package final class StoreChoice: Sendable {
    /// The roots of the store itself, which no instance uses.
    static let noRoots = Roots(unreachable: .userDefaultsUnavailable)

    private let fixed: @Sendable (AnyObject) -> Roots?
    private let choose: @Sendable (AnyObject) throws -> Roots
    /// The roots that were chosen last, which are kept for the observers of the instance.
    private let chosen = Locked<Roots?>(nil)

    /// - Parameters:
    ///   - fixed: returns the roots that an instance keeps; nil if it chooses at each access. Called by the initializer of
    ///     the instance.
    ///   - choose: returns the roots of an access.
    package init(
        fixed: @escaping @Sendable (AnyObject) -> Roots?, _ choose: @escaping @Sendable (AnyObject) throws -> Roots
    ) {
        (self.fixed, self.choose) = (fixed, choose)
    }

    func fixedRoots(of owner: AnyObject) -> Roots? { fixed(owner) }

    // Inlined, it would cost each write of other instances 10 instructions.
    /// - Parameter owner: the instance; nil if it was released.
    @inline(never)
    func roots(of owner: AnyObject?) -> Roots {
        do {
            guard let owner else { throw PrefsError.userDefaultsUnavailable }
            let roots = try choose(owner)
            chosen.withLock { $0 = roots }
            return roots
        } catch {
            return Roots(unreachable: PrefsError(error))
        }
    }
}
