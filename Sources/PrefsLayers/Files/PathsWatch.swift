import PrefsFileEngine
import PrefsPropertyLists

/// Reports that one of several files and folders may have changed. The receiver looks, and gives the paths again.
///
/// Reports once a second while one of them cannot be watched.
final class PathsWatch: Sendable {
    private let system: SystemCalls
    private let changed: @Sendable () -> Void
    private let watches = Locked<[String: FileWatch]>([:])
    private let polling = Polling()

    /// - Parameter changed: called on any thread.
    init(system: SystemCalls = .real, _ changed: @escaping @Sendable () -> Void) {
        (self.system, self.changed) = (system, changed)
    }

    /// Watches these paths from now on, and no others.
    ///
    /// - Parameter paths: absolute, without links before the last part. With a slash at the end, a path stands for every
    ///   name in the folder.
    /// - Returns: whether a watch has begun, so that its file may have changed before; and why a path cannot be watched.
    func update(_ paths: Set<String>) -> (hasBegun: Bool, failure: StorageFailure?) {
        var failure: StorageFailure?
        let (former, hasBegun) = watches.withLock { watches in
            let former = watches
            watches = watches.filter { paths.contains($0.key) }
            let known = watches.count
            for path in paths.sorted() where watches[path] == nil {
                do throws(StorageFailure) {
                    watches[path] = try FileWatch(FileNames(path: path), system: system, changed)
                } catch {
                    failure = failure ?? error
                }
            }
            return (former, watches.count > known)
        }
        // Those that end are released outside the lock.
        withExtendedLifetime(former) {}
        let isNeeded = failure != nil
        polling.update(isNeeded: isNeeded, changed)
        return (hasBegun, failure)
    }
}
