import Foundation
import PrefsPropertyLists

/// Gives a sign when something may have happened to a file: it was replaced, written in place, removed, or made, with its
/// folder if that was missing. The folder is watched, since a file that is replaced is another file.
///
/// A folder above the file's own that is moved away is not noticed, as by reads.
package final class FileWatch: Sendable {
    private let names: FileNames
    private let system: SystemCalls
    private let changed: @Sendable () -> Void
    /// Two at once could leave the older watch in place.
    private let settling = Lock()
    /// The watch of the file's folder, or of the nearest one that is there.
    private let place = Locked<(watch: AnyObject, isOfFile: Bool)?>(nil)

    package init(
        _ names: FileNames, system: SystemCalls, _ changed: @escaping @Sendable () -> Void
    ) throws(StorageFailure) {
        self.names = names
        self.system = system
        self.changed = changed
        try settle(isFirst: true)
    }

    /// Watches the place where the file is or will be.
    private func settle(isFirst: Bool = false) throws(StorageFailure) {
        try settling.withLock { () throws(StorageFailure) in try settleAlone(isFirst: isFirst) }
    }

    private func settleAlone(isFirst: Bool) throws(StorageFailure) {
        var there = names
        // Each round finds that a folder was made or removed since the last one.
        for _ in 0..<1_000 {
            do throws(StorageFailure) {
                let isOfFile = there.path == names.path
                let watch = try system.watch(there) { [weak self] isGone in self?.receive(isGone: isGone) }
                if !isOfFile, try system.status(ofPath: there.path, followsLinks: true)?.kind == .folder {
                    there = names
                    continue
                }
                place.withLock { $0 = (watch, isOfFile) }
                return
            } catch {
                // A folder that became unreadable may become readable again.
                let isMissing = [ENOENT, ENOTDIR].contains(error.code) || error.code == EACCES && !isFirst
                guard isMissing, there.folder != "/" else { throw error }
                there = FileNames(path: there.folder)
            }
        }
        throw StorageFailure(path: names.folder, reason: "appears and disappears repeatedly")
    }

    private func receive(isGone: Bool) {
        let isOfFile = place.withLock { $0?.isOfFile ?? false }
        // If the file can no longer be watched, this was the last sign; the next subscription has the reason.
        if isGone || !isOfFile { try? settle() }
        changed()
    }
}
