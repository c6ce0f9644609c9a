import Foundation
import PrefsPropertyLists

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
    func current(_ cached: Snapshot?, under writeLock: WriteLock) throws -> Snapshot? {
        // The locked folder may differ from the folder of the cached file.
        if let cached, let status = cached.status,
            let there = try? system.status(ofPath: names.file, in: writeLock.folder, followsLinks: false),
            there == status, cached.file?.isIntact == true, let current = cached.validated(at: there)
        {
            return current
        }
        guard case .state(let snapshot) = try look(under: writeLock) else { return nil }
        return snapshot
    }

    /// Locks the file for this process. Creates nothing, also no lock file, before it is known that the path leads to a
    /// file that may be written.
    func lockForWriting() throws -> WriteLock {
        try names.checkRoomForWriting()
        if let writeLock = try lock(creates: false) { return writeLock }
        try refuseFileOfAnotherUser(writable(loadForWriting()))
        if let writeLock = try lock(creates: true) { return writeLock }
        throw FileError.notStored(StorageFailure(path: names.path, reason: "its folder is removed repeatedly"))
    }

    /// Called before a lock file is made, because a lock file of this user would keep out the owner of the file.
    private func refuseFileOfAnotherUser(_ snapshot: Snapshot) throws {
        guard let owner = snapshot.status?.owner, geteuid() != 0, owner != geteuid() else { return }
        // A server may show all files as another user's, also those of this process: the lock file will show it.
        if snapshot.fileSystem.isOnServer { return }
        throw FileError.notStored(StorageFailure(path: names.path, reason: Permissions.otherOwner))
    }

    private func lock(creates: Bool) throws -> WriteLock? {
        do {
            let folder = creates ? nil : knownFolder()
            let file = folder == nil ? cached : nil
            let lock = try WriteLock(
                names, creates: creates, in: folder, on: file?.file == nil ? nil : file?.fileSystem,
                protection: rules.protection,
                isOfOthers: currentMirror == nil && ToolHook.current?.ownFiles?.contains(names.path) == false,
                system: system)
            if let lock, !lock.isOnServer { keepFolder(lock.heldFolder) }
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
    func writable(_ snapshot: Snapshot) throws -> Snapshot {
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
