public import Foundation

/// Subclass it, and the subclass's properties are your preferences: every write is vetted, saved at once and survives a
/// crash; every read is current, from any thread and any process.
///
/// ```swift
/// final class EditorPrefs: Prefs, @unchecked Sendable {
///     @Pref var fontSize = 12.0
///     @Pref(in: ["light", "dark"]) var theme = "light"
/// }
/// ```
///
/// What the subclass stores is one dictionary, its *root*, under a *root key* in a ``PrefsStore``. Instances hold no
/// values: two of them with one root key agree at once, and creating one is cheap. Nothing throws; ``lastError`` and
/// ``prefsDidFail(_:)`` tell what went wrong, and then nothing has changed.
///
/// Reading costs one validation of the store's cache (one `fstat` for stores on files) and a dictionary lookup; a write
/// replaces the file, with two flushes, and an equal write only reads. Every member may be used from any thread.
/// Follows `RVS_PersistentPrefs` (seed).
open class PersistentPrefs: NSObject, @unchecked Sendable {
    /// The errors of this class, under the name that they have in the seed.
    public typealias PrefsError = PersistentPreferences.PrefsError

    let state = InstanceState()

    /// An instance on the subclass's own root: its key is the unqualified name of the type, as in the seed.
    public override init() {
        super.init()
        start(key: nil, values: nil, store: nil)
    }

    /// An instance on what is stored under a root key, with `values` merged over it.
    ///
    /// Without `values` nothing is written. ``lastError`` tells of a bad key, of values that were refused (all of them)
    /// and of a store that cannot be read.
    /// - Parameters:
    ///   - key: the root key; nil stands for the unqualified name of the type.
    ///   - values: values for allowed keys, stored at once.
    public init(key: String? = nil, values: [String: Any]? = nil) {
        super.init()
        start(key: key, values: values, store: nil)
    }

    /// The same on a store of the caller's choice, which outranks ``withStore(_:_:)`` and ``store``.
    public init(key: String? = nil, values: [String: Any]? = nil, store: any PrefsStore) {
        super.init()
        start(key: key, values: values, store: store)
    }

    deinit {
        state.bridge.end()
    }

    /// Where instances are kept that are not given a store. Override it for a suite, an app group or a file; return the
    /// same object each time. ``UserDefaultsStore/standard`` by default.
    open class var store: any PrefsStore { UserDefaultsStore.standard }

    /// The key of this instance's root. Assigning it moves the instance to another root and changes nothing stored; a
    /// name that is no root key is refused with ``PrefsError/invalidName(name:reason:)``. May be overridden.
    open var key: String {
        get { state.key }
        set { move(to: newValue) }
    }

    /// The keys that may be stored: those of the ``Pref`` properties, base classes first, unless overridden. An override
    /// adds to them. Keys that are stored under the root but allowed by neither, by another version of the program say,
    /// are kept, untouched and invisible.
    open var keys: [String] { state.declarations.allowed.list }

    /// The steps that bring a root of a former version to the current one, the last step's, in order; none by default.
    ///
    /// They apply in memory to what is read, and are committed with the version by the first write, in whichever process comes
    /// first. Data without a version has version 0; a new root starts at the current one. If a step fails, every
    /// access but ``deleteAll()`` fails with ``PrefsError/migrationFailed(key:version:error:)`` and the data stays. A root of a
    /// newer version is read and written as it is, and keeps its version. Read once for a class; a subclass of a subclass
    /// says `super.migrations + […]`.
    open class var migrations: [PrefsMigration] { [] }

    /// All that is stored under allowed keys, as of now; empty where nothing is, or nothing can be read.
    ///
    /// Assigning it replaces the values of all allowed keys in one atomic update; a change in place
    /// (`prefs.values["a"] = 1`) commits the keys that it changed, in one too. A change in place works on a snapshot, so
    /// that adding 1 to a value from several threads is exact only in `update`. If it ends by throwing, nothing is stored;
    /// nor is it where the values could not be read. Cost: the read of the class, and linear in the number of keys.
    #if canImport(ObjectiveC)
        @objc
    #endif
    public var values: [String: Any] {
        get { visibleValues() }
        set { replaceValues(with: newValue) }
        _modify {
            let start = valuesForChange()
            var after = start.value
            var isOver = false
            defer { if !isOver { abandonChange(from: start) } }
            yield &after
            isOver = true
            commitChange(from: start, to: after)
        }
    }

    /// The value of one key; nil where there is none. Assigning nil removes it. Atomic. A key that is not among ``keys``
    /// reads nil, is not written, and leaves ``PrefsError/incorrectKeys(invalidElements:)``.
    public subscript(key: String) -> Any? {
        get { value(of: key) }
        set { setValue(newValue, of: key) }
    }

    /// The outcome of this instance's most recent access: nil where it succeeded. Seed: the same.
    public var lastError: PrefsError? { state.lastError }

    /// Called for each error of this instance, on the thread of the access, once every lock is released (within an
    /// `update`, when that is over), so that none can be missed. Does nothing by default. An access of the same
    /// instance in it that fails sets ``lastError`` and does not call it again.
    open func prefsDidFail(_ error: PrefsError) {}

    /// The number of allowed keys that have a stored value.
    open var count: Int { visibleValues().count }

    /// Changes many keys in one transaction: one read, one save, under a lock that keeps other threads and processes out.
    ///
    /// The body runs once, on the calling thread. What other accesses write inside it joins its commit; reads inside it
    /// see what those wrote, and the body's own dictionary is merged over it at its end, key by key. Do not wait inside
    /// it for another thread that uses the same store.
    /// - Parameter body: gets the values of the allowed keys.
    /// - Returns: the error of this very call; nil where the new state is committed.
    /// - Throws: what the body throws; then nothing has changed.
    @discardableResult
    public func update(_ body: (inout [String: Any]) throws -> Void) rethrows -> PrefsError? {
        try transact(
            { stored, allowed in
                let before = allowed.visible(in: stored)
                var after = before
                try body(&after)
                return (before, after)
            }, rescue: { throw $0 })
    }

    /// The same for accesses through properties and the subscript: `update { prefs.low = 1; prefs.high = 9 }`.
    @discardableResult
    public func update(_ body: () throws -> Void) rethrows -> PrefsError? {
        try transact(
            { _, _ in
                try body()
                return nil
            }, rescue: { throw $0 })
    }

    /// Forgets what is cached and loads it again. Nothing stored under the root key is
    /// ``PrefsError/noStoredPrefsForKey(key:)``. Reads are current without it. Seed: the same.
    public func flush() {
        reload()
    }

    /// Removes the value of every allowed key, in one transaction; keys of other versions stay. Seed: the same.
    public func clear() {
        replaceValues(with: [:])
    }

    /// Removes the root itself, with all that is under it, keys of other versions included. Seed: the same.
    public func deleteAll() {
        removeRoot()
    }
}
