import PersistentPreferences
import PrefsPropertyLists

/// Lets an instance choose its store, once when it is created or at each access. Pass it only to an initializer.
final class InstanceStore: ChoosingStore {
    private let choose: @Sendable (PersistentPrefs) throws -> any PrefsStore
    /// The store that was chosen last. It is kept for its observers, and shared by all instances of one place.
    private let chosen = Locked<(any PrefsStore)?>(nil)

    /// - Parameter choose: returns the store of an instance: always one object as long as it is in use. Called after
    ///   the instance has been initialized, except for `start`.
    init(_ choose: @escaping @Sendable (PersistentPrefs) throws -> any PrefsStore) {
        self.choose = choose
    }

    /// The store of an instance; nil if it has none at the moment.
    func store(of prefs: any StoreOwner) -> (any PrefsStore)? {
        (prefs as? PersistentPrefs).flatMap { try? choose($0) }
    }

    /// - Parameter prefs: the instance; nil if it was released.
    func roots(of prefs: (any StoreOwner)?) -> Roots {
        do {
            guard let prefs = prefs as? PersistentPrefs else { throw PrefsError.userDefaultsUnavailable }
            let store = try choose(prefs)
            chosen.withLock { $0 = store }
            return store.roots
        } catch {
            return Roots(unreachable: PrefsError(error))
        }
    }

    func read(root: String) throws -> [String: Any]? { throw PrefsError.userDefaultsUnavailable }

    func update(root: String, _ body: (inout [String: Any]?) throws -> Void) throws {
        throw PrefsError.userDefaultsUnavailable
    }
}
