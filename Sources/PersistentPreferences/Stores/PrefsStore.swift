/// A place where roots are kept: what a ``PersistentPrefs`` reads from and writes to.
///
/// A store maps root keys to dictionaries in canonical property-list form (String, Data, Date, Bool, NSNumber, `[Any]`,
/// `[String: Any]`). A conforming type passes this test, which is what the package's own stores are held to:
///
/// - `read` after a successful `update` of the same root gives what that update made of it, in any thread and through any
///   object that stands for the same place. A root that was never written, or was made nil, reads nil.
/// - Missing is nil, unreadable throws: confusing the two would erase a user's settings at the next save.
/// - `update` is one transaction. N threads that each add 1 to a number M times leave N × M. If it throws before the
///   commit, nothing has changed.
/// - Accesses nest on one thread: `read` and `update` inside the body of an `update` of the same store neither block
///   nor commit; they see and change the state of the update that is under way, and an error in them undoes it whole.
///   An `update` of another store there throws ``PrefsError/updateOfAnotherStore``.
/// - An update that leaves its root as it was writes nothing.
/// - A value that no property list can hold throws ``PrefsError/valuesNotPlistCompatible(invalidElements:)``, and
///   nothing changes.
/// - All may be called from any thread, and while another thread is in them.
public protocol PrefsStore: AnyObject, Sendable {
    /// The dictionary stored under a root key; nil where there is none.
    ///
    /// - Throws: ``PrefsError``, ``PrefsError/rootIsNotDictionary(key:)`` among them. A read changes nothing.
    func read(root: String) throws -> [String: Any]?

    /// Changes the dictionary stored under a root key, or removes it by making it nil, in one transaction that is
    /// committed when the call returns.
    ///
    /// The body runs on the calling thread, once, while the store is locked. What it makes of the dictionary is compared
    /// with what it was given: keys that it left alone keep what nested updates wrote to them.
    /// - Throws: what the body throws, else ``PrefsError``. Of the latter, ``PrefsError/durabilityUnconfirmed(_:)`` comes after
    ///   the commit: the new state stands.
    func update(root: String, _ body: (inout [String: Any]?) throws -> Void) throws

    /// Calls the closure after each commit that changes the root, by whomever, until the observation is released or
    /// cancelled.
    ///
    /// Calls come in the order of the commits, one at a time, on a thread of the store's choice and outside of its locks: the
    /// closure may read, write and cancel, and a slow one delays no commit. An equal update is no change. A default
    /// implementation never calls it: instances over such a store work, and their observers hear nothing.
    /// - Throws: ``PrefsError``, ``PrefsError/notWatched(_:)`` where changes made elsewhere would not be known.
    func observe(root: String, _ action: @escaping @Sendable (PrefsChange) -> Void) throws -> PrefsObservation
}

extension PrefsStore {
    /// Never calls the closure.
    public func observe(root: String, _ action: @escaping @Sendable (PrefsChange) -> Void) throws -> PrefsObservation {
        PrefsObservation {}
    }
}
