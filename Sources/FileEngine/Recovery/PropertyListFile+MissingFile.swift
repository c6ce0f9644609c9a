import Foundation
import PrefsPropertyLists

/// A file that is missing although its last good copy exists.
///
/// Another program may be saving it, because editors move the file away before they make a new one. Or a person has
/// deleted it.
extension PropertyListFile {
    /// How many times a write looks for a missing file, with a pause of 10 ms after each: 50 ms in all.
    static let saveRounds = 5
    /// How long reads assume that a missing file is being saved, in seconds.
    private static let saveTime = 0.05

    /// The state that is read in place of a missing file: the newer of what this process last knew and the last good
    /// copy. nil if no other program can be saving it.
    func stateDuringSave(under writeLock: WriteLock?) throws -> Snapshot? {
        let now = system.now()
        // Without a copy, the file is missing.
        guard let copied = try? copyStatus(under: writeLock) else { return nil }
        // A younger copy shows that the file has existed since then.
        let (since, standIn) = missing(now, notBefore: copied.modified)
        guard 0..<Self.saveTime ~= now.seconds(since: since) else { return nil }
        if let standIn { return standIn }
        let copy: LastGoodCopy
        do throws(StorageFailure) {
            // The move of a file changes the time of its folder.
            guard let folder = try folderStatus(under: writeLock),
                now.seconds(since: folder.modified) < Self.saveTime + folder.modified.step
            else { return nil }
            copy = try lastGoodCopy(of: [geteuid(), folder.owner], under: writeLock)
        } catch {
            // Without a copy that can be read, the file is missing.
            return nil
        }
        guard copy.isOurs, let known = newest(knownState, copy).1 else { return nil }
        return keep(
            standIn: Snapshot(inPlaceOfMissing: known, system: system))
    }

    /// Gives the last good copy of a missing file a second name that no commit replaces.
    ///
    /// - Returns: the name; nil if there is no copy.
    func quarantineCopyOfMissingFile(under writeLock: WriteLock) throws(StorageFailure) -> String? {
        guard let folder = try folderStatus(under: writeLock) else { return nil }
        let owners: Set = [geteuid(), folder.owner]
        // Checked before it is opened, because a file that another user planted must not prevent a write.
        guard let planted = try system.status(ofPath: names.lastGood, in: writeLock.folder, followsLinks: false),
            planted.isTrustedCopy(of: owners),
            let (copy, status) = try system.openFile(names.lastGood, in: writeLock.folder),
            status.isTrustedCopy(of: owners)
        else { return nil }
        return try quarantineName(of: names.lastGood, copy, status, under: writeLock)
    }

    private func copyStatus(under writeLock: WriteLock?) throws(StorageFailure) -> FileStatus? {
        if let writeLock { return try system.status(ofPath: names.lastGood, in: writeLock.folder, followsLinks: false) }
        return try system.status(ofPath: names.path(of: names.lastGood), followsLinks: false)
    }

    private func folderStatus(under writeLock: WriteLock?) throws(StorageFailure) -> FileStatus? {
        if let writeLock { return try system.status(of: writeLock.folder) }
        return try system.status(ofPath: names.folder, followsLinks: false)
    }

    /// The time at which the file was first seen to be missing, now at the latest, and the state that is read in its
    /// place.
    ///
    /// - Parameter existed: a time at which the file existed. Earlier observations are discarded.
    func missing(
        _ now: FileStatus.Time, notBefore existed: FileStatus.Time
    ) -> (since: FileStatus.Time, standIn: Snapshot?) {
        state.withLock { state in
            var since = state.missingSince ?? now
            if since < existed { (since, state.standIn) = (now, nil) }
            state.missingSince = since
            return (since, state.standIn)
        }
    }

    /// - Returns: the kept state, which may be the state of a faster thread.
    func keep(standIn: Snapshot) -> Snapshot {
        state.withLock { state in
            let kept = state.standIn ?? standIn
            state.standIn = kept
            return kept
        }
    }
}
