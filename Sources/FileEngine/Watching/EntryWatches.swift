import PrefsPropertyLists

/// The watches of a domain's entries: one for each that has subscribers.
///
/// Its lock is not that of the feed, because watches make system calls when they begin and end.
final class EntryWatches: Sendable {
    private let watches = Locked<[String: AnyObject]>([:])

    /// Starts or ends the watch of an entry.
    ///
    /// - Parameters:
    ///   - isWanted: called when no other thread starts or ends one.
    ///   - watch: starts it.
    /// - Returns: the error that prevented the start.
    func update(
        _ key: String, isWanted: () -> Bool, watch: () throws(StorageFailure) -> AnyObject?
    ) -> StorageFailure? {
        watches.withLock { watches in
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
