import PrefsPropertyLists

/// What an instance holds: everything but values.
final class InstanceState: @unchecked Sendable {
    private let lock = Lock()
    private var rootKey = ""
    private var outcome: PrefsError?
    private var startStore: (any ReportingStore)?
    private var startDeclarations: ClassDeclarations?
    private var lastKeys: AllowedKeysCache?
    private var migratedCache: (stored: [String: Any], current: [String: Any])?
    private var followers: [WeakFollower] = []
    private var followersToTidy = 16

    private struct WeakFollower {
        weak var follower: RootSubscriber?
    }

    /// What key-value observers ask for, where there are any. Under `withLock`.
    var observedKeys: Set<String> = []

    let bridge = ObservationBridge<PersistentPrefs>()

    /// Whose state it is; nil once that is being released.
    private(set) weak var owner: PersistentPrefs?

    /// Called once, by the initializer, before the instance is anybody else's.
    func start(_ owner: PersistentPrefs, key: String, store: any PrefsStore) {
        self.owner = owner
        rootKey = key
        startDeclarations = ClassDeclarations.of(owner)
        startStore = store as? any ReportingStore ?? PlainStore(store)
    }

    var store: any ReportingStore {
        guard let startStore else { preconditionFailure("used before its initializer has run") }
        return startStore
    }

    /// The declared properties of the owner's class.
    var declarations: ClassDeclarations {
        guard let startDeclarations else { preconditionFailure("used before its initializer has run") }
        return startDeclarations
    }

    /// The allowed keys of the owner, which gives these.
    func allowed(_ keys: [String]) -> AllowedKeys {
        let declared = declarations.allowed
        if AllowedKeysCache.areSame(keys, declared.list) { return declared }
        return lock.withLock {
            if lastKeys?.areMade(of: keys) != true { lastKeys = AllowedKeysCache(keys, and: declared) }
            return lastKeys?.allowed ?? declared
        }
    }

    /// A root in the shape that the class wants: made once of each stored state.
    func current(_ stored: [String: Any]?, root: String) throws(PrefsError) -> [String: Any]? {
        let schema = declarations.schema
        guard !schema.isTrivial, let stored else { return stored }
        if let migratedCache = lock.withLock({ migratedCache }),
            CanonicalValue.areIdentical(migratedCache.stored, stored)
        {
            return migratedCache.current
        }
        let current = try schema.current(stored, root: root)
        if let current { lock.withLock { migratedCache = (stored, current) } }
        return current
    }

    /// Lets a follower hear when the instance goes to another root.
    func register(_ follower: RootSubscriber) {
        lock.withLock {
            // Now and then: there may be thousands.
            if followers.count >= followersToTidy {
                followers.removeAll { $0.follower == nil }
                followersToTidy = max(16, 2 * followers.count)
            }
            followers.append(WeakFollower(follower: follower))
        }
    }

    /// Takes those who follow the instance to the root that it is at.
    func moveFollowers() {
        for entry in lock.withLock({ followers }) { entry.follower?.goAlong() }
    }

    /// For what properties keep of their own.
    @inline(__always)
    func withLock<R>(_ body: () -> R) -> R {
        lock.withLock(body)
    }

    var key: String {
        get { lock.withLock { rootKey } }
        set { lock.withLock { rootKey = newValue } }
    }

    var lastError: PrefsError? {
        get { lock.withLock { outcome } }
        set { lock.withLock { outcome = newValue } }
    }
}
