import Foundation
import PrefsPropertyLists

/// What the presence of a file is asked, and what reads return while another program saves the file.
extension PropertyListFile {
    /// Whether a process that has not read a missing file waits for it: it finds a copy of it.
    func isAwaited(under writeLock: WriteLock?) -> Bool {
        // Most missing files have no copy. A file system in user space may show no file while one is replaced.
        guard (try? copyStatus(under: writeLock)) != nil else {
            if let writeLock { return writeLock.isOnServer }
            return (try? system.status(ofPath: names.path(of: names.lock), followsLinks: false)) != nil
                && !system.tellsOfChanges(inFolder: names.folder)
        }
        guard
            let folder = try? folderStatus(under: writeLock),
            let copy = try? lastGoodCopy(of: [geteuid(), folder.owner], under: writeLock)
        else { return false }
        return copy.isOurs
    }

    /// What malformed bytes show of a program that is writing the file, and the time of its last change.
    ///
    /// - Parameter copy: reads the last good copy.
    func disturbance(
        _ bytes: MalformedBytes, under writeLock: WriteLock?, copy: () -> LastGoodCopy?
    ) -> (FileLocation.Presence.Absence?, changed: FileStatus.Time?) {
        let changed = bytes.source.status.changed
        if Self.isBlank(bytes.source.bytes) { return (.empty, system.stamp(changed, of: names.path)) }
        if bytes.fault.isIncomplete { return (.cutOff, system.stamp(changed, of: names.path)) }
        // Writers with the lock write the copy after they have replaced the file, so the current file may be good.
        if writeLock == nil, case .damaged(let copied?) = copy() {
            return (.cutOff, system.stamp(max(changed, copied.changed), of: names.path))
        }
        return (nil, nil)
    }

    /// The time of the last change of the names in the folder, or in the nearest folder above it that exists.
    func folderStamp(under writeLock: WriteLock?) -> FileStatus.Time? {
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
    var removalStamp: FileStatus.Time? {
        guard let cached, !cached.fileSystem.isOnServer, let file = cached.file,
            let status = try? system.status(of: file.descriptor),
            status.isSameFile(as: cached.status ?? status), status.changed != cached.status?.changed
        else { return nil }
        return system.stamp(status.changed, of: names.path)
    }

    /// The state that reads return while another program saves the file: what this process has learned last. nil if it
    /// has read nothing.
    func standIn(under writeLock: WriteLock?) -> DomainState? {
        let (known, lastWhole, hasRead) = state.withLock { ($0.known, $0.presence.lastWhole, $0.snapshot != nil) }
        // The last state is that there was no file.
        guard let known else { return hasRead ? DomainState(nil, form: form, isDuringSave: true) : nil }
        let copyStatus = (try? copyStatus(under: writeLock)) ?? nil
        if let kept = state.withLock({ $0.standIn }), kept.copy == copyStatus { return kept.state }
        let folder = copyStatus == nil ? nil : try? folderStatus(under: writeLock)
        let copy = folder.flatMap { try? lastGoodCopy(of: [geteuid(), $0.owner], under: writeLock) } ?? .missing
        let new = DomainState(newest(known, copy).1 ?? known, revision: Revision(), isDuringSave: true)
        return state.withLock { state in
            // A faster thread may have made it, or has seen the whole file since.
            if let kept = state.standIn, kept.copy == copyStatus { return kept.state }
            if state.presence.lastWhole == lastWhole { state.standIn = (copyStatus, new) }
            return new
        }
    }

    // MARK: - Copies of missing files

    /// Gives the quarantined copy of a missing file the name that it shares with earlier ones, so that one is kept.
    func keepOnly(_ name: String, under writeLock: WriteLock) -> String {
        // If it fails, the copy stays under its first name.
        guard (try? system.rename(name, to: names.copyOfMissing, in: writeLock.folder)) != nil else { return name }
        return names.copyOfMissing
    }

    /// Keeps what was known of a missing or empty file under a name that no commit replaces: the last good copy, or the
    /// last known state if that is newer.
    ///
    /// - Returns: nil if nothing was known.
    func quarantineLost(under writeLock: WriteLock) throws(StorageFailure) -> Quarantine? {
        guard let folder = try folderStatus(under: writeLock) else { return nil }
        let owners: Set = [geteuid(), folder.owner]
        if let lost = state.withLock({ $0.lost }), let bytes = try bytesBeyondCopy(of: lost, owners, under: writeLock) {
            let name = try freeName { name throws(StorageFailure) in
                try makeDurable(name, CheckedCopy.copy(of: bytes), like: nil, protectedAs: nil, under: writeLock)
            }
            do throws(StorageFailure) {
                try system.synchronizeFolder(writeLock.folder)
            } catch {
                try? system.remove(name, in: writeLock.folder)
                throw error
            }
            return Quarantine(name: name, kind: .lastKnown)
        }
        // Checked before it is opened, because a file that another user planted must not prevent a write.
        guard let planted = try system.status(ofPath: names.lastGood, in: writeLock.folder, followsLinks: false),
            planted.isTrustedCopy(of: owners),
            let (copy, status) = try system.openFile(names.lastGood, in: writeLock.folder),
            status.isTrustedCopy(of: owners)
        else { return nil }
        return Quarantine(name: try quarantineName(of: names.lastGood, copy, status, under: writeLock), kind: .copy)
    }

    /// The bytes of a state; nil if the last good copy has it or a newer one.
    private func bytesBeyondCopy(
        of lost: KnownState, _ owners: Set<UInt32>, under writeLock: WriteLock
    ) throws(StorageFailure) -> Data? {
        if case .usable(let copied, _)? = try? lastGoodCopy(of: owners, under: writeLock),
            copied.content.isEqual(to: lost.content) || copied.changed > lost.changed
        {
            return nil
        }
        if let text = lost.text { return text }
        do {
            return try encoded(lost.content, as: lost.format ?? .binary, replacing: lost.content)
        } catch FileError.notStored(let failure) {
            throw failure
        } catch {
            throw StorageFailure(path: names.path, reason: "\(error)")
        }
    }

    private func copyStatus(under writeLock: WriteLock?) throws(StorageFailure) -> FileStatus? {
        if let writeLock { return try system.status(ofPath: names.lastGood, in: writeLock.folder, followsLinks: false) }
        return try system.status(ofPath: names.path(of: names.lastGood), followsLinks: false)
    }

    private func folderStatus(under writeLock: WriteLock?) throws(StorageFailure) -> FileStatus? {
        if let writeLock { return try system.status(of: writeLock.folder) }
        return try system.status(ofPath: names.folder, followsLinks: false)
    }
}

/// The wait of one access for a program that is saving a file.
struct SaveWait {
    /// The limit of the wait, and its end; nil before the first pause.
    private var limit: (wait: LockWait?, end: ContinuousClock.Instant?)?

    /// - Throws: `FileError.busy` if the time of the task's writes is over.
    mutating func pause(for path: String, _ system: SystemCalls) throws(FileError) {
        let current = limit ?? (LockWait.current, LockWait.current?.deadline)
        limit = current
        if let wait = current.wait, let end = current.end, end <= .now { throw wait.lostSave(path) }
        system.pause()
    }
}
