import Dispatch
import Foundation
import PrefsPropertyLists

/// The wait of one access for a program that is saving a file.
struct SaveWait {
    /// The limit of the wait, and its end; nil before the first pause.
    private var limit: (wait: LockWait?, end: DispatchTime?)?
    /// When the access began to wait.
    private(set) var began: Duration?

    /// - Throws: `FileError.busy` if the time of the task's writes is over.
    mutating func pause(for path: String, _ system: SystemCalls) throws(FileError) {
        let current = limit ?? (LockWait.current, LockWait.current?.deadline)
        limit = current
        if let wait = current.wait, let end = current.end, end <= .now() { throw wait.lostSave(path) }
        began = began ?? system.monotonicNow()
        system.pause()
    }
}

/// What a look asks of the file system.
extension PropertyListFile {
    /// Asks what an access does after a look that has found no whole file.
    ///
    /// - Parameters:
    ///   - changed: when the file system stamped what was found.
    ///   - begin: the times before the look.
    func answer(
        _ absence: Presence.Absence, _ changed: FileStatus.Time?, isKnown: Bool,
        since begin: (monotonic: Duration, wall: FileStatus.Time)
    ) -> Presence.Answer {
        let clock = begin.wall...max(begin.wall, system.wallClockNow())
        return state.withLock { state in
            state.presence.answer(
                to: Presence.Look(
                    absence: absence, isKnown: isKnown || state.known != nil || state.snapshot != nil,
                    changed: changed, begin: begin.monotonic, clock: clock))
        }
    }

    /// Calls `UserDefaults` of this process, under the write lock. It may write the file.
    func callMirror(_ call: () -> Void) {
        call()
        let time = system.wallClockNow()
        state.withLock { $0.presence.ownUntil = time }
    }

    /// Whether a missing file may come back: this process knows it or, if it waits, finds a copy of it.
    func isExpected(waits: Bool, under writeLock: WriteLock?) -> Bool {
        if state.withLock({ $0.known }) != nil { return true }
        guard waits else { return false }
        // Most missing files have no copy. A file system in user space may show no file while one is replaced.
        guard (try? copies.copyStatus(under: writeLock)) != nil else {
            if let writeLock { return !writeLock.volume.tellsFilesApart }
            return (try? system.status(ofPath: names.path(of: names.lock), followsLinks: false)) != nil
                && !system.reportsChanges(inFolder: names.folder)
        }
        guard
            let folder = try? copies.folderStatus(under: writeLock),
            let copy = try? copies.lastGoodCopy(of: [geteuid(), folder.owner], by: coder, under: writeLock)
        else { return false }
        return copy.isOurs
    }

    /// When a missing file may have been removed: the last change of the names in the folder, or in the nearest folder above
    /// it that exists, or of the file that was read. nil if a server has stamped them.
    func stampOfRemoval(under writeLock: WriteLock?) -> FileStatus.Time? {
        [folderStamp(under: writeLock), removalStamp].compactMap { $0 }.max()
    }

    /// Asks what an access does with a malformed file, and reads the last good copy if it is needed.
    ///
    /// - Parameter ask: asks with the time at which the file has changed.
    func answer(
        to bytes: MalformedBytes, _ absence: Presence.Absence, under writeLock: WriteLock?,
        _ ask: (Presence.Absence, FileStatus.Time?) -> Presence.Answer
    ) throws(FileError) -> (Presence.Answer, LastGoodCopy) {
        let status = bytes.source.status
        func answer(since time: FileStatus.Time) -> Presence.Answer {
            // A file system may show a new size before its time.
            let whole = state.withLock { $0.presence.whole?.status }
            let isUnstamped = time == whole?.modified && status.size != whole?.size
            let changed = isUnstamped ? nil : system.stamp(time, of: names.path)
            state.withLock { $0.malformed = (status, absence, changed) }
            return ask(absence, changed)
        }
        let first = answer(since: status.modified)
        switch first {
        case .outdated, .saving: return (first, .missing)
        case .beingWritten, .restless, .truth: break
        }
        let copy = try copies.lastGoodCopy(beside: bytes, by: coder, under: writeLock)
        // A program of this package writes the copy just after it has replaced the file.
        if writeLock == nil, case .damaged(let torn?) = copy, torn.modified > status.modified {
            return (answer(since: torn.modified), copy)
        }
        return (first, copy)
    }

    private func folderStamp(under writeLock: WriteLock?) -> FileStatus.Time? {
        if let writeLock {
            return (try? system.status(of: writeLock.folder)).flatMap { system.stamp($0.modified, of: names.path) }
        }
        var path = names.path
        while true {
            let folder = FileNames(path: path).folder
            if let status = try? system.status(ofPath: folder, followsLinks: false) {
                return system.stamp(status.modified, of: path)
            }
            if folder == "/" { return nil }
            path = folder
        }
    }

    /// When the file that was read lost its name: no program can set this time of the open file.
    private var removalStamp: FileStatus.Time? {
        guard let cached, cached.volume.keepsFiles, let file = cached.file,
            let status = try? system.status(of: file.descriptor),
            status.isSameFile(as: cached.status ?? status), status.changed != cached.status?.changed
        else { return nil }
        return system.stamp(status.changed, of: names.path)
    }

    /// The state that reads return while another program saves the file: what this process has learned last. nil if it
    /// has read nothing.
    func lastKnownState(under writeLock: WriteLock?) -> DomainState? {
        let (known, lastWhole, hasRead) = state.withLock { ($0.known, $0.presence.lastWhole, $0.snapshot != nil) }
        // The last state is that there was no file.
        guard let known else { return hasRead ? DomainState(nil, form: form, isDuringSave: true) : nil }
        let copyStatus = (try? copies.copyStatus(under: writeLock)) ?? nil
        if let kept = state.withLock({ $0.lastKnownState }), kept.copy == copyStatus { return kept.state }
        let folder = copyStatus == nil ? nil : try? copies.folderStatus(under: writeLock)
        let copy =
            folder.flatMap { try? copies.lastGoodCopy(of: [geteuid(), $0.owner], by: coder, under: writeLock) }
            ?? .missing
        let new = DomainState(newest(known, copy).state ?? known, revision: Revision(), isDuringSave: true)
        return state.withLock { state in
            // A faster thread may have made it, or has seen the whole file since.
            if let kept = state.lastKnownState, kept.copy == copyStatus { return kept.state }
            if state.presence.lastWhole == lastWhole { state.lastKnownState = (copyStatus, new) }
            return new
        }
    }
}
