import Foundation
import PrefsPropertyLists

/// The steps of a transaction, which the queue calls.
extension PropertyListFile {
    /// The state that is being changed, and the lock on the file.
    struct Session: TransactionSession {
        let file: PropertyListFile
        let lock: WriteLock
        let base: FileState

        var lockPath: String? { file.names.path(of: file.names.lock) }
    }

    func begin() throws -> any TransactionSession {
        let (writeLock, base) = try lockedState { writeLock, wait in
            let (cached, mirror, isFirst) = stateForTransaction()
            // Removes the temporary file of a killed writer, because the next commit may never come.
            if isFirst { try? system.remove(names.temporary, in: writeLock.folder) }
            guard let snapshot = try current(cached, under: writeLock, after: wait).map(writable) else { return nil }
            guard snapshot.fault == nil, let mirror else { return snapshot }
            callMirror(mirror.willChange)
            try forgetCopyOfFileRemovedByMirror(snapshot, under: writeLock)
            guard let newest = try current(snapshot, under: writeLock, after: wait).map(writable) else { return nil }
            mirror.note(newest.content)
            return newest
        }
        return Session(file: self, lock: writeLock, base: base)
    }

    /// Locks the file, and reads the state that a write starts from. Waits without the lock while another program saves
    /// the file, because that program may use this package.
    ///
    /// - Parameter state: returns nil if another program may be saving the file.
    func lockedState(_ state: (WriteLock, SaveWait) throws -> FileState?) throws -> (WriteLock, FileState) {
        var wait = SaveWait()
        while true {
            let writeLock = try lockForWriting()
            do {
                if let base = try state(writeLock, wait) { return (writeLock, base) }
            } catch {
                writeLock.end()
                throw error
            }
            writeLock.end()
            try wait.pause(for: names.path, system)
        }
    }
}

extension PropertyListFile {
    /// Removes the last good copy of a file that UserDefaults has removed because the domain became empty. The copy
    /// would bring its entries back.
    private func forgetCopyOfFileRemovedByMirror(_ base: FileState, under writeLock: WriteLock) throws {
        do throws(StorageFailure) {
            guard base.status != nil,
                try system.status(ofPath: names.file, in: writeLock.folder, followsLinks: false) == nil
            else { return }
            try copies.removeLastGoodCopy(under: writeLock)
            noteRemoval()
        } catch {
            throw FileError.notStored(error.at(names.path))
        }
    }
}

extension PropertyListFile.Session {
    var content: Content? { base.content }
    var form: ValueForm { file.form(of: base) }

    func commit(_ content: Content, durability: CommitDurability) throws {
        try commit(content, keepingFormerBecause: nil, durability: durability)
    }

    /// Stores the content, if it differs from the content of the file.
    func commit(_ content: Content, keepingFormerBecause reason: String?, durability: CommitDurability) throws {
        try file.refuseLost(lock)
        let content = PropertyListCoder.storable(content, as: file.format(replacing: base))
        if base.fault == nil, (base.content ?? [:]).isEqual(to: content) {
            // XML has rounded the difference away, or a later member of the batch has reverted it.
            return isDurable(durability) ? () : try ensureDurable()
        }
        if file.topLevel == .document, content.isEmpty {
            return try file.removeFile(base, keptBecause: reason, durability: durability, under: lock)
        }
        try file.store(content, replacing: base, keptBecause: reason, durability: durability, under: lock)
    }

    func vet(_ content: Content, after former: Content?, beside size: Int) throws -> Int {
        let changed = content.filter { former?[$0.key] != $0.value }
        let ownSize = try file.coder.encodedSize(of: changed, replacing: base)
        // The sum is above the size of the file, because a change replaces something.
        if (base.status?.size ?? 0) + size + ownSize > PropertyListLimits.fileBytes {
            _ = try file.coder.encodedSize(of: content, replacing: base)
        }
        return ownSize
    }

    func ensureDurable() throws {
        try file.refuseLost(lock)
        if base.fault == nil, try file.flushInPlace(base) { return }
        if let content = base.content {
            try file.store(content, replacing: base, durability: .powerCut, under: lock)
        } else if base.fault != nil {
            try file.removeFile(base, durability: .powerCut, under: lock)
        }
    }

    func end() {
        lock.end()
    }

    /// Whether the state that the session started from has the required durability.
    func isDurable(_ durability: CommitDurability) -> Bool {
        file.durability(of: base) >= durability
    }

    func stored(_ content: Content?) -> Content? {
        content.map { PropertyListCoder.storable($0, as: file.format(replacing: base)) }
    }
}

// MARK: - Under the lock

/// The file under the lock that keeps other processes out.
extension PropertyListFile {
    /// Rejects an update without a lock. An update that began before a fork belongs to the parent, and the child would
    /// commit it a second time without the lock. If the program has closed all descriptors during the update, the lock
    /// is lost, too.
    func refuseLost(_ writeLock: WriteLock) throws {
        let reason: String
        if !writeLock.isOfThisProcess {
            reason = "is being updated by the parent of this forked process"
        } else if !writeLock.isIntact {
            reason = "the program has closed the descriptor of its lock during the update"
        } else {
            return
        }
        throw FileError.notStored(StorageFailure(path: names.path, reason: reason))
    }

    /// The state that a transaction starts from; nil if another program may be saving the file.
    func current(_ cached: FileState?, under writeLock: WriteLock, after wait: SaveWait) throws -> FileState? {
        guard let snapshot = try newest(cached, under: writeLock) else { return nil }
        return state.withLock { $0.presence.isQuiet(waitingSince: wait.began, system) } ? snapshot : nil
    }

    private func newest(_ cached: FileState?, under writeLock: WriteLock) throws -> FileState? {
        // The locked folder may differ from the folder of the cached file.
        if let cached, let status = cached.status,
            let there = try? system.status(ofPath: names.file, in: writeLock.folder, followsLinks: false),
            there == status, cached.file?.isIntact == true, let current = cached.validated(at: there)
        {
            return current
        }
        guard case .state(let snapshot) = try loadState(under: writeLock) else { return nil }
        return snapshot
    }

    /// Locks the file for this process. Creates nothing, also no lock file, before it is known that the path leads to a
    /// file that may be written, and no folder before it is known that none is coming.
    func lockForWriting() throws -> WriteLock {
        do {
            try names.checkRoomForWriting()
        } catch {
            throw FileError.notStored(error)
        }
        // Each round but the first one finds that the folder was removed or moved meanwhile.
        for round in Attempts.all {
            if let writeLock = try lock(creating: .nothing) { return writeLock }
            // A large file is not read again. An open file does not show that its folder was moved.
            let known = round > 0 ? nil : cached.flatMap { $0.status == nil || $0.fault != nil ? nil : validated($0) }
            let snapshot = try known ?? loadForWriting()
            try refuseFileOfAnotherUser(writable(snapshot))
            let creating: WriteLock.Creation = snapshot.status == nil ? .folder : .lockFile
            if let writeLock = try lock(creating: creating) { return writeLock }
        }
        throw FileError.notStored(StorageFailure(path: names.path, reason: "its folder is removed repeatedly"))
    }

    /// Called before a lock file is made, because a lock file of this user would keep out the owner of the file.
    private func refuseFileOfAnotherUser(_ snapshot: FileState) throws {
        guard let owner = snapshot.status?.owner, geteuid() != 0, owner != geteuid() else { return }
        // Files of this process may be shown as another user's, too: the lock file will show it.
        if !snapshot.volume.tellsFilesApart { return }
        throw FileError.notStored(StorageFailure(path: names.path, reason: Permissions.otherOwner))
    }

    private func lock(creating: WriteLock.Creation) throws -> WriteLock? {
        do {
            let folder = creating == .nothing ? knownFolder() : nil
            let file = folder == nil ? cached : nil
            let lock = try WriteLock(
                names, creating: creating, in: folder, on: file?.file == nil ? nil : file?.volume,
                protection: rules.protection,
                isOfOthers: currentMirror == nil && ToolHook.current?.ownFiles?.contains(names.path) == false,
                system: system)
            if let lock, lock.volume.keepsFiles { keepFolder(lock.heldFolder) }
            return lock
        } catch {
            switch error.code {
            case ELOOP: throw FileError.pathChanged
            case ETIMEDOUT: throw FileError.busy(error)
            default: throw FileError.notStored(error)
            }
        }
    }

    /// - Throws: the error of a malformed file that is not replaced.
    func writable(_ snapshot: FileState) throws -> FileState {
        if let fault = snapshot.fault, !rules.replaces(fault.kind) { throw fault.error }
        return snapshot
    }

    /// The folder of the last write, if the path still leads to it. This takes one call instead of an `open` for each
    /// part of the path. A link that leads to this folder does no harm.
    func knownFolder() -> OpenFile? {
        guard let folder = state.withLock({ $0.folder }), folder.isIntact,
            let there = try? system.status(ofPath: names.folder, followsLinks: true), folder.wasOpened(as: there)
        else { return nil }
        return folder
    }

    func keepFolder(_ folder: OpenFile) {
        state.withLock { $0.folder = folder }
    }
}
