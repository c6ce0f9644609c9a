import PrefsPropertyLists

/// The watches of a domain's entries: one for each that somebody listens to.
final class EntryWatches: @unchecked Sendable {
    private let lock = Lock()
    /// Under the lock, and made and dropped under it: they make system calls.
    private var watches: [String: AnyObject] = [:]

    /// Begins or ends the watch of an entry.
    ///
    /// - Parameters:
    ///   - isWanted: asked when nobody else begins or ends one.
    ///   - watch: begins it.
    /// - Returns: why it could not begin.
    func update(
        _ key: String, isWanted: () -> Bool, watch: () throws(StorageFailure) -> AnyObject?
    ) -> StorageFailure? {
        lock.withLock {
            if !isWanted() {
                watches[key] = nil
            } else if watches[key] == nil {
                do throws(StorageFailure) {
                    watches[key] = try watch()
                } catch {
                    return error
                }
            }
            return nil
        }
    }
}
