import PrefsFileEngine
import PrefsPropertyLists

/// An instance, as its roots see it.
protocol RootOwner: StoreOwner {
    var key: String { get }
    var allowed: AllowedKeys { get }
    @discardableResult
    func report(_ error: PrefsError?, of access: FaultLog.Access) -> PrefsError?
}

/// What an instance keeps of its root: the key, the declarations of its class, and what was made from the last states, once
/// for each.
///
/// Unchecked because the lock guards the variables, and the initializer of the instance assigns the others before any other
/// thread has it.
package class RootInstance: InstanceRoots, @unchecked Sendable {
    private struct Cache {
        var keys: AllowedKeysCache?
        var shape: ShapedState?
        var visibleValues: VisibleValues?
    }

    /// Guards what the instance keeps on each floor, and the last values of its properties, which saves a lock per read. It
    /// is a bare lock, because passing the generic result of a property through the closure of a `Locked` costs 500
    /// instructions per read.
    let lock = Lock()
    private var cache = Cache()
    /// Not in `Cache`, because the compiler then checks each access for exclusivity.
    private var rootKey = ""
    private var startDeclarations: ClassDeclarations?
    /// A copy of a fact of the declarations, because each read asks for it.
    private(set) var hasFormerRoots = false
    /// The instance; nil once it is being released.
    private(set) weak var owner: (any RootOwner)?

    /// Called once, before any other thread has the instance.
    func start(_ owner: any RootOwner, key: String, _ declarations: ClassDeclarations) {
        self.owner = owner
        rootKey = key
        startDeclarations = declarations
        hasFormerRoots = declarations.hasFormerRoots
    }

    /// The root key, as it was assigned. The class may override it.
    var key: String {
        get { lock.withLock { rootKey } }
        set { lock.withLock { rootKey = newValue } }
    }

    /// The declared properties of the instance's class.
    package var declarations: ClassDeclarations {
        guard let startDeclarations else { preconditionFailure("the instance is used before its initializer has run") }
        return startDeclarations
    }

    /// The allowed keys of the owner, made from its `allowedKeys`.
    func allowed(_ keys: [String]) -> AllowedKeys {
        let declared = declarations.allowed
        if AllowedKeysCache.areSame(keys, declared.list) { return declared }
        return lock.withLock {
            if cache.keys?.areMade(of: keys) != true {
                cache.keys = AllowedKeysCache(keys, and: declared)
            }
            return cache.keys?.allowed ?? declared
        }
    }

    /// A root in the shape that the class expects. Made once for each stored state, also if the instance is a new one.
    ///
    /// - Parameter form: the accepted form of the values.
    func shape(
        of stored: [String: StoredValue], root: String, as form: ValueForm
    ) throws(PrefsError) -> RootShape {
        if declarations.schema.isTrivial, form == .exact { return RootShape(migrated: stored, current: stored) }
        let last = lock.withLock { cache.shape }
        if let last, last.isOf(stored, as: form) { return last.shape }
        let declarations = declarations
        let shaped = try declarations.shapes.state(of: stored, root: root, as: form, after: last) {
            last throws(PrefsError) in
            try declarations.shape(of: stored, root: root, as: form, after: last)
        }
        lock.withLock { cache.shape = shaped }
        return shaped.shape
    }

    /// A value in the form in which its property stores it, as in the last shape if it is there.
    func canonical(_ stored: StoredValue, forKey key: String, as form: ValueForm) -> StoredValue {
        if form == .exact { return stored }
        if let last = lock.withLock({ cache.shape }), last.form == form, last.shape.migrated[key] == stored,
            let value = last.shape.current[key]
        {
            return value
        }
        return declarations.canonical(stored, forKey: key, from: form)
    }

    // MARK: - Objects

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
        if let last = lock.withLock({ cache.visibleValues }), last.root.isIdentical(to: root),
            AllowedKeysCache.areSame(last.allowed, allowed.list)
        {
            return last
        }
        let values = allowed.visible(in: root)
        let objects = values.mapValues(\.object)
        let new = VisibleValues(root: root, allowed: allowed.list, values: values, objects: objects)
        lock.withLock { cache.visibleValues = new }
        return new
    }
}
