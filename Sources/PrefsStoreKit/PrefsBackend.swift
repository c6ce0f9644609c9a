public import PersistentPreferences

/// A place where roots are stored, which you implement. A store makes it usable for instances:
/// ``PrefsStore/backend(_:)``.
///
/// A backend maps root keys to dictionaries of String, Data, Date, Bool, NSNumber, `[Any]` and `[String: Any]`.
/// <doc:WritingAStore> shows an implementation, and how to check it.
///
/// ## Behavior
/// - After an `update`, `read` returns its result, in every thread and through every object for the same place.
/// - Missing is nil; unreadable throws. A backend that confuses the two erases a user's settings at the next write.
/// - `update` is one transaction: N threads that each add 1 to a number M times leave N × M. If it throws before the
///   commit, nothing has changed. An equal update writes nothing.
/// - Accesses nest on one thread. Inside the body of an `update`, accesses to the same place neither block nor commit,
///   and an error in one of them undoes the whole update. An `update` of another store throws
///   ``PrefsError/updateOfAnotherStore``.
///
/// ## Errors
/// A value that a property list cannot hold throws ``PrefsError/valuesNotPlistCompatible(invalidElements:)``, and
/// nothing changes.
///
/// ## Threads
/// Any thread may call every method at any time.
public protocol PrefsBackend: AnyObject, Sendable {
    /// Returns the dictionary stored under a root key, or nil if the root was never written or was set to nil. Changes
    /// nothing.
    ///
    /// - Throws: ``PrefsError``, for example ``PrefsError/rootIsNotDictionary(key:)``.
    func read(root: String) throws -> [String: Any]?

    /// Changes the dictionary stored under a root key in one transaction, which is committed when the call returns.
    /// Setting the dictionary to nil removes the root.
    ///
    /// The body runs once, on the calling thread, while the place is locked. Only the keys that the body changes are
    /// written; other keys keep the values that nested updates wrote.
    /// - Throws: what the body throws, or ``PrefsError``. After ``PrefsError/durabilityUnconfirmed(_:)`` the new state
    ///   is committed. After ``PrefsError/outcomeUnknown(_:)`` it is unknown whether it is.
    ///   ``PrefsError/notStored(_:)`` may come after the body has run.
    func update(root: String, _ body: (inout [String: Any]?) throws -> Void) throws

    /// Calls the closure after commits that change the root, made here or elsewhere, until the observation is released
    /// or cancelled.
    ///
    /// The calls come in the order of the commits, one at a time, on a thread that the backend chooses and outside its
    /// locks. Each commit of this process is reported once; changes that wait for a slow closure, and commits made
    /// elsewhere, may be merged (``PrefsChange/count``). The closure may read, write and cancel, and a slow closure
    /// delays no commit. An equal update is not a change. The default implementation never calls the closure, so
    /// observers of instances over such a backend are never called.
    /// - Throws: ``PrefsError``, for example ``PrefsError/notWatched(_:)`` if changes made elsewhere would be missed.
    func observe(root: String, _ action: @escaping @Sendable (PrefsChange) -> Void) throws -> PrefsObservation
}

extension PrefsBackend {
    /// Never calls the closure.
    public func observe(root: String, _ action: @escaping @Sendable (PrefsChange) -> Void) throws -> PrefsObservation {
        PrefsObservation {}
    }
}
