import Foundation
import PrefsPropertyLists

/// A file that is missing although its last good copy exists.
///
/// Another program may be saving it, because editors move the file away before they make a new one. Or a person has
/// deleted it.
extension PropertyListFile {
    /// How many times an access that waits looks for a missing file, with a pause of 10 ms after each: 50 ms in all.
    static let saveRounds = 5
    /// How long a missing file may be in the hands of a program that saves it, in seconds.
    static let saveTime = 0.05

    enum DuringSave {
        /// No other program can be saving the file.
        case missing
        /// The file may appear at once.
        case wait
        /// The state that is read in place of the file.
        case standIn(Snapshot)
    }

    /// What an access makes of a missing file. A process that has read it goes on with what it knows, for a moment. Any
    /// other process waits, once, because the last good copy may be of a file that a person has deleted.
    ///
    /// - Parameter attempts: how many times this access has looked for the file.
    func duringSave(_ attempts: Int, _ patience: Patience, under writeLock: WriteLock?) throws -> DuringSave {
        let now = system.now()
        // Without a copy, the file is missing.
        guard let copied = try? copyStatus(under: writeLock) else { return .missing }
        // A younger copy shows that the file has existed since then.
        let (since, standIn) = missing(now, notBefore: copied.modified)
        guard 0..<Self.saveTime ~= now.seconds(since: since) else { return .missing }
        if patience != .ofWrite, let standIn { return .standIn(standIn) }
        let copy: LastGoodCopy
        do throws(StorageFailure) {
            // The move of a file changes the time of its folder. A time in the future counts as long ago.
            guard let folder = try folderStatus(under: writeLock),
                0..<(Self.saveTime + folder.modified.step) ~= now.seconds(since: folder.modified)
            else { return .missing }
            copy = try lastGoodCopy(of: [geteuid(), folder.owner], under: writeLock)
        } catch {
            // Without a copy that can be read, the file is missing.
            return .missing
        }
        guard copy.isOurs else { return .missing }
        switch (patience, knownState) {
        case (.none, nil): return .missing
        case (.none, let known?), (.ofRead, let known?):
            guard let newest = newest(known, copy).1 else { return .missing }
            return .standIn(keep(standIn: Snapshot(inPlaceOfMissing: newest, system: system)))
        case (.ofRead, nil), (.ofWrite, _):
            return attempts <= Self.saveRounds && mayWait(isFirst: attempts == 1, patience) ? .wait : .missing
        }
    }

    /// Whether an access may wait for the missing file. A read waits once for each time that the file vanishes.
    private func mayWait(isFirst: Bool, _ patience: Patience) -> Bool {
        state.withLock { state in
            defer { state.hasWaited = true }
            return patience == .ofWrite || !isFirst || !state.hasWaited
        }
    }

    /// Gives the quarantined copy of a missing file the name that it shares with earlier ones, so that one is kept.
    func keepOnly(_ name: String, under writeLock: WriteLock) -> String {
        // If it fails, the copy stays under its first name.
        guard (try? system.rename(name, to: names.copyOfMissing, in: writeLock.folder)) != nil else { return name }
        return names.copyOfMissing
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
            // A time in the future counts as long ago.
            if since < existed, existed <= now { (since, state.standIn) = (now, nil) }
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
