import PersistentPreferences

/// A backend on other machines: its reads may be older than the newest commit, and may fail for a while.
///
/// Conform to it if ``PrefsBackend/read(root:)`` answers from a copy, or if a server may be out of reach. Instances then
/// write correctly over an old copy, and read through an outage. <doc:WritingAStore> shows an implementation, and
/// `StoreCheck.remote` checks it.
///
/// ## Behavior
/// - A read by an instance calls `read`. If that throws ``PrefsError/unreadable(_:)``, the read returns `lastKnown`,
///   and ``PersistentPrefs/lastError`` has the error. A write never starts from `lastKnown`.
/// - An assignment is compared with `current`. If it would change nothing, there is no update.
/// - `update` must run its body inside an update of a store of this package, such as ``PrefsStore/memory()``. If an
///   instance rejects an assignment in the body, it fails that inner update, and nothing may be committed.
///
/// ## Performance
/// An instance converts a dictionary again only if its storage is new, so return one copy as long as the state does not
/// change.
///
/// ## Threads
/// As for ``PrefsBackend``. `lastKnown` must not wait for the server.
public protocol RemotePrefsBackend: PrefsBackend {
    /// Returns the newest committed dictionary under a root key, or nil if the root is missing. Inside an update,
    /// returns the state of that update. Changes nothing. Costs a round trip.
    ///
    /// - Throws: ``PrefsError``, for example ``PrefsError/unreadable(_:)`` if the server does not answer.
    func current(root: String) throws -> [String: Any]?

    /// Returns the newest readable state that this process has read or written under a root key. Returns nil if the
    /// root was missing then, or if nothing is known.
    func lastKnown(root: String) -> [String: Any]?
}
