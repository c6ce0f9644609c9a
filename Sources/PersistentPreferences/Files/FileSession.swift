import Foundation

/// The folder of a file, open, and its sidecar, locked: while one of these is held, no cooperating process writes the
/// file. Names are looked up in the open folder, wherever that is moved meanwhile.
struct FileSession {
    let folder: SystemCalls.Descriptor
    private let sidecar: SystemCalls.Descriptor
    private let system: SystemCalls
    private let process = getpid()

    /// Waits for the lock. nil if the folder or the lock file is missing and may not be created.
    init?(_ names: FileNames, creates: Bool, system: SystemCalls) throws(StorageFailure) {
        self.system = system
        do {
            folder = try creates ? Self.openOrMakeFolder(names.folder, system) : Self.openFolder(names.folder, system)
        } catch  where !creates && error.code == ENOENT {
            return nil
        }
        do {
            guard let sidecar = try Self.lockSidecar(of: names, in: folder, creates: creates, system) else {
                system.close(folder)
                return nil
            }
            self.sidecar = sidecar
        } catch {
            system.close(folder)
            throw error
        }
    }

    /// False in a child that was forked while this was held: the lock is its parent's, and so is what it guards.
    var isOfThisProcess: Bool { process == getpid() }

    func end() {
        // Unlocked before it is closed: a forked child may hold the descriptor too. That child shares the lock, and would
        // take it from its parent.
        if isOfThisProcess { system.unlock(sidecar) }
        system.close(sidecar)
        system.close(folder)
    }

    // MARK: - Folder

    static func openFolder(
        _ path: String, _ system: SystemCalls
    ) throws(StorageFailure) -> SystemCalls.Descriptor {
        try system.openRetrying(path, in: AT_FDCWD, O_RDONLY | O_DIRECTORY)
    }

    private static func openOrMakeFolder(
        _ path: String, _ system: SystemCalls
    ) throws(StorageFailure) -> SystemCalls.Descriptor {
        do {
            return try openFolder(path, system)
        } catch  where error.code == ENOENT {
            try makeFolder(path, system)
            return try openFolder(path, system)
        }
    }

    /// Makes a folder and those above it, 0700. Its own entry is flushed with the first commit in it.
    private static func makeFolder(_ path: String, _ system: SystemCalls) throws(StorageFailure) {
        let parent = FileNames(path: path).folder
        if parent != path, try system.status(ofPath: parent, followsLinks: true) == nil {
            try makeFolder(parent, system)
        }
        // Before anything is in the folder above: who made that one may have been killed before its entry was flushed, and
        // nobody flushes it for a folder that is there already.
        try flushFolder(FileNames(path: parent).folder, system)
        try makeOneFolder(path, system)
        if geteuid() == 0 { try giveToOwnerOfFolder(path, in: parent, system) }
    }

    /// Makes what was created in a folder outlast a power cut.
    static func flushFolder(_ path: String, _ system: SystemCalls) throws(StorageFailure) {
        let folder: OpenFile
        do {
            folder = OpenFile(try openFolder(path, system), system)
        } catch  where error.code == EACCES || error.code == EPERM {
            // One that may be searched and not read, or lies outside of a sandbox, cannot be flushed.
            return
        }
        do {
            try system.synchronizeFolder(folder.descriptor)
        } catch {
            throw error.at(path)
        }
    }

    /// That another process was quicker is no failure.
    private static func makeOneFolder(_ path: String, _ system: SystemCalls) throws(StorageFailure) {
        do {
            try system.makeFolder(path, mode: 0o700)
        } catch  where error.code == EEXIST {
            return
        }
        // A umask may take the owner's own access away.
        if let made = try system.status(ofPath: path, followsLinks: false), made.kind == .folder,
            made.permissions & 0o700 != 0o700
        {
            try system.setPermissions(mode_t(made.permissions | 0o700), ofPath: path)
        }
    }

    // MARK: - Owners

    /// What root makes in a user's folder is that user's: `sudo` must not lock anybody out of their own settings.
    func giveToOwnerOfFolder(_ descriptor: SystemCalls.Descriptor) throws(StorageFailure) {
        try Self.giveToOwner(of: folder, descriptor, system)
    }

    private static func giveToOwnerOfFolder(
        _ path: String, in parent: String, _ system: SystemCalls
    ) throws(StorageFailure) {
        let above = OpenFile(try openFolder(parent, system), system)
        let name = FileNames(path: path).file
        do {
            let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW
            let made = OpenFile(try system.openRetrying(name, in: above.descriptor, flags), system)
            try giveToOwner(of: above.descriptor, made.descriptor, system)
        } catch {
            throw error.at(path)
        }
    }

    private static func giveToOwner(
        of folder: SystemCalls.Descriptor, _ descriptor: SystemCalls.Descriptor, _ system: SystemCalls
    ) throws(StorageFailure) {
        guard geteuid() == 0 else { return }
        let (parent, own) = (try system.status(of: folder), try system.status(of: descriptor))
        // In a folder that everybody may write to (/tmp) a file belongs to who makes it.
        guard own.owner == 0, parent.owner != 0, parent.permissions & 0o002 == 0 else { return }
        try system.setOwner(parent.owner, group: parent.group, of: descriptor)
    }

    // MARK: - Sidecar

    private static func lockSidecar(
        of names: FileNames, in folder: SystemCalls.Descriptor, creates: Bool, _ system: SystemCalls
    ) throws(StorageFailure) -> SystemCalls.Descriptor? {
        let path = names.path(of: names.lock)
        // Somebody may delete the sidecar between its opening and its locking; a lock on a deleted file is none.
        for _ in 0..<100 {
            guard let descriptor = try openSidecar(of: names, in: folder, creates: creates, system) else {
                if creates { continue }
                return nil
            }
            do throws(StorageFailure) {
                try system.lockRetrying(descriptor)
                let held = try system.status(of: descriptor)
                if let there = try system.status(ofPath: names.lock, in: folder, followsLinks: false),
                    there.isSameFile(as: held)
                {
                    return descriptor
                }
                system.close(descriptor)
            } catch {
                system.close(descriptor)
                throw error.at(path)
            }
        }
        throw StorageFailure(path: path, reason: "is deleted over and over")
    }

    /// Opens the sidecar, or creates it; nil if it is missing and may not be created, or another process was quicker at that.
    private static func openSidecar(
        of names: FileNames, in folder: SystemCalls.Descriptor, creates: Bool, _ system: SystemCalls
    ) throws(StorageFailure) -> SystemCalls.Descriptor? {
        do {
            return try system.openRetrying(names.lock, in: folder, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        } catch  where error.code == ENOENT {
            guard creates else { return nil }
            do {
                let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW
                let descriptor = try system.openRetrying(names.lock, in: folder, flags, mode: 0o600)
                shareSidecar(descriptor, of: names, in: folder, system)
                return descriptor
            } catch  where error.code == EEXIST {
                return nil
            } catch {
                throw error.at(names.path(of: names.lock))
            }
        } catch {
            throw error.at(names.path(of: names.lock))
        }
    }

    /// Whoever may write the file may lock it: its owner, though root made the sidecar, and its group.
    private static func shareSidecar(
        _ sidecar: SystemCalls.Descriptor, of names: FileNames, in folder: SystemCalls.Descriptor,
        _ system: SystemCalls
    ) {
        // Where this is refused, the sidecar serves its maker all the same, and others learn that they may not open it.
        guard let own = try? system.status(of: sidecar) else { return }
        var permissions: UInt32 = 0o600
        if let file = try? system.status(ofPath: names.file, in: folder, followsLinks: false), case .file = file.kind {
            if own.owner != file.owner || own.group != file.group {
                try? system.setOwner(file.owner, group: file.group, of: sidecar)
            }
            permissions |= (file.permissions & 0o022) << 1
        } else {
            try? giveToOwner(of: folder, sidecar, system)
        }
        // Whatever the umask.
        if own.permissions != permissions { try? system.setPermissions(mode_t(permissions), of: sidecar) }
    }
}
