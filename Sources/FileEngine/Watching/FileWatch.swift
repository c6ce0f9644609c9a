import Foundation
import PrefsPropertyLists

/// Reports that a file may have been replaced, written in place, removed, or made, also with a missing folder. Watches
/// the folder, because a replacement is a new file, and the folders above it, which may be exchanged.
///
/// Also looks at the file once a second where the system does not tell of the changes of others, as on a network, and
/// while the file cannot be watched any more.
package final class FileWatch: Sendable {
    private let names: FileNames
    private let system: SystemCalls
    private let changed: @Sendable () -> Void
    /// Prevents two calls of `settle` at once, which could leave the older watch in place.
    private let settling = Lock()
    /// The watch of the file's folder, or of the nearest existing folder above it.
    private let place = Locked<(watch: AnyObject, isOfFile: Bool)?>(nil)
    private let poll = Locked<AnyObject?>(nil)
    /// The status of the file when it was last looked at.
    private let lastSeen = Locked<FileStatus?>(nil)

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
        // A round repeats if a folder was made or removed since the last one.
        for _ in 0..<1_000 {
            do throws(StorageFailure) {
                let isOfFile = there.path == names.path
                let watch = try system.watch(there) { [weak self] isGone in self?.receive(isGone: isGone) }
                if !isOfFile, try system.status(ofPath: there.path, followsLinks: true)?.kind == .folder {
                    there = names
                    continue
                }
                place.withLock { $0 = (watch, isOfFile) }
                setPolling(!system.tellsOfChanges(inFolder: there.folder))
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
        if isGone || !isOfFile {
            do throws(StorageFailure) {
                try settle()
            } catch {
                // Watches again later.
                place.withLock { $0 = nil }
                setPolling(true)
            }
        }
        changed()
    }

    private func setPolling(_ isNeeded: Bool) {
        let former = poll.withLock { poll in
            defer {
                if !isNeeded {
                    poll = nil
                } else if poll == nil {
                    lastSeen.withLock { $0 = status }
                    poll = FilePoller.shared.start { [weak self] in self?.look() }
                }
            }
            return poll
        }
        withExtendedLifetime(former) {}
    }

    private func look() {
        let now = status
        let isChanged = lastSeen.withLock { last in
            defer { last = now }
            return last != now
        }
        if isChanged || place.withLock({ $0 == nil }) { receive(isGone: false) }
    }

    /// nil if the file is missing or cannot be examined.
    private var status: FileStatus? { try? system.status(ofPath: names.path, followsLinks: false) }
}
