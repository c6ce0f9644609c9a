public import Foundation

/// A place where roots are stored. A ``PersistentPrefs`` instance reads from it and writes to it.
///
/// A class names its store:
///
/// ```swift
/// final class ToolPrefs: Prefs, @unchecked Sendable {
///     @Pref var width = 80
///
///     override class var store: PrefsStore { .propertyList(program: "mytool") }
/// }
/// ```
///
/// The stores of `PersistentPreferences` are ``userDefaults(suite:layout:)``, which is the default,
/// ``propertyList(url:format:durability:layout:protection:)`` and ``memory()``. Other products add functions to this
/// type: see <doc:ChoosingAnAPI>, and <doc:WritingAStore> for a store of your own. A store maps root keys to
/// dictionaries of String, Data, Date, Bool, NSNumber, `[Any]` and `[String: Any]`.
///
/// ## Behavior
/// - After an `update`, `read` returns its result, in every thread and through every value for the same place. Stores
///   on one file or one domain are the same place; each call of ``memory()`` makes another one.
/// - Missing is nil; unreadable throws.
/// - `update` is one transaction: N threads that each add 1 to a number M times leave N × M. If it throws before the
///   commit, nothing has changed. An equal update writes nothing.
/// - Accesses nest on one thread. Inside the body of an `update`, accesses to the same store neither block nor commit,
///   and an error in one of them undoes the whole update. An `update` of another store throws
///   ``PrefsError/updateOfAnotherStore``.
///
/// ## Errors
/// A value that a property list cannot hold throws ``PrefsError/valuesNotPlistCompatible(invalidElements:)``, and
/// nothing changes.
///
/// ## Threads
/// A value type over a shared place. Any thread may call every method at any time.
public struct PrefsStore: Sendable {
    package let roots: Roots
    let purpose: StorePurpose?

    package init(_ roots: Roots) { (self.roots, purpose) = (roots, nil) }

    init(_ roots: Roots, for purpose: StorePurpose) { (self.roots, self.purpose) = (roots, purpose) }

    /// The file of the store. nil if the store has no file, or cannot be reached. Also nil for `UserDefaults` on Apple
    /// platforms, where a daemon owns the file.
    public var url: URL? { roots.fileURL }

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
