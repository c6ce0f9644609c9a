import Foundation
import PrefsPropertyLists

/// The lock that a writer of a file holds: the open folder of the file, and the locked lock file in it.
///
/// While a process holds the lock, no cooperating process writes the file. All names are looked up in the open folder,
/// so a folder that is moved or exchanged meanwhile does not lead the writer elsewhere.
package struct WriteLock {
    let heldFolder: OpenFile
    /// The volume of the folder; `local` if the folder was known, because that of a server never is.
    let volume: Volume
    private let lockFile: OpenFile
    private let lockName: String
    private let locked: FileStatus
    let system: SystemCalls
    private let process = ProcessMark()
    /// The protection class of new files. nil keeps the class of a file that is replaced, and leaves the class of a new
    /// file to the system.
    let protection: FileProtection?
    /// Whether this update leaves no last good copy and, where its removal is noticed, no lock file.
    let isTransient: Bool

    var folder: SystemCalls.Descriptor { heldFolder.descriptor }

    /// What may be created for a lock.
    enum Creation {
        case nothing, lockFile
        /// The folder of the file, those above it, and the lock file.
        case folder
    }

    /// Opens the folder and the lock file, and waits for the lock. Returns nil if one of them is missing and may not be
    /// created.
    ///
    /// - Parameters:
    ///   - known: the open folder, if the caller has it and knows that the path still leads there.
    ///   - volume: the volume of the folder, if the caller knows it.
    ///   - isOfOthers: whether the file belongs to another program: see `ToolHook.ownFiles`.
    /// - Throws: an error with the code ELOOP if a part of the folder's path has become a link.
    init?(
        _ names: FileNames, creating: Creation, in known: OpenFile? = nil, on volume: Volume? = nil,
        protection: FileProtection? = nil, isOfOthers: Bool = false, system: SystemCalls
    ) throws(StorageFailure) {
        var folder: OpenFile
        do throws(StorageFailure) {
            folder =
                if let known {
                    known
                } else {
                    .kept(
                        try creating == .folder
                            ? Folders.openOrMake(names.folder, system) : system.openFolder(names.folder),
                        system)
                }
        } catch {
            if creating != .folder, error.code == ENOENT { return nil }
            throw error.at(names.folder)
        }
        let on = known == nil ? volume ?? Volume(of: folder.descriptor, system) : .local
        self.volume = on
        guard
            let (file, status) = try Self.lockFile(
                of: names, in: folder.descriptor, on: on, creates: creating != .nothing, protection: protection, system)
        else { return nil }
        (lockFile, locked) = (file, status)
        do throws(StorageFailure) {
            folder = try on.settle(folder, names, system)
        } catch {
            lockFile.end(unlocks: true)
            throw error.at(names.folder)
        }
        heldFolder = folder
        do throws(StorageFailure) {
            // Looked for under the lock, while no other writer can make or remove the copy.
            let copy =
                isOfOthers ? try system.status(ofPath: names.lastGood, in: folder.descriptor, followsLinks: false) : nil
            isTransient = isOfOthers && copy == nil
        } catch {
            lockFile.end(unlocks: true)
            throw error.at(names.path(of: names.lastGood))
        }
        lockName = names.lock
        self.protection = protection
        self.system = system
    }

    /// False in a child that was forked while its parent held the lock. The lock and the update belong to the parent.
    var isOfThisProcess: Bool { process.isOfThisProcess }

    /// False if the program has closed the descriptor of the lock file. The lock is lost, and others may hold it.
    var isIntact: Bool { lockFile.isIntact }

    /// False if the lock file was deleted or replaced. Others may then hold a lock on the new one. Where numbers change by
    /// themselves, a replacement is not noticed.
    func isLockFileInPlace() throws(StorageFailure) -> Bool {
        let there = try system.status(ofPath: lockName, in: folder, followsLinks: false)
        return there.map { volume.mayBe($0, locked) } ?? false
    }

    /// The file of a state, for one call of the engine: the one that is open, if the descriptor is still its own, because the
    /// program's code has run since and may have closed it and used its number for another file. Otherwise the file that
    /// has the name now.
    func file(of state: FileState, as name: String) throws(StorageFailure) -> OpenFile {
        if let file = state.file, file.isIntact { return file }
        guard let (file, status) = try volume.openLocked(name, in: folder, .call, system) else {
            throw StorageFailure(path: "", reason: "was removed by another program during the update")
        }
        guard state.status.map({ volume.mayBe(status, $0) }) ?? true else {
            throw StorageFailure(path: "", reason: "was replaced by another program during the update")
        }
        return file
    }

    /// Ends without a question whether the lock is intact: the caller has just asked.
    func willEnd() { lockFile.willEnd() }

    func end() {
        // Removed before the lock is released: a process that waits for the lock finds the file gone, and starts again. It
        // stays where that is not noticed.
        if isTransient, volume.tellsFilesApart, isOfThisProcess, (try? isLockFileInPlace()) == true {
            try? system.remove(lockName, in: folder)
        }
        lockFile.end(unlocks: isOfThisProcess)
    }

    // MARK: - Lock file

    private static func lockFile(
        of names: FileNames, in folder: SystemCalls.Descriptor, on volume: Volume, creates: Bool,
        protection: FileProtection?, _ system: SystemCalls
    ) throws(StorageFailure) -> (OpenFile, FileStatus)? {
        do throws(StorageFailure) {
            // Between the opening and the locking, another process may delete the lock file. A lock on a deleted file
            // keeps nobody out, so the loop opens the new one.
            for _ in 0..<1_000 {
                guard
                    let (file, found) = try openLockFile(
                        of: names, in: folder, creates: creates, protection: protection, system)
                else {
                    if creates { continue }
                    return nil
                }
                // May fail if the lock file belongs to another user. That user is trusted: `refuseOtherOwner` has checked.
                if let found, found.permissions & 0o077 != 0 { try? system.setPermissions(0o600, of: file.descriptor) }
                // Taken once: on SMB, a second lock on the same descriptor waits for the first one.
                if let wait = LockWait.current {
                    try wait.lock(file.descriptor, at: names.path(of: names.lock), system)
                } else {
                    do throws(StorageFailure) {
                        try system.lock(file.descriptor, waits: false)
                    } catch  where LockWait.isHeld(error) || error.code == EINTR {
                        try OtherCopies.refuseWait(for: names.path(of: names.lock))
                        try system.lockRetrying(file.descriptor)
                    }
                }
                let held = if let found { found } else { try system.status(of: file.descriptor) }
                if let there = try system.status(ofPath: names.lock, in: folder, followsLinks: false),
                    volume.mayBe(there, held)
                {
                    return (file, held)
                }
            }
            throw StorageFailure(path: "", reason: "is deleted repeatedly")
        } catch {
            // A failure with an absolute path is about the preferences file; any other is about the lock file.
            throw error.path.utf8.first == UInt8(ascii: "/") ? error : error.at(names.path(of: names.lock))
        }
    }

    /// Opens the lock file, or creates it if it is missing. An empty link of the caller counts as missing.
    ///
    /// - Returns: the open file, and its status if it existed before. nil if it is missing and may not be created, or
    ///   if another process created it first.
    package static func openLockFile(
        of names: FileNames, in folder: SystemCalls.Descriptor, creates: Bool, protection: FileProtection? = nil,
        _ system: SystemCalls
    ) throws(StorageFailure) -> (OpenFile, FileStatus?)? {
        do throws(StorageFailure) {
            if let (file, status) = try openExisting(names.lock, in: folder, system) {
                try refuseOtherOwner(status, names, in: folder, system)
                try refuseOpen(status)
                if let protection, system.protection(of: file.descriptor) != protection.number {
                    try system.setProtection(protection.number, of: file.descriptor)
                }
                return (file, status)
            }
        } catch  where error.code == ELOOP {
            if creates {
                try removeEmptyLink(names.lock, in: folder, system)
            } else {
                _ = try isEmptyLink(names.lock, in: folder, system)
            }
        }
        guard creates else { return nil }
        do throws(StorageFailure) {
            let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW
            let file = OpenFile.kept(try system.openRetrying(names.lock, in: folder, flags, mode: 0o600), system)
            do throws(StorageFailure) {
                if let protection { try system.setProtection(protection.number, of: file.descriptor) }
                try giveToOwnerOfFile(file.descriptor, names, in: folder, system)
            } catch {
                // A process that has opened the new file meanwhile finds it gone, and starts again.
                try? system.remove(names.lock, in: folder)
                throw error
            }
            return (file, nil)
        } catch {
            if error.code == EEXIST { return nil }
            throw error
        }
    }

    /// Opens the lock file for writing, if the caller may write it: NFS and file systems in user space reject an
    /// exclusive lock on a read-only descriptor (EBADF). Otherwise opens it read-only.
    private static func openExisting(
        _ name: String, in folder: SystemCalls.Descriptor, _ system: SystemCalls
    ) throws(StorageFailure) -> (file: OpenFile, status: FileStatus)? {
        do {
            return try system.openSidecar(name, in: folder, O_RDWR, .kept)
        } catch  where [EACCES, EPERM, EROFS].contains(error.code) {
            return try system.openSidecar(name, in: folder, O_RDONLY, .kept)
        }
    }

    /// Removes the link that has the name of the lock file, if it is an empty one. Its target stays.
    ///
    /// Of two processes that do so at once, the second must not remove the lock file that the first has made in the
    /// meantime. So a process looks again, and removes the link, while it holds a lock on the folder.
    private static func removeEmptyLink(
        _ name: String, in folder: SystemCalls.Descriptor, _ system: SystemCalls
    ) throws(StorageFailure) {
        // A descriptor of its own, because threads and forked children share the lock of one that is kept.
        let own = OpenFile(try system.openFolder(".", in: folder, O_RDONLY), system)
        for _ in Attempts.all {
            guard try isEmptyLink(name, in: folder, system) else { return }
            do throws(StorageFailure) {
                try system.lock(own.descriptor, waits: false)
            } catch  where error.code == EWOULDBLOCK {
                system.pause()
                continue
            }
            defer { own.end(unlocks: true) }
            guard try isEmptyLink(name, in: folder, system) else { return }
            do throws(StorageFailure) {
                return try system.remove(name, in: folder)
            } catch  where error.code == ENOENT {
                return
            }
        }
        throw link
    }

    /// Whether the lock file's name is a link of the caller to nothing, or to an empty file of the caller. Programs that
    /// manage dotfiles, such as `stow`, make such links to lock files. No process locks a file through a link.
    ///
    /// - Returns: false if the name is not a link any more.
    /// - Throws: an error for any other link, and where the link may be one that another machine has replaced.
    private static func isEmptyLink(
        _ name: String, in folder: SystemCalls.Descriptor, _ system: SystemCalls
    ) throws(StorageFailure) -> Bool {
        guard let there = try system.status(ofPath: name, in: folder, followsLinks: false), there.kind == .link else {
            return false
        }
        guard there.owner == geteuid(), Volume(of: folder, system).tellsFilesApart else { throw link }
        let target: FileStatus?
        do {
            target = try system.status(ofPath: name, in: folder, followsLinks: true)
        } catch {
            // For example a link to itself.
            throw link
        }
        guard let target else { return true }
        guard target.kind == .file, target.size == 0, target.owner == geteuid() else { throw link }
        return true
    }

    private static let link = StorageFailure(path: "", reason: "is a link; expected a regular file; remove the link")

    /// Rejects a lock file of a user who is not trusted, and who could hold the lock for ever.
    ///
    /// Trusted are the caller, root, and the owner of the preferences file. If the preferences file is missing, the
    /// owner of the folder takes its owner's place.
    private static func refuseOtherOwner(
        _ lock: FileStatus, _ names: FileNames, in folder: SystemCalls.Descriptor, _ system: SystemCalls
    ) throws(StorageFailure) {
        if lock.owner == geteuid() || lock.owner == 0 { return }
        let file = try system.status(ofPath: names.file, in: folder, followsLinks: false)
        if let file, lock.owner == file.owner { return }
        if file == nil, lock.owner == (try system.status(of: folder).owner) { return }
        let expected = "the caller, root or the owner of the preferences file"
        throw StorageFailure(path: "", reason: "belongs to user \(lock.owner); expected \(expected)")
    }

    /// Rejects a lock file that other users can open, if this package cannot have made it: it has contents or a second
    /// name. Other users could hold its lock for ever.
    ///
    /// An empty one with one name is accepted, because earlier versions made lock files for the group. The next update
    /// of its owner sets it to 0600.
    private static func refuseOpen(_ lock: FileStatus) throws(StorageFailure) {
        guard lock.permissions & 0o077 != 0, lock.size > 0 || lock.links > 1 else { return }
        throw StorageFailure(
            path: "",
            reason: "is open to other users and has contents or a second name; expected an empty file with one name")
    }

    /// Gives a new lock file to the owner of the preferences file. Throws if that is impossible: the owner could not
    /// open a lock file of root, and could never write again.
    private static func giveToOwnerOfFile(
        _ lock: SystemCalls.Descriptor, _ names: FileNames, in folder: SystemCalls.Descriptor, _ system: SystemCalls
    ) throws(StorageFailure) {
        let own = try system.status(of: lock)
        if let file = try system.status(ofPath: names.file, in: folder, followsLinks: false), file.kind == .file {
            if own.owner != file.owner || own.group != file.group {
                do {
                    try system.setOwner(file.owner, group: file.group, of: lock)
                } catch {
                    // A wrong group does no harm, because the mode gives the group no access.
                    if own.owner != file.owner {
                        guard error.code == EPERM || Permissions.hasNoNumber(error) else { throw error }
                        throw StorageFailure(path: names.path, reason: Permissions.otherOwner)
                    }
                }
            }
        } else {
            try Folders.giveToOwner(of: folder, lock, system)
        }
        // The next two calls may fail: the owner can use the lock file without them.
        try? system.copyAttributes(from: nil, to: lock)
        // The umask may have taken permissions of the owner away.
        if own.permissions != 0o600 { try? system.setPermissions(0o600, of: lock) }
    }
}
