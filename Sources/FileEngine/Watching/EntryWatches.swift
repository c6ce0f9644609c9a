import PrefsPropertyLists

/// The watches of a domain's entries: one for each entry with subscribers.
///
/// It has its own lock, because watches make system calls when they begin and end.
final class EntryWatches: Sendable {
    /// The watches, and the number of forks at their start: a child hears nothing of those of its parent.
    private let watches = Locked<[String: (watch: AnyObject, forks: Int)]>([:])

    /// Starts or ends the watch of an entry.
    ///
    /// - Parameters:
    ///   - isWanted: called while no other thread starts or ends a watch.
    ///   - watch: starts the watch.
    /// - Returns: the error that prevented the start.
    func update(
        _ key: String, isWanted: () -> Bool, watch: () throws(StorageFailure) -> AnyObject?
    ) -> StorageFailure? {
        watches.withLock { watches in
            if !isWanted() {
                watches[key] = nil
            } else if watches[key]?.forks != LockRegistry.forks {
                do throws(StorageFailure) {
                    watches[key] = try watch().map { ($0, LockRegistry.forks) }
                } catch {
                    return error
                }
            }
            return nil
        }
    }
}
