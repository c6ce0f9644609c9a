import Foundation
import PrefsPropertyLists

/// Reports that a file may have changed: that it was created, replaced, written in place or removed. The receiver looks.
///
/// It watches the file's folder, because a replacement is a new file. It also watches the folders above, because they
/// may be exchanged. If the folder is missing, it watches the nearest existing folder above it.
///
/// It also polls the file once a second in three cases: where the system does not report the changes of others, as on a
/// network; if the file is a mount of its own, whose changes are made elsewhere; and while watching fails after it has
/// begun. If it cannot begin, the caller polls, and tries again.
package final class FileWatch: Sendable {
    private let names: FileNames
    private let system: SystemCalls
    private let changed: @Sendable () -> Void
    /// Allows one call of `rearm` at a time. Of two at once, the older watch could win.
    private let settling = Lock()
    /// The current watch, and whether it watches the file's own folder. nil if nothing can be watched.
    private let place = Locked<(watch: AnyObject, isOfFile: Bool)?>(nil)
    private let polling = Polling()

    package init(
        _ names: FileNames, system: SystemCalls, _ changed: @escaping @Sendable () -> Void
    ) throws(StorageFailure) {
        self.names = names
        self.system = system
        self.changed = changed
        try rearm(isFirst: true)
    }

    /// Watches the file's folder or, if it is missing, the nearest existing folder above it.
    private func rearm(isFirst: Bool = false) throws(StorageFailure) {
        try settling.withLock { () throws(StorageFailure) in try rearmAlone(isFirst: isFirst) }
    }

    private func rearmAlone(isFirst: Bool) throws(StorageFailure) {
        var there = names
        // Each round goes one folder up. If a folder appears meanwhile, starts again at the file's own.
        for _ in 0..<1_000 {
            do throws(StorageFailure) {
                let isOfFile = there.path == names.path
                let watch = try system.watch(there) { [weak self] isGone in self?.receive(isGone: isGone) }
                if !isOfFile, try system.status(ofPath: there.path, followsLinks: true)?.kind == .folder {
                    there = names
                    continue
                }
                place.withLock { $0 = (watch, isOfFile) }
                setPolling(!system.reportsChanges(inFolder: there.folder) || isOfFile && system.isMount(names))
                return
            } catch {
                // After the first time, EACCES also leads up: the folder may become readable again.
                let isMissing = [ENOENT, ENOTDIR].contains(error.code) || error.code == EACCES && !isFirst
                guard isMissing, there.folder != "/" else { throw error }
                there = FileNames(path: there.folder)
            }
        }
        throw StorageFailure(path: names.folder, reason: "appears and disappears repeatedly")
    }

    private func receive(isGone: Bool) {
        let isOfFile = place.withLock { $0?.isOfFile ?? false }
        if isGone || !isOfFile {
            do throws(StorageFailure) {
                try rearm()
            } catch {
                // The next poll tries again.
                place.withLock { $0 = nil }
                setPolling(true)
            }
        }
        changed()
    }

    private func setPolling(_ isNeeded: Bool) {
        polling.update(isNeeded: isNeeded) { [weak self] in self?.receive(isGone: false) }
    }
}
