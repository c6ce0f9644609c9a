package import PrefsPropertyLists

/// A store on other machines: its reads may be older than the newest commit, and fail for a while.
package protocol RemoteStore: PrefsStore {
    /// What `read` returns, as values.
    func values(of root: String) throws -> [String: StoredValue]?

    /// The root as of now, for a write that is compared with it.
    func current(root: String) throws -> [String: StoredValue]?

    /// The last known state of a root that cannot be read.
    func lastKnown(root: String) -> [String: StoredValue]?
}
