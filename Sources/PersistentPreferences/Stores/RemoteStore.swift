/// A store on other machines: its reads may be older than the newest commit, and fail for a while.
package protocol RemoteStore: PrefsStore {
    /// The root as of now, for a write that is compared with it.
    func current(root: String) throws -> [String: Any]?

    /// The last known state of a root that cannot be read.
    func lastKnown(root: String) -> [String: Any]?
}
