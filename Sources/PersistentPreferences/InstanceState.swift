import PrefsFileEngine
import PrefsPropertyLists

/// The state of an instance and the results of its last reads. `PrefProperty` has the last values of properties.
///
/// Unchecked because the initializer assigns the owner, the store and the declarations. The lock of this object also
/// guards the last values of the instance's properties, which saves a lock per read. It is a bare lock, because passing
/// the generic result of a property through the closure of a `Locked` costs 500 instructions per read.
package final class InstanceState: @unchecked Sendable {
    struct State {
        var lastKeys: AllowedKeysCache?
        var shapeCache: (stored: [String: StoredValue], form: ValueForm, shape: RootShape)?
        var visibleValues: VisibleValues?
        var subscribers: [WeakSubscriber] = []
        var subscribersToTidy = 16
        var errorHandlers: ErrorHandlers?
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
    private var log = FaultLog()
    /// Whether a read that meets no fault has to be reported. A copy, because each read asks for it. Asked with the lock.
    private(set) var recordsSuccess = false
    /// The properties in their class, by the key path of the wrapper: reading a wrapper by its key path costs 700
    /// instructions. nil until one is accessed. A pointer, as in `Locked`.
    private var properties: UnsafeMutablePointer<KeyPathTable>?
    private var startRoots: Roots?
    /// Chooses the store at each access; nil if the store is fixed.
    private var choice: (any ChoosingStore)?
    /// Whether `withStore` may replace the store.
    private var isReplaceable = false
    /// nil unless `PrefsTesting` may replace the store, too.
    private var testProcess: (any StoreReplacement)?
    /// Whether the store belongs to a test, which may have ended.
    private var isOfTest = false
    private var startDeclarations: ClassDeclarations?
    /// A copy of a fact of the declarations, because each read asks for it.
    private(set) var hasFormerRoots = false

    let bridge = ObservationBridge()

    init() {}

    deinit {
        properties?.deinitialize(count: 1)
        properties?.deallocate()
    }

    /// The instance; nil once it is being released.
    private(set) weak var owner: PersistentPrefs?

    /// Called once, by the initializer, before any other thread has the instance.
    ///
    /// - Parameters:
    ///   - key: the root key; nil stands for the name of the class.
    ///   - store: the store that was passed to the initializer.
    /// - Returns: `PrefsError.sharedRoot` for the first instance of a class that shares its root by mistake.
    func start(_ owner: PersistentPrefs, key: String?, store: (any PrefsStore)?) -> PrefsError? {
        self.owner = owner
        let (declarations, isNew) = ClassDeclarations.of(owner)
        // Uses the known name, because the runtime's lock for names may stay locked in a forked child.
        let key = key ?? declarations.ownRoot
        rootKey = key
        startDeclarations = declarations
        hasFormerRoots = declarations.hasFormerRoots
        let given = store?.rootsOfPackage
        let choice = given == nil ? store as? any ChoosingStore : nil
        isReplaceable = store == nil || choice != nil
        if let store, choice == nil {
            startRoots = given ?? store.roots
        } else if let innermost = StoreOverride.innermost {
            startRoots = innermost
            let process = StoreReplacements.current(for: owner)
            if process?.isRunning(innermost) == true { (testProcess, isOfTest) = (process, true) }
        } else {
            let ofClass = type(of: owner).store
            startRoots = ofClass.roots
            if let choice, choice.store(of: owner) !== ofClass { self.choice = choice }
            testProcess = StoreReplacements.current(for: owner)
        }
        return declarations.isFirstUse(of: key) || isNew
            ? SharedRoots.register(type(of: owner), declarations, root: key, in: ownRoots) : nil
    }

    /// Starts an instance that has only the property of its store. Reads nothing.
    func start(_ owner: PersistentPrefs, key: String?, _ store: PropertyStore) {
        self.owner = owner
        (startDeclarations, startRoots) = (ClassDeclarations(of: store.property), store.ownRoots)
        rootKey = key ?? ""
    }

    /// The roots of the store of an access that begins now.
    package var roots: Roots { replacement ?? ownRoots }

    /// The roots that replace the instance's own in an access that begins now, if any.
    var replacement: Roots? {
        guard isReplaceable else { return nil }
        if let innermost = StoreOverride.innermost { return innermost }
        guard let testProcess else { return nil }
        if let roots = testProcess.roots(inPlaceOf: ownRoots) { return roots }
        // An instance that is used in another test after the test that created it has ended.
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
    package var declarations: ClassDeclarations {
        guard let startDeclarations else { preconditionFailure("the instance is used before its initializer has run") }
        return startDeclarations
    }

    /// The allowed keys of the owner, made from the given `keys`.
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

    /// A root in the shape that the class expects. Made once for each stored state.
    ///
    /// - Parameter form: the accepted form of the values.
    func shape(
        of stored: [String: StoredValue], root: String, as form: ValueForm
    ) throws(PrefsError) -> RootShape {
        if declarations.schema.isTrivial, form == .exact { return RootShape(migrated: stored, current: stored) }
        if let known = lock.withLock({ state.shapeCache }), known.stored.isIdentical(to: stored),
            known.form == form
        {
            return known.shape
        }
        let last = lock.withLock { state.shapeCache?.shape }
        let shape = try declarations.shape(of: stored, root: root, as: form, after: last)
        lock.withLock { state.shapeCache = (stored, form, shape) }
        return shape
    }

    /// A value in the form in which its property stores it, as in the last shape if it is there.
    func canonical(_ stored: StoredValue, forKey key: String, as form: ValueForm) -> StoredValue {
        if form == .exact { return stored }
        if let last = lock.withLock({ state.shapeCache }), last.form == form, last.shape.migrated[key] == stored,
            let value = last.shape.current[key]
        {
            return value
        }
        return declarations.canonical(stored, forKey: key, from: form)
    }

    /// Registers a subscriber, which is notified when the instance moves to another root.
    func register(_ subscriber: RootSubscriber) {
        lock.withLock {
            // Not at each call, because there may be thousands.
            if state.subscribers.count >= state.subscribersToTidy {
                state.subscribers.removeAll { $0.subscriber == nil }
                state.subscribersToTidy = max(16, 2 * state.subscribers.count)
            }
            state.subscribers.append(WeakSubscriber(subscriber: subscriber))
        }
    }

    /// Moves the subscribers to the current root of the instance.
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
        get { lock.withLock { log.lastError } }
        set { changeLog { $0.lastError = newValue } }
    }

    private func changeLog<R>(_ change: (inout FaultLog) -> R) -> R {
        lock.withLock {
            defer { recordsSuccess = log.recordsSuccess }
            return change(&log)
        }
    }

    /// Records what an access has met.
    func record(_ error: PrefsError?, of access: FaultLog.Access) -> FaultLog.News {
        changeLog { log in
            let news = log.record(error, of: access)
            if news.endsFaults { state.errorHandlers?.forget(nil) }
            return news
        }
    }

    /// Notes that the value of a key fits, if its state has no revision.
    func endFault(ofValue key: String, at revision: Revision?) {
        if revision != nil { return }
        changeLog { log in
            guard log.mayEnd else { return }
            log.endValue(key)
            state.errorHandlers?.forget(key)
        }
    }

    /// The last read of a property, found by a key path of its wrapper, and whether the instance must be told of a read
    /// that succeeds.
    @inline(__always)
    func lastRead<Value>(
        at storage: AnyKeyPath, _ type: Value.Type
    ) -> (last: PrefProperty<Value>.LastRead?, hasNews: Bool) {
        withLock {
            guard let properties, let property = properties.pointee[storage] else { return (nil, true) }
            return (unsafeDowncast(property, to: PrefProperty<Value>.self).lastRead, recordsSuccess)
        }
    }

    /// The property of a wrapper, a `PrefProperty`, if it was found by this key path before.
    func property(at storage: AnyKeyPath) -> AnyObject? { withLock { properties?.pointee[storage] } }

    func note(_ property: AnyObject, at storage: AnyKeyPath) {
        // A generic class makes its key paths anew at each access.
        let limit = 4 * declarations.declarations.count
        lock.withLock {
            let table = properties ?? .allocate(capacity: 1)
            if properties == nil { table.initialize(to: KeyPathTable()) }
            properties = table
            table.pointee.add(property, at: storage, limit: limit)
        }
    }

    /// The closures of `onError`; nil as long as there was none.
    var errorHandlers: ErrorHandlers? { lock.withLock { state.errorHandlers } }

    func makeErrorHandlers() -> ErrorHandlers {
        lock.withLock {
            let handlers = state.errorHandlers ?? ErrorHandlers()
            state.errorHandlers = handlers
            return handlers
        }
    }

    var observedKeys: Set<String> { lock.withLock { state.observedKeys } }

    func addObservedKey(_ key: String) {
        lock.withLock { _ = state.observedKeys.insert(key) }
    }
}

// MARK: - Properties by key path

/// Objects by the address of a key path, which it keeps alive.
struct KeyPathTable {
    /// The addresses, in a power of two of places, of which at most half are used.
    private var addresses: [UnsafeRawPointer?] = []
    /// The objects, in the same places.
    private var objects: [AnyObject?] = []
    private var paths: [AnyKeyPath] = []

    @inline(__always)
    subscript(path: AnyKeyPath) -> AnyObject? {
        if addresses.isEmpty { return nil }
        let address = Self.address(of: path)
        let place = place(of: address)
        return addresses[place] == address ? objects[place] : nil
    }

    /// - Parameter limit: the most objects; the same at each call.
    mutating func add(_ object: AnyObject, at path: AnyKeyPath, limit: Int) {
        guard paths.count < limit, self[path] == nil else { return }
        if addresses.isEmpty {
            var size = 2
            while size < 2 * limit { size *= 2 }
            (addresses, objects) = (Array(repeating: nil, count: size), Array(repeating: nil, count: size))
        }
        let address = Self.address(of: path)
        let place = place(of: address)
        (addresses[place], objects[place]) = (address, object)
        paths.append(path)
    }

    /// The place of an address, or the one that it would get.
    @inline(__always)
    private func place(of address: UnsafeRawPointer) -> Int {
        // Addresses of objects are multiples of 16.
        var place = Int(bitPattern: address) >> 4 & (addresses.count - 1)
        while let other = addresses[place], other != address { place = (place + 1) & (addresses.count - 1) }
        return place
    }

    @inline(__always)
    private static func address(of path: AnyKeyPath) -> UnsafeRawPointer {
        UnsafeRawPointer(Unmanaged.passUnretained(path).toOpaque())
    }
}

// MARK: - Objects

extension InstanceState {
    /// The part of a root that a user sees: the allowed values, and their objects.
    struct VisibleValues {
        fileprivate let root: [String: StoredValue]
        fileprivate let allowed: [String]
        let values: [String: StoredValue]
        let objects: [String: Any]

        static var nothing: VisibleValues { VisibleValues(root: [:], allowed: [], values: [:], objects: [:]) }
    }

    /// The visible values of a root and their objects, made once for each state: an update of many assignments needs them
    /// for each. A missing root is empty.
    func visibleValues(_ root: [String: StoredValue]?, _ allowed: AllowedKeys) -> VisibleValues {
        guard let root else { return .nothing }
        if let last = lock.withLock({ state.visibleValues }), last.root.isIdentical(to: root),
            AllowedKeysCache.areSame(last.allowed, allowed.list)
        {
            return last
        }
        let values = allowed.visible(in: root)
        let objects = values.mapValues(\.object)
        let new = VisibleValues(root: root, allowed: allowed.list, values: values, objects: objects)
        lock.withLock { state.visibleValues = new }
        return new
    }
}
