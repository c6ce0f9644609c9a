import Foundation
package import PrefsPropertyLists

/// A file under its lock: the state that a transaction starts from, and what it commits to.
package struct LockedFile: TransactionSession {
    let disk: FileCommit
    let lock: WriteLock
    let base: FileState

    private var names: FileNames { disk.look.names }
    private var cache: FileCache { disk.look.cache }

    package var lockPath: String? { names.path(of: names.lock) }
    package var content: Content? { base.content }
    package var format: FileFormat? { cache.format(of: base) }

    package func commit(_ content: Content, durability: CommitDurability) throws {
        try commit(content, keepingFormerBecause: nil, durability: durability)
    }

    /// Stores the content, if it differs from the content of the file.
    package func commit(
        _ content: Content, keepingFormerBecause reason: String?, durability: CommitDurability
    ) throws {
        try refuseLost()
        let content = cache.format(replacing: base).coder.storable(content)
        if base.fault == nil, (base.content ?? [:]).isEqual(to: content) {
            // XML has rounded the difference away, or a later member of the batch has reverted it.
            if try isDurable(durability) || disk.flush(base, under: lock) { return }
        }
        if content.isEmpty, disk.look.topLevel == .document {
            return try disk.removeFile(base, keptBecause: reason, durability: durability, under: lock)
        }
        // Nothing is known of a malformed file without content.
        if content.isEmpty, base.content == nil { return try remove(nil, durability) }
        try disk.store(content, replacing: base, keptBecause: reason, durability: durability, under: lock)
    }

    package func vet(_ content: Content, after former: Content?, beside size: Int) throws -> Int {
        let changed = content.filter { former?[$0.key] != $0.value }
        let coder = disk.look.coder
        let ownSize = try coder.encodedSize(of: changed, replacing: base)
        // The sum is above the size of the file, because a change replaces something.
        if (base.status?.size ?? 0) + size + ownSize > PropertyListLimits.fileBytes {
            _ = try coder.encodedSize(of: content, replacing: base)
        }
        return ownSize
    }

    package func end() {
        lock.end()
    }

    /// Whether the state that the session started from has the required durability.
    package func isDurable(_ durability: CommitDurability) -> Bool {
        cache.durability(of: base) >= durability
    }

    package func stored(_ content: Content?) -> Content? {
        content.map { cache.format(replacing: base).coder.storable($0) }
    }

    /// Rejects an update without a lock. An update that began before a fork belongs to the parent, and the child would
    /// commit it a second time without the lock. If the program has closed all descriptors during the update, the lock
    /// is lost, too.
    private func refuseLost() throws {
        let reason: String
        if !lock.isOfThisProcess {
            reason = "is being updated by the parent of this forked process"
        } else if !lock.isIntact {
            reason = "the program has closed the descriptor of its lock during the update"
        } else {
            return
        }
        throw FileError.notStored(StorageFailure(path: names.path, reason: reason))
    }

    /// Removes the file, and tells the tool and UserDefaults.
    ///
    /// - Parameter former: the bytes that an undo brings back; nil for a malformed file, whose bytes are in quarantine.
    private func remove(_ former: Data?, _ durability: CommitDurability) throws {
        try disk.removeFile(base, durability: durability, under: lock)
        disk.noteReplacement(of: .success(former), by: nil)
        cache.mirror?.didChange()
        cache.mirror?.note(nil)
    }

    // MARK: - For the tool

    /// Restores the bytes before a commit, of whatever kind, if the file still has the bytes of that commit.
    ///
    /// - Throws: `FileError`; nothing has changed then, unless it is `durabilityUnconfirmed`.
    package func revert(_ commit: FileReplacement) throws {
        let former = try disk.bytes(of: base, under: lock)
        guard former == commit.after?.joined else {
            throw FileError.notStored(
                StorageFailure(path: names.path, reason: "has changed since the write that would be reverted"))
        }
        guard let bytes = commit.before else { return try remove(former, .powerCut) }
        let whole = FileBytes(bytes)
        if let list = try? disk.look.coder.decoded(bytes) {
            try disk.store(
                list.content, as: (whole, list.format), replacing: base, durability: .powerCut, under: lock)
        } else {
            try disk.storeForeign(whole, replacing: base, under: lock)
            disk.noteReplacement(of: .success(former), by: whole)
        }
    }
}

/// Locks a file for a write, and reads the state that the write starts from.
struct FileLocker {
    let disk: FileCommit

    private var look: FileLook { disk.look }
    private var names: FileNames { look.names }
    private var system: SystemCalls { look.system }
    private var cache: FileCache { look.cache }

    func begin() throws -> LockedFile {
        try begin { writeLock, wait in
            let (cached, mirror, isFirst) = cache.state.withLock { state in
                defer { state.hasBegun = true }
                return (state.newest, state.rules.mirror, !state.hasBegun)
            }
            // Removes the temporary file of a killed writer, because the next commit may never come.
            if isFirst { try? system.remove(names.temporary, in: writeLock.folder) }
            guard let base = try current(cached, under: writeLock, after: wait) else { return nil }
            try look.recovery.requireWritable(base)
            guard base.fault == nil, let mirror else { return base }
            cache.callMirror(mirror.willChange)
            try forgetCopyOfFileRemovedByMirror(base, under: writeLock)
            guard let newest = try current(base, under: writeLock, after: wait) else { return nil }
            try look.recovery.requireWritable(newest)
            mirror.note(newest.content)
            return newest
        }
    }

    /// As `begin`, for bytes of any kind, which replace a malformed file, too.
    func beginReplacement() throws -> LockedFile {
        try begin { writeLock, wait in
            let base = try current(cache.newest, under: writeLock, after: wait)
            guard let mirror = cache.mirror, let base, base.fault == nil else { return base }
            cache.callMirror(mirror.willChange)
            return try current(nil, under: writeLock, after: wait)
        }
    }

    /// Waits without the lock while another program saves the file, because that program may use this package.
    ///
    /// - Parameter state: returns nil if another program may be saving the file.
    private func begin(_ state: (WriteLock, SaveWait) throws -> FileState?) throws -> LockedFile {
        var wait = SaveWait()
        while true {
            let writeLock = try lock()
            do {
                if let base = try state(writeLock, wait) {
                    return LockedFile(disk: disk, lock: writeLock, base: base)
                }
            } catch {
                writeLock.end()
                throw error
            }
            writeLock.end()
            try wait.pause(for: names.path, system)
        }
    }

    /// Removes the last good copy of a file that UserDefaults has removed because the domain became empty. The copy
    /// would bring its entries back.
    private func forgetCopyOfFileRemovedByMirror(_ base: FileState, under writeLock: WriteLock) throws {
        do throws(StorageFailure) {
            guard base.status != nil,
                try system.status(ofPath: names.file, in: writeLock.folder, followsLinks: false) == nil
            else { return }
            try look.copies.removeLastGoodCopy(under: writeLock)
            cache.noteRemoval()
        } catch {
            throw FileError.notStored(error.at(names.path))
        }
    }

    // MARK: - Under the lock

    /// The state that a transaction starts from; nil if another program may be saving the file.
    private func current(_ cached: FileState?, under writeLock: WriteLock, after wait: SaveWait) throws -> FileState? {
        guard let state = try newest(cached, under: writeLock) else { return nil }
        return cache.state.withLock { $0.presence.isQuiet(waitingSince: wait.began, system) } ? state : nil
    }

    private func newest(_ cached: FileState?, under writeLock: WriteLock) throws -> FileState? {
        // The locked folder may differ from the folder of the cached file.
        if let cached, let status = cached.status,
            let there = try? system.status(ofPath: names.file, in: writeLock.folder, followsLinks: false),
            there == status, let current = cached.validated(at: there)
        {
            return current
        }
        guard case .state(let state) = try look(under: writeLock) else { return nil }
        return state
    }

    // MARK: - The lock

    /// Locks the file for this process. Creates nothing, also no lock file, before it is known that the path leads to a
    /// file that may be written, and no folder before it is known that none is coming.
    private func lock() throws -> WriteLock {
        do {
            try names.checkRoomForWriting()
        } catch {
            throw FileError.notStored(error)
        }
        // Each round but the first one finds that the folder was removed or moved meanwhile.
        for round in Attempts.all {
            if let writeLock = try lock(creating: .nothing) { return writeLock }
            // A large file is not read again. An open file does not show that its folder was moved.
            let known =
                round > 0 ? nil : cache.newest.flatMap { $0.status == nil || $0.fault != nil ? nil : validated($0) }
            let state = try known ?? look.untilSaved()
            try look.recovery.requireWritable(state)
            try refuseFileOfAnotherUser(state)
            let creating: WriteLock.Creation = state.status == nil ? .folder : .lockFile
            if let writeLock = try lock(creating: creating) { return writeLock }
        }
        throw FileError.notStored(StorageFailure(path: names.path, reason: "its folder is removed repeatedly"))
    }

    private func validated(_ state: FileState) -> FileState? { cache.validated(state, atPath: names.path) }

    /// Called before a lock file is made, because a lock file of this user would keep out the owner of the file.
    private func refuseFileOfAnotherUser(_ state: FileState) throws {
        guard let owner = state.status?.owner, geteuid() != 0, owner != geteuid() else { return }
        // Files of this process may be shown as another user's, too: the lock file will show it.
        if !state.volume.tellsFilesApart { return }
        throw FileError.notStored(StorageFailure(path: names.path, reason: Permissions.otherOwner))
    }

    private func lock(creating: WriteLock.Creation) throws -> WriteLock? {
        do {
            let folder = creating == .nothing ? knownFolder() : nil
            let known = folder == nil ? cache.newest : nil
            let rules = cache.rules
            let lock = try WriteLock(
                names, creating: creating, in: folder, on: known?.status == nil ? nil : known?.volume,
                protection: rules.protection,
                isOfOthers: rules.mirror == nil && ToolHook.current?.ownFiles?.contains(names.path) == false,
                system: system)
            if let lock, lock.volume.keepsFiles { cache.state.withLock { $0.folder = lock.heldFolder } }
            return lock
        } catch {
            switch error.code {
            case ELOOP: throw FileError.pathChanged
            case ETIMEDOUT: throw FileError.busy(error)
            default: throw FileError.notStored(error)
            }
        }
    }

    /// The folder of the last write, if the path still leads to it. This takes one call instead of an `open` for each
    /// part of the path. A link that leads to this folder does no harm.
    private func knownFolder() -> OpenFile? {
        guard let folder = cache.state.withLock({ $0.folder }), folder.isIntact,
            let there = try? system.status(ofPath: names.folder, followsLinks: true), folder.wasOpened(as: there)
        else { return nil }
        return folder
    }
}
