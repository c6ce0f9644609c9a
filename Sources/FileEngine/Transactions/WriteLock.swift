import Foundation
import PrefsPropertyLists

/// The open folder of a file, and its locked lock file. While a process holds one, no cooperating process writes the
/// file. Names are looked up in the open folder, even if the folder is moved.
package struct WriteLock {
    let heldFolder: OpenFile
    private let lockFile: OpenFile
    private let lockName: String
    private let locked: FileStatus
    let system: SystemCalls
    private let process = LockRegistry.forks
    /// The protection class of new files; nil to keep the class of the file that is replaced, or to let the system
    /// choose.
    let protection: FileProtection?
    /// Whether this update leaves no lock file and no last good copy.
    let isTransient: Bool

    /// The physical paths of the program's own files, in a tool that also changes those of others; nil if all files are
    /// its own. An update of another file, which is not that of a domain and has no last good copy, removes the lock
    /// file in the end, makes no copy, and gives a new file the permissions of the umask.
    @TaskLocal package static var ownFiles: Set<String>?

    var folder: SystemCalls.Descriptor { heldFolder.descriptor }

    /// Waits for the lock. Returns nil if the folder or the lock file is missing and may not be created.
    ///
    /// - Parameters:
    ///   - known: the folder, open, if the caller knows that the path leads to it.
    ///   - isOfOthers: whether the lock file is removed in the end if there is no last good copy.
    /// - Throws: ELOOP if a part of the folder's path has become a link.
    init?(
        _ names: FileNames, creates: Bool, in known: OpenFile? = nil, protection: FileProtection? = nil,
        isOfOthers: Bool = false, system: SystemCalls
    ) throws(StorageFailure) {
        do throws(StorageFailure) {
            if let known {
                heldFolder = known
            } else {
                heldFolder = .kept(
                    try creates ? Self.openOrMakeFolder(names.folder, system) : system.openFolder(names.folder), system)
            }
        } catch {
            if !creates, error.code == ENOENT { return nil }
            throw error.at(names.folder)
        }
        guard
            let (file, status) = try Self.lockFile(
                of: names, in: heldFolder.descriptor, creates: creates, protection: protection, system)
        else { return nil }
        (lockFile, locked) = (file, status)
        // Asked under the lock: another command may have made the lock file.
        let copy =
            isOfOthers ? try system.status(ofPath: names.lastGood, in: heldFolder.descriptor, followsLinks: false) : nil
        isTransient = isOfOthers && copy == nil
        lockName = names.lock
        self.protection = protection
        self.system = system
    }

    /// False in a child that was forked while the lock was held. The lock and the update belong to the parent.
    var isOfThisProcess: Bool { process == LockRegistry.forks }

    /// False if the program has closed the descriptor of the lock file, so that others may hold a lock as well.
    var isIntact: Bool { lockFile.isIntact }

    /// False if the lock file was deleted or replaced, so that others may hold a lock as well.
    func isLockFileInPlace() throws(StorageFailure) -> Bool {
        try system.status(ofPath: lockName, in: folder, followsLinks: false)?.isSameFile(as: locked) ?? false
    }

    func end() {
        // Before the lock is released. A process that waits for it finds that the file was removed, and starts again.
        if isTransient, isOfThisProcess, (try? isLockFileInPlace()) == true { try? system.remove(lockName, in: folder) }
        lockFile.end(unlocks: isOfThisProcess)
    }

    // MARK: - Lock file

    private static func lockFile(
        of names: FileNames, in folder: SystemCalls.Descriptor, creates: Bool, protection: FileProtection?,
        _ system: SystemCalls
    ) throws(StorageFailure) -> (OpenFile, FileStatus)? {
        do throws(StorageFailure) {
            // Another process may delete the lock file after it was opened and before it is locked. Such a lock is
            // worthless.
            for _ in 0..<1_000 {
                guard
                    let (file, found) = try openLockFile(
                        of: names, in: folder, creates: creates, protection: protection, system)
                else {
                    if creates { continue }
                    return nil
                }
                // If this fails, the lock file belongs to a trusted user, who may leave it open to others.
                if let found, found.permissions & 0o077 != 0 { try? system.setPermissions(0o600, of: file.descriptor) }
                try LockWait.current?.lock(file.descriptor, at: names.path(of: names.lock), system)
                try system.lockRetrying(file.descriptor)
                let held = if let found { found } else { try system.status(of: file.descriptor) }
                if let there = try system.status(ofPath: names.lock, in: folder, followsLinks: false),
                    there.isSameFile(as: held)
                {
                    return (file, held)
                }
            }
            throw StorageFailure(path: "", reason: "is deleted repeatedly")
        } catch {
            // A failure that has a path is about the preferences file.
            throw error.path.utf8.first == UInt8(ascii: "/") ? error : error.at(names.path(of: names.lock))
        }
    }

    /// Opens the lock file, or creates it if it is missing.
    ///
    /// - Returns: the open file, and its status if it existed before. nil if it is missing and may not be created, or
    ///   if another process created it first.
    package static func openLockFile(
        of names: FileNames, in folder: SystemCalls.Descriptor, creates: Bool, protection: FileProtection? = nil,
        _ system: SystemCalls
    ) throws(StorageFailure) -> (OpenFile, FileStatus?)? {
        do throws(StorageFailure) {
            if let (file, status) = try openExisting(names.lock, in: folder, system) {
                try refuseForeign(status, names, in: folder, system)
                try refuseOpen(status)
                if let protection, system.protection(of: file.descriptor) != protection.rawValue {
                    try system.setProtection(protection.rawValue, of: file.descriptor)
                }
                return (file, status)
            }
        } catch {
            throw error.code == ELOOP ? StorageFailure(path: "", reason: "is a link; expected a regular file") : error
        }
        guard creates else { return nil }
        do throws(StorageFailure) {
            let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW
            let file = OpenFile.kept(try system.openRetrying(names.lock, in: folder, flags, mode: 0o600), system)
            do throws(StorageFailure) {
                if let protection { try system.setProtection(protection.rawValue, of: file.descriptor) }
                try giveToOwnerOfFile(file.descriptor, names, in: folder, system)
            } catch {
                // A process that has opened the file in the meantime finds that it was removed, and starts again.
                try? system.remove(names.lock, in: folder)
                throw error
            }
            return (file, nil)
        } catch {
            if error.code == EEXIST { return nil }
            throw error
        }
    }

    /// Opens the lock file for writing, because NFS and file systems in user space lock no other descriptor exclusively
    /// (EBADF). Opens it read-only if the caller may not write it.
    private static func openExisting(
        _ name: String, in folder: SystemCalls.Descriptor, _ system: SystemCalls
    ) throws(StorageFailure) -> (file: OpenFile, status: FileStatus)? {
        do {
            return try system.openFile(name, in: folder, O_RDWR, .update)
        } catch  where [EACCES, EPERM, EROFS].contains(error.code) {
            return try system.openFile(name, in: folder, O_RDONLY, .update)
        }
    }

    /// Rejects a lock file of another user, who could hold the lock for ever. Accepts a lock file of the caller, of
    /// root and of the owner of the preferences file. Without a preferences file, also accepts a lock file of the owner
    /// of the folder.
    private static func refuseForeign(
        _ lock: FileStatus, _ names: FileNames, in folder: SystemCalls.Descriptor, _ system: SystemCalls
    ) throws(StorageFailure) {
        if lock.owner == geteuid() || lock.owner == 0 { return }
        let file = try system.status(ofPath: names.file, in: folder, followsLinks: false)
        if let file, lock.owner == file.owner { return }
        if file == nil, lock.owner == (try system.status(of: folder).owner) { return }
        let expected = "the caller, root or the owner of the preferences file"
        throw StorageFailure(path: "", reason: "belongs to user \(lock.owner); expected \(expected)")
    }

    /// Rejects a lock file that other users can open, and could hold for ever, if contents or a second name show that
    /// it was not made by this package. Lock files that earlier versions made for the group are accepted; their owner
    /// sets them to 0600.
    private static func refuseOpen(_ lock: FileStatus) throws(StorageFailure) {
        guard lock.permissions & 0o077 != 0, lock.size > 0 || lock.links > 1 else { return }
        throw StorageFailure(
            path: "",
            reason: "is open to other users and has contents or a second name; expected an empty file with one name")
    }

    /// Gives a new lock file to the owner of the preferences file. Throws if the owner cannot be set, because a lock
    /// file of root would keep that owner out.
    private static func giveToOwnerOfFile(
        _ lock: SystemCalls.Descriptor, _ names: FileNames, in folder: SystemCalls.Descriptor, _ system: SystemCalls
    ) throws(StorageFailure) {
        let own = try system.status(of: lock)
        if let file = try system.status(ofPath: names.file, in: folder, followsLinks: false), file.kind == .file {
            if own.owner != file.owner || own.group != file.group {
                do {
                    try system.setOwner(file.owner, group: file.group, of: lock)
                } catch {
                    // The mode of a lock file gives the group nothing.
                    if own.owner != file.owner {
                        guard [EPERM, EINVAL].contains(error.code) else { throw error }
                        throw StorageFailure(path: names.path, reason: Permissions.otherOwner)
                    }
                }
            }
        } else {
            try giveToOwner(of: folder, lock, system)
        }
        // If a call fails, the owner can still use the lock file.
        try? system.copyAttributes(from: nil, to: lock)
        // Ignores the umask.
        if own.permissions != 0o600 { try? system.setPermissions(0o600, of: lock) }
    }
}
