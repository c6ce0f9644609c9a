public import PersistentPreferences

/// Access to single roots, for your own ``PrefsBackend`` over another store, and for code without a class of preferences.
extension PrefsStore {
    /// Returns the dictionary stored under a root key, or nil if the root was never written or was set to nil. Changes
    /// nothing. Costs time linear in the size of the root.
    ///
    /// - Throws: ``PrefsError``, for example ``PrefsError/rootIsNotDictionary(key:)``.
    public func read(root: String) throws -> [String: Any]? { try roots.read(root: root) }

    /// Changes the dictionary stored under a root key in one transaction, which is committed when the call returns.
    /// Setting the dictionary to nil removes the root.
    ///
    /// The body runs once, on the calling thread, while the store is locked. Only the keys that the body changes are
    /// written; other keys keep the values that nested updates wrote.
    /// - Throws: what the body throws, or ``PrefsError``. After ``PrefsError/durabilityUnconfirmed(_:)`` the new state
    ///   is committed. After ``PrefsError/outcomeUnknown(_:)`` it is unknown whether it is.
    ///   ``PrefsError/notStored(_:)`` may come after the body has run.
    public func update(root: String, _ body: (inout [String: Any]?) throws -> Void) throws {
        try roots.update(root: root, body)
    }

    /// Calls the closure after commits that change the root, made here or elsewhere, until the observation is released
    /// or cancelled.
    ///
    /// The calls come in the order of the commits, one at a time, on a thread that the store chooses and outside its
    /// locks. Each commit of this process is reported once; changes that wait for a slow closure, and commits made
    /// elsewhere, may be merged (``PrefsChange/count``). The closure may read, write and cancel, and a slow closure
    /// delays no commit. An equal update is not a change.
    /// - Throws: ``PrefsError``, for example ``PrefsError/notWatched(_:)`` if changes made elsewhere would be missed.
    public func observe(root: String, _ action: @escaping @Sendable (PrefsChange) -> Void) throws -> PrefsObservation {
        try roots.observe(root: root, action)
    }
}
