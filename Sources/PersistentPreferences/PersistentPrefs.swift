public import Foundation

/// The base class for preferences. Declare properties in a subclass; each one is stored as soon as you assign it.
///
/// ```swift
/// final class EditorPrefs: Prefs, @unchecked Sendable {
///     @Pref var fontSize = 12.0
/// }
///
/// EditorPrefs().fontSize += 2
/// ```
///
/// A subclass stores one dictionary, its *root*, in a ``PrefsStore``: by default in `UserDefaults`, under the name of
/// the class as its *root key*. See <doc:Behavior>.
///
/// ## Behavior
/// All instances with the same root key and store have the same values. In a file, and in `UserDefaults` on Linux, a
/// write is atomic and on disk when it returns, and a read returns the last state that any process has committed. On
/// Apple platforms, the daemon of `UserDefaults` writes later. An equal write changes nothing, unless the file is
/// damaged. `update` makes several accesses one transaction.
///
/// ## Performance
/// A read costs one validation of the store's cache (one `fstat` for a file) and a dictionary lookup. A write to a
/// file, or to `UserDefaults` on Linux, replaces the file and flushes it.
///
/// ## Errors
/// ``lastError`` is the outcome of the latest access. ``prefsDidFail(_:)`` is called for every error.
///
/// ## Threads
/// Any thread. A change in place (`+=`) is a read and a write; use `update` for an exact read-modify-write.
open class PersistentPrefs: NSObject, @unchecked Sendable {
    package let state = InstanceState()

    /// Creates an instance with the subclass's own root key: the unqualified name of the type. As in
    /// RVS_PersistentPrefs.
    public override init() {
        super.init()
        start(key: nil, values: nil, store: nil)
    }

    /// Creates an instance with a root key, and merges `values` into what is stored there.
    ///
    /// ```swift
    /// let prefs = EditorPrefs(key: "Profile 2", store: .memory())
    /// ```
    ///
    /// Writes nothing if `values` is nil. A value whose type differs from the type of its declared property is
    /// rejected. If any value is rejected, all are, and nothing is written. ``lastError`` reports an invalid key,
    /// rejected values and a store that cannot be read.
    /// - Parameters:
    ///   - key: the root key; nil stands for the unqualified name of the type.
    ///   - values: values for allowed keys, stored at once.
    ///   - store: the store of this instance, which takes precedence over ``withStore(_:_:)`` and ``store``; nil
    ///     stands for them.
    public init(key: String? = nil, values: [String: Any]? = nil, store: PrefsStore? = nil) {
        super.init()
        start(key: key, values: values, store: store)
    }

    deinit {
        state.bridge.end()
    }

    /// The store of instances that are created without one: the standard domain of `UserDefaults` by default.
    ///
    /// Override it for a suite, an app group or a file. The first instance of a class that needs it reads the property, and
    /// all instances of the class keep that store. If two threads read it at once, one store is kept. A subclass that
    /// inherits it reads it again, and so does code that names it: each `.memory()` is then another memory. An instance
    /// that is created inside ``withStore(_:_:)`` does not read it.
    open class var store: PrefsStore { .standard }

    /// The key of this instance's root.
    ///
    /// Assigning it moves the instance to another root and stores nothing. A name that cannot be a root key is rejected
    /// with ``PrefsError/invalidName(name:reason:)``. You may override it.
    open var key: String {
        get { state.key }
        set { move(to: newValue) }
    }

    /// The allowed keys: the keys of the ``PersistentPrefs/Pref`` properties, base classes first, and the keys of an
    /// override.
    ///
    /// ```swift
    /// override var allowedKeys: [String] { ["title", "width"] }  // read and written by the subscript
    /// ```
    ///
    /// An override need not repeat the keys of properties. Other keys that are stored under the root, for example by
    /// another version of the program, are preserved and invisible.
    open var allowedKeys: [String] { state.declarations.allowed.list }

    /// The steps that bring an older root to the current version, which is the version of the last step. Empty by
    /// default.
    ///
    /// The steps run in memory when an older root is read. The first write of any process commits their result and the
    /// version. Data without a version has version 0; a new root starts at the current version. If a step fails, every
    /// access except ``deleteRoot()`` fails with ``PrefsError/migrationFailed(key:version:error:)``, and the data stays.
    /// A root with a newer version is read and written unchanged and keeps its version. The property is read once per
    /// class. A subclass of a subclass returns `super.migrations + […]`.
    open class var migrations: [PrefsMigration] { [] }

    /// The key under which a root keeps its version if the class has ``migrations``: `PersistentPreferences version` by
    /// default. For files that people write, return `"version"`.
    ///
    /// No property may have this key, and ``values`` never contains it. The property is read once per class.
    open class var versionKey: String { RootSchema.defaultVersionKey }

    /// The version of a root that has values and no version: 0 by default, so that all ``migrations`` run.
    ///
    /// ```swift
    /// class TrackerPrefs: Prefs, @unchecked Sendable {
    ///     override class var versionKey: String { "version" }
    ///     override class var unmarkedVersion: Int { 2 }  // as people write today
    ///     override class var migrations: [PrefsMigration] {
    ///         [PrefsMigration(to: 2) { $0["rounding"] = ($0["rounding"] as? Int).map { "\($0)m" } }]
    ///     }
    /// }
    /// ```
    ///
    /// A person writes a file without a version, in the form of today. Then return the version of the last step, so that
    /// a file by hand is not migrated. A file that an older program has written without a version is then read in the
    /// form of today, too; ``problems()`` names it if it has a former key. A version that no step leads to stops the
    /// program at the first instance. The property is read once per class.
    open class var unmarkedVersion: Int { 0 }

    /// The root keys of former names of the class, the newest first. Empty by default.
    ///
    /// ```swift
    /// final class ReaderPrefs: Prefs, @unchecked Sendable {
    ///     override class var formerRootKeys: [String] { ["EditorPrefs"] }
    /// }
    /// ```
    ///
    /// If nothing is stored under the class's own root key, a read finds the first of these roots that exists. The
    /// first write moves it, in the same transaction; observers receive that as a change of all its keys. Applies to
    /// instances whose root key is the name of the class, and not to a flat layout, in which the root key has no
    /// effect. The property is read once per class. If it contains the class's own root key or a name that cannot be
    /// one, the program stops at the first instance. A list that a subclass inherits applies to the base class only,
    /// and an entry that is not a dictionary is left alone. If two classes name one former key, the second one reports
    /// ``PrefsError/problem(_:)``, because the first write of either would move it.
    ///
    /// After the move, an old version of the program that is still running starts with an empty root of the old name.
    /// Observers do not receive its writes.
    open class var formerRootKeys: [String] { [] }

    /// How long each write of the class waits for other threads and processes; nil, the default, for as long as it
    /// takes.
    ///
    /// ```swift
    /// override class var writeTimeout: Duration? { .seconds(2) }
    /// ```
    ///
    /// A write that waits longer is rejected with ``PrefsError/busy(_:)``, and the body of an `update` does not run. The
    /// `timeout` of an `update` takes precedence. A write inside an `update` of the same store does not wait.
    /// Backends of your own ignore it. The property is read once per class.
    open class var writeTimeout: Duration? { nil }

    /// Rules over several values; see ``PrefsRule``. Empty by default, which costs nothing.
    ///
    /// A write, a removal or an `update` whose result violates a rule is rejected with ``PrefsError/ruleViolated(_:)``, unless
    /// the state before violated that rule, too. Other programs, a variable, and code that calls a store directly can violate
    /// it: the values are read as they are, and ``problems()`` and ``onError(_:)`` give the text. The property is read once
    /// per class. A subclass of a subclass returns `super.rules + […]`.
    open class var rules: [PrefsRule] { [] }

    /// The stored values of all allowed keys, without defaults. Empty if nothing is stored or the root cannot be read.
    ///
    /// Assigning it replaces the values of all allowed keys in one transaction, and a root that is no dictionary. A value whose type differs from the
    /// type of its declared property is rejected with ``PrefsError/typeMismatch(_:)``. A change in place
    /// (`prefs.values["a"] = 1`) commits the keys that it changed, also in one transaction. It works on a snapshot, so
    /// several threads that add 1 need `update`. If the change throws, or if the values could not be read, nothing is
    /// stored.
    ///
    /// You may override it; declared properties, the subscript and `update` do not go through an override. Costs a
    /// read, and time linear in the number of keys.
    #if canImport(ObjectiveC)
        @objc
    #endif
    open var values: [String: Any] {
        get { visibleValues() }
        set { replaceValues(with: newValue) }
        _modify {
            let start = valuesForChange()
            var after = start.value.objects
            var isOver = false
            defer { if !isOver { abandonChange(from: start) } }
            yield &after
            isOver = true
            commitChange(from: start, to: after)
        }
    }

    /// The stored value of one key, or nil. Assigning nil removes the value. Each access is atomic. You may override
    /// it; declared properties do not go through an override.
    ///
    /// A key that ``allowedKeys`` does not contain reads as nil and is not written; ``lastError`` is then
    /// ``PrefsError/incorrectKeys(invalidElements:)``. A value whose type differs from the type of the declared
    /// property is rejected with ``PrefsError/typeMismatch(_:)``.
    open subscript(key: String) -> Any? {
        get { value(of: key) }
        set { setValue(newValue, of: key) }
    }

    /// The error of this instance's latest access, or nil if it succeeded.
    ///
    /// As in RVS_PersistentPrefs, except that the read of a missing root is not an error. You may assign it, for
    /// example nil after you have handled an error; the next access replaces it. An override with observers is called
    /// for each error, and again when the next access clears the error. Any thread.
    open var lastError: PrefsError? {
        get { state.lastError }
        set { state.lastError = newValue }
    }

    /// Called for each rejected write and warning of this instance, and once for each fault that its reads meet, as
    /// ``onError(_:)`` describes. Does nothing by default.
    ///
    /// Runs on the thread of the access after every lock is released; inside an `update`, after the update. If an
    /// access of the same instance fails inside it, that access sets ``lastError`` and does not call it again.
    open func prefsDidFail(_ error: PrefsError) {}

    /// The class, the root key and the stored values, for logs and debuggers:
    /// `EditorPrefs("EditorPrefs") {fontSize: 14}`.
    ///
    /// Costs a read. Leaves ``lastError`` alone. Any thread.
    open override var description: String { shownText() }

    /// Changes many keys in one transaction, under a lock that excludes other threads. In a file, and in `UserDefaults`
    /// on Linux, the lock also excludes other processes.
    ///
    /// ```swift
    /// prefs.update { $0["count"] = ($0["count"] as? Int ?? 0) + 1 }
    /// ```
    ///
    /// The body runs once, on the calling thread. Other accesses inside it belong to the same transaction. At its end,
    /// the changes of the body's own dictionary are merged over the changes of these accesses, key by key. Inside the
    /// body, do not wait for another thread that uses the same store. The call blocks its thread while it waits and
    /// commits. In an asynchronous function, the compiler chooses the asynchronous form, which blocks no thread.
    /// - Parameters:
    ///   - timeout: how long to wait for other threads and processes before the body runs. If that is too long, the
    ///     error is ``PrefsError/busy(_:)``. nil waits for ``writeTimeout``. Backends of your own ignore it.
    ///   - body: gets the values of the allowed keys.
    /// - Returns: what the body returns, if the new state is stored; otherwise the error of this call. A state that is
    ///   stored, and not confirmed, is a failure (``PrefsError/durabilityUnconfirmed(_:)``). A warning
    ///   (``PrefsError/isWarning``) is none: ``lastError``, ``prefsDidFail(_:)`` and ``onError(_:)`` give it.
    /// - Throws: what the body throws; then nothing has changed.
    @discardableResult
    public func update<R>(
        timeout: Duration? = nil, _ body: (inout [String: Any]) throws -> R
    ) rethrows -> Result<R, PrefsError> {
        var result = Self.missingResult(R.self)
        let failure = try transact(
            timeout,
            { stored, allowed in
                let before = state.visibleValues(stored, allowed)
                var after = before.objects
                result = .success(try body(&after))
                return (before, after)
            }, rescue: { throw $0 })
        return Self.outcome(result, failure)
    }

    /// Makes the accesses in the body one transaction: `prefs.update { prefs.low = 1; prefs.high = 9 }`.
    ///
    /// ```swift
    /// let number = try prefs.update { prefs.next += 1; return prefs.next }.get()
    /// ```
    ///
    /// - Parameters:
    ///   - timeout: how long to wait before the body runs, as for the other form.
    ///   - body: makes the accesses.
    /// - Returns: as for the other form.
    /// - Throws: what the body throws; then nothing has changed.
    @discardableResult
    public func update<R>(timeout: Duration? = nil, _ body: () throws -> R) rethrows -> Result<R, PrefsError> {
        var result = Self.missingResult(R.self)
        let failure = try transact(
            timeout,
            { _, _ in
                result = .success(try body())
                return nil
            }, rescue: { throw $0 })
        return Self.outcome(result, failure)
    }

    /// Removes the stored values of some keys in one transaction, so that their defaults are read.
    ///
    /// - Parameters:
    ///   - key: an allowed key. A key without a stored value is accepted.
    ///   - others: more allowed keys.
    /// - Returns: the error of this call, or nil. If it is a warning (``PrefsError/isWarning``), the call has succeeded. If
    ///   ``allowedKeys`` does not contain one of them, the error is ``PrefsError/incorrectKeys(invalidElements:)`` and nothing is removed.
    @discardableResult
    public func reset(_ key: String, _ others: String...) -> PrefsError? {
        removeValues(of: [key] + others)
    }

    /// Removes the values of all allowed keys in one transaction, and the root too if nothing else is in it. Keys of
    /// other versions stay. In an asynchronous function, write `await prefs.update { prefs.resetAll() }`, which blocks no
    /// thread.
    ///
    /// - Returns: the error of this call, or nil. If it is a warning (``PrefsError/isWarning``), the call has succeeded.
    @discardableResult
    public func resetAll() -> PrefsError? {
        clearValues()
    }

    /// Removes the root with everything in it, including keys of other versions. Other roots stay. In the layout
    /// ``DomainLayout/flat``, it removes only the entries of the class.
    ///
    /// A root that is no dictionary, or whose migration fails, is removed, too. A file that cannot be read stays, and its
    /// error is returned.
    ///
    /// - Returns: the error of this call, or nil. If it is a warning (``PrefsError/isWarning``), the call has succeeded.
    @discardableResult
    public func deleteRoot() -> PrefsError? {
        removeRoot()
    }
}
