import Foundation
import PrefsPropertyLists

/// The file of a commit. It is made under another name and then replaces the old file, if that is still the file that
/// the commit started from.
struct FileWriter: Sendable {
    let names: FileNames
    let system: SystemCalls

    /// A new file of this process, open for writing, with its status before it got its permissions.
    struct NewFile {
        let file: OpenFile
        let status: FileStatus
    }

    /// Writes the bytes to the temporary file and gives it the file's name.
    ///
    /// - Parameter willReplace: called with the status of the new file before it gets the name.
    /// - Returns: the new file, and the earliest stamp of a change that is made after it got the name.
    func putInPlace(
        _ bytes: FileBytes, _ base: FileState, durability: CommitDurability, under writeLock: WriteLock,
        willReplace: (FileStatus) -> Void
    ) throws -> (NewFile, FileStatus.Time) {
        var isUnknown = false
        do throws(StorageFailure) {
            // The quarantine has given a malformed file a second name.
            var old = base.fault == nil ? base.status : try checkFileUnchanged(base, under: writeLock)
            for _ in Attempts.all {
                let new = try makeTemporary(bytes, replacing: base, old, under: writeLock)
                do throws(StorageFailure) {
                    if durability == .powerCut { try system.synchronizeRetrying(new.file.descriptor) }
                    try writeLock.volume.complete(new.file, system)
                    // Checked last, because the flush takes time.
                    let there = try checkFileUnchanged(base, isAsked: old != nil, under: writeLock)
                    if writeLock.volume.isStill(there, old) {
                        let nextStamp = system.nextStamp()
                        willReplace(new.status)
                        try writeLock.volume.replace(
                            names, by: new.status, replaces: there != nil, isUnknown: &isUnknown, in: writeLock.folder,
                            system)
                        return (new, nextStamp)
                    }
                    // Another program may have restricted the permissions during the update.
                    old = there
                } catch {
                    if !writeLock.volume.keepsTemporary(isUnknown: isUnknown) {
                        removeOwn(names.temporary, new.file, under: writeLock)
                    }
                    throw error
                }
                removeOwn(names.temporary, new.file, under: writeLock)
            }
            throw StorageFailure(path: "", reason: "was changed by another program during every attempt")
        } catch {
            if isUnknown { throw FileError.outcomeUnknown(error.at(names.path)) }
            // A failure that has a path is about the temporary file, and keeps that path.
            if error.path.utf8.first == UInt8(ascii: "/") { throw FileError.notStored(error) }
            throw FileError.notStored(isMountPoint(error) ? Self.mountPoint.at(names.path) : error.at(names.path))
        }
    }

    /// Whether the file itself is mounted, for example into a container. Such a file cannot be replaced.
    private func isMountPoint(_ failure: StorageFailure) -> Bool {
        failure.operation == "rename" && failure.code == EBUSY
    }

    private static let mountPoint = StorageFailure(
        path: "", reason: "is a mount of its own and cannot be replaced; mount its folder into the container instead")

    /// Throws if another program has replaced, changed or removed the file since the update started, or if the lock
    /// file was removed, so that others may be writing. Called before anything is replaced.
    ///
    /// - Parameter isAsked: whether the descriptor of the state's file was checked after the program's code last ran. The
    ///   bytes are then compared before the name is looked up, so that one look is enough.
    /// - Returns: the status of the file; nil if it is missing.
    func checkFileUnchanged(
        _ base: FileState, isAsked: Bool = false, under writeLock: WriteLock
    ) throws(StorageFailure) -> FileStatus? {
        guard try writeLock.isLockFileInPlace() else {
            throw StorageFailure(path: "", reason: "its lock file was removed during the update")
        }
        let hasBytes = isAsked && base.hasBytesBehindTimes
        let there = try system.status(ofPath: names.file, in: writeLock.folder, followsLinks: false)
        switch there?.kind {
        case .file, nil: break
        case .link: throw StorageFailure(path: "", reason: "was replaced by a link")
        case .folder: throw StorageFailure("rename", "", code: EISDIR)
        case .other(let kind): throw StorageFailure(path: "", reason: "was replaced by \(kind)")
        }
        guard let there else {
            if base.status == nil { return nil }
            throw StorageFailure(path: "", reason: "was removed by another program during the update")
        }
        if !writeLock.volume.tellsFilesApart, base.status != nil {
            guard try base.hasBytes(of: writeLock.file(of: base, as: names.file)) else {
                throw StorageFailure(path: "", reason: "was changed by another program during the update")
            }
            return there
        }
        guard base.status?.isSameFile(as: there) == true else {
            throw StorageFailure(path: "", reason: "was replaced by another program during the update")
        }
        guard base.validated(at: there, hasBytes: hasBytes) != nil else {
            throw StorageFailure(path: "", reason: "was changed by another program during the update")
        }
        return there
    }

    /// Makes the file that replaces a state, with its permissions. On a server, the old one is closed afterwards, because SMB
    /// removes an open file instead of replacing it.
    ///
    /// - Parameter old: the status of the old file now.
    private func makeTemporary(
        _ bytes: FileBytes, replacing base: FileState, _ old: FileStatus?, under writeLock: WriteLock
    ) throws(StorageFailure) -> NewFile {
        guard let old else { return try makeTemporary(bytes, like: nil, protectedAs: nil, under: writeLock) }
        let file = try writeLock.file(of: base, as: names.file)
        return try makeTemporary(bytes, like: .all(of: file, old), protectedAs: file, under: writeLock)
    }

    func makeTemporary(
        _ bytes: FileBytes, like permissions: Permissions?, protectedAs other: OpenFile?, under writeLock: WriteLock
    ) throws(StorageFailure) -> NewFile {
        do {
            return try make(names.temporary, bytes, like: permissions, protectedAs: other, under: writeLock)
        } catch  where error.code == EEXIST {
            // Removes the file of a killed writer. No other process writes while this one holds the lock.
            do throws(StorageFailure) {
                try writeLock.volume.removeLeft(names.temporary, in: writeLock.folder, system)
            } catch {
                throw error.at(names.path(of: names.temporary))
            }
            return try make(names.temporary, bytes, like: permissions, protectedAs: other, under: writeLock)
        }
    }

    /// Tidies up after a failure that is reported. If this fails, too, the next writer removes the file.
    func removeOwn(_ name: String, _ file: OpenFile, under writeLock: WriteLock) {
        // If the lock file was removed, the name may now belong to the file of another writer.
        if let own = try? system.status(of: file.descriptor),
            let there = try? system.status(ofPath: name, in: writeLock.folder, followsLinks: false),
            !there.isSameFile(as: own)
        {
            return
        }
        try? system.remove(name, in: writeLock.folder)
    }

    /// Creates a file. The permissions are set after the bytes are written, because a write clears the set-user-ID and
    /// set-group-ID bits; until then only the process's own user can open it.
    ///
    /// - Parameter other: a file whose protection class the new file gets, unless a class is set for new files.
    @inline(never) func make(
        _ name: String, _ bytes: FileBytes, like permissions: Permissions?, protectedAs other: OpenFile?,
        under writeLock: WriteLock
    ) throws(StorageFailure) -> NewFile {
        let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW
        // The umask is for a file that a tool makes for others, not for what is kept beside it.
        let isOfUmask = permissions == nil && writeLock.isTransient && name == names.temporary
        let descriptor = try system.openRetrying(
            name, in: writeLock.folder, flags, mode: isOfUmask ? ToolHook.current?.modeOfNewFiles ?? 0o666 : 0o600)
        let file = OpenFile(descriptor, system)
        do {
            let replaced = other.flatMap { system.protection(of: $0.descriptor) }
            if let protection = writeLock.protection?.number ?? replaced {
                try system.setProtection(protection, of: file.descriptor)
            }
            var written = 0
            try bytes.forEachPart { part throws(StorageFailure) in
                try system.writeAll(part, to: file.descriptor, behind: written)
                written += part.count
            }
            let status = try system.status(of: file.descriptor)
            if let permissions {
                try permissions.apply(to: file.descriptor, status, system)
            } else {
                try Folders.giveToOwner(of: writeLock.folder, file.descriptor, system)
                try system.copyAttributes(from: nil, to: file.descriptor)
                // Ignores the umask.
                let mode: UInt32 = 0o600
                if status.permissions != mode, !isOfUmask {
                    try Permissions.set(mode, of: file.descriptor, system)
                }
            }
            return NewFile(file: file, status: status)
        } catch {
            removeOwn(name, file, under: writeLock)
            throw error
        }
    }

    /// Makes a file, and flushes its bytes.
    func makeDurable(
        _ name: String, _ bytes: FileBytes, like permissions: Permissions?, protectedAs file: OpenFile?,
        under writeLock: WriteLock
    ) throws(StorageFailure) {
        let copy = try make(name, bytes, like: permissions, protectedAs: file, under: writeLock)
        do {
            try system.synchronizeRetrying(copy.file.descriptor)
        } catch {
            try? system.remove(name, in: writeLock.folder)
            throw error
        }
    }
}
