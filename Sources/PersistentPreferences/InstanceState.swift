import PrefsFileEngine
import PrefsPropertyLists

/// The state of an instance, and what it keeps of its last reads. The last values of properties are in `PrefProperty`.
///
/// Unchecked because the initializer assigns the owner, the store and the declarations, and the properties of the instance keep their
/// last values behind the lock of this object, which saves a lock per read. It is a bare lock, because passing the generic result of a
/// property through the closure of a Locked costs 500 instructions a read.
final class InstanceState: @unchecked Sendable {
    struct State {
        var lastKeys: AllowedKeysCache?
        var shapeCache: (stored: [String: StoredValue], isHandWritten: Bool, shape: RootShape)?
        var shown: Shown?
        /// The revision and the root key of the state that `shown` was made from.
        var stateShown: (revision: Revision, root: String)?
        /// The objects of the values that were read last, by key.
        var objects: [String: KeptObject] = [:]
        var subscribers: [WeakSubscriber] = []
        var subscribersToTidy = 16
        /// The closures of `onError`, by their number.
        var errorHandlers: [(number: Int, action: @Sendable (PrefsError) -> Void)] = []
        var errorHandlersSoFar = 0
        /// The keys that key-value observers ask for.
        var observedKeys: Set<String> = []
    }

    struct WeakSubscriber {
        weak var subscriber: RootSubscriber?
    }

    let lock = Lock()
    var state = State()
    /// Not in `State`, because the compiler then checks each access for exclusivity, and a read has four of them.
    private var rootKey = ""
    private var outcome: PrefsError?
    /// Whether the latest access has failed, whatever the outcome was assigned since then.
    private var hasFailed = false
    private var startRoots: Roots?
    /// Chooses the store at each access; nil if the store is fixed.
    private var choice: InstanceStore?
    /// Whether `withStore` may take the place of the store.
    private var isReplaceable = false
    /// nil unless `PrefsTesting` may take its place, too.
    private var testProcess: TestProcess?
    /// Whether the store is that of a test, which may have ended.
    private var isOfTest = false
    private var startDeclarations: ClassDeclarations?
    /// A copy of what the declarations say, because each read asks.
    private(set) var hasFormerRoots = false

    let bridge = ObservationBridge<PersistentPrefs>()

    /// Whose state it is; nil once that is being released.
    private(set) weak var owner: PersistentPrefs?

    /// Called once, by the initializer, before the instance is anybody else's.
    ///
    /// - Parameters:
    ///   - key: the root key; nil stands for the name of the class.
    ///   - store: the one that was passed to the initializer.
    /// - Returns: `PrefsError.sharedRoot` for the first instance of a class that shares its root by mistake.
    func start(_ owner: PersistentPrefs, key: String?, store: (any PrefsStore)?) -> PrefsError? {
        self.owner = owner
        let (declarations, isNew) = ClassDeclarations.of(owner)
        // The name that is known, because the runtime's lock for names may stay locked in a forked child.
        let key = key ?? declarations.ownRoot
        rootKey = key
        startDeclarations = declarations
        hasFormerRoots = declarations.hasFormerRoots
        let choice = store as? InstanceStore
        isReplaceable = store == nil || choice != nil
        if let store, choice == nil {
            startRoots = store.roots
        } else if let innermost = StoreOverride.innermost {
            startRoots = innermost
            let process = TestProcess.current(for: owner)
            if process?.isRunning(innermost) == true { (testProcess, isOfTest) = (process, true) }
        } else {
            let ofClass = type(of: owner).store
            startRoots = ofClass.roots
            if let choice, choice.store(of: owner) !== ofClass { self.choice = choice }
            testProcess = TestProcess.current(for: owner)
        }
        return declarations.isFirstUse(of: key) || isNew
            ? SharedRoots.register(type(of: owner), declarations, root: key, in: ownRoots) : nil
    }

    /// The roots of the store of an access that begins now.
    var roots: Roots { replacement ?? ownRoots }

    /// Those that take the place of the instance's own in an access that begins now, if any.
    var replacement: Roots? {
        guard isReplaceable else { return nil }
        if let innermost = StoreOverride.innermost { return innermost }
        guard let testProcess else { return nil }
        if let roots = testProcess.roots(inPlaceOf: ownRoots) { return roots }
        // An instance that outlives the test that has created it, in another test.
        guard isOfTest, let owner, !testProcess.isRunning(ownRoots) else { return nil }
        return type(of: owner).store.roots
    }

    /// The roots of the store that the instance was created with, or that it chooses now.
    var ownRoots: Roots {
        guard let startRoots else { preconditionFailure("the instance is used before its initializer has run") }
        guard let choice else { return startRoots }
        return choice.roots(of: owner)
    }

    /// The declared properties of the owner's class.
    var declarations: ClassDeclarations {
        guard let startDeclarations else { preconditionFailure("the instance is used before its initializer has run") }
        return startDeclarations
    }

    /// The allowed keys of the owner, which gives these.
    func allowed(_ keys: [String]) -> AllowedKeys {
        let declared = declarations.allowed
        if AllowedKeysCache.areSame(keys, declared.list) { return declared }
        return lock.withLock {
            if state.lastKeys?.areMade(of: keys) != true {
                state.lastKeys = AllowedKeysCache(keys, and: declared)
            }
            return state.lastKeys?.allowed ?? declared
        }
    }

    /// A root in the shape that the class wants: made once of each stored state.
    ///
    /// - Parameter isHandWritten: whether people may have written it.
    func shape(
        of stored: [String: StoredValue], root: String, isHandWritten: Bool
    ) throws(PrefsError) -> RootShape {
        if declarations.schema.isTrivial, !isHandWritten { return RootShape(migrated: stored, current: stored) }
        if let known = lock.withLock({ state.shapeCache }), known.stored.isIdentical(to: stored),
            known.isHandWritten == isHandWritten
        {
            return known.shape
        }
        let last = lock.withLock { state.shapeCache?.shape }
        let shape = try declarations.shape(of: stored, root: root, isHandWritten: isHandWritten, after: last)
        lock.withLock { state.shapeCache = (stored, isHandWritten, shape) }
        return shape
    }

    /// Registers a subscriber that is told when the instance moves to another root.
    func register(_ subscriber: RootSubscriber) {
        lock.withLock {
            // Only now and then, because there may be thousands.
            if state.subscribers.count >= state.subscribersToTidy {
                state.subscribers.removeAll { $0.subscriber == nil }
                state.subscribersToTidy = max(16, 2 * state.subscribers.count)
            }
            state.subscribers.append(WeakSubscriber(subscriber: subscriber))
        }
    }

    /// Takes those who follow the instance to the root that it is at.
    func moveSubscribers() {
        for entry in lock.withLock({ state.subscribers }) { entry.subscriber?.moveWithInstance() }
    }

    /// Protects the values that properties keep.
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

    /// Whether an access has another outcome than nil after nil.
    func isNews(_ error: PrefsError?) -> Bool {
        lock.withLock {
            defer { hasFailed = error != nil }
            return error != nil || outcome != nil || hasFailed
        }
    }

    /// In the order of their registration.
    var errorHandlers: [Int] { lock.withLock { state.errorHandlers.map(\.number) } }

    /// nil if it has ended.
    func errorHandler(_ number: Int) -> (@Sendable (PrefsError) -> Void)? {
        lock.withLock { state.errorHandlers.first { $0.number == number }?.action }
    }

    /// - Returns: the number to remove it by.
    func addErrorHandler(_ action: @escaping @Sendable (PrefsError) -> Void) -> Int {
        lock.withLock {
            state.errorHandlersSoFar += 1
            state.errorHandlers.append((state.errorHandlersSoFar, action))
            return state.errorHandlersSoFar
        }
    }

    func removeErrorHandler(_ number: Int) {
        lock.withLock { state.errorHandlers.removeAll { $0.number == number } }
    }

    var observedKeys: Set<String> { lock.withLock { state.observedKeys } }

    func addObservedKey(_ key: String) {
        lock.withLock { _ = state.observedKeys.insert(key) }
    }
}
