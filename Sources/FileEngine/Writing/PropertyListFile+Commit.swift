import Foundation
import PrefsPropertyLists

extension PropertyListFile {
    /// Replaces the file: temporary file, fsync, rename, fsync of the folder, last good copy.
    ///
    /// A failure before the rename leaves the old state. After the rename the new state is current, here and on disk, and a failure
    /// means that its durability is unconfirmed.
    ///
    /// - Parameter encoding: the bytes of the content and their format; nil to encode it in the format of the file.
    func store(
        _ content: Content, as encoding: (bytes: Data, format: PropertyListFormat)? = nil, replacing base: Snapshot,
        durability: CommitDurability, under writeLock: WriteLock
    ) throws {
        if let loss = base.loss, encoding == nil {
            throw FileError.notStored(StorageFailure(path: names.path, reason: loss))
        }
        let (bytes, format) = try encoding ?? encoded(content, replacing: base)
        let quarantine = try quarantine(base, under: writeLock)
        let new: NewFile
        let time: FileStatus.Time
        do {
            (new, time) = try putInPlace(bytes, base, durability: durability, under: writeLock)
        } catch {
            if let quarantine { releaseFromQuarantine(quarantine, base, under: writeLock) }
            throw error
        }
        if let quarantine { warnOfQuarantine(quarantine, base) }
        // A read during the flush of the folder loads the new file.
        publish(nil)
        let flush = durability == .powerCut ? Result { try flushEntry(isNew: base.file == nil, under: writeLock) } : nil
        let (file, status) = reopened(new, under: writeLock)
        if let status {
            if let file {
                let source = Snapshot.Source(file: file, status: status, format: format, bytes: bytes, time: time)
                publish(Snapshot(content: content, from: source, system: system))
            } else {
                // The next read loads the file, which may be another one already.
                note(KnownState(content: content, format: format, loss: nil, changed: status.changed))
            }
            if let flush { noteFlush(of: status, hasSucceeded: (try? flush.get()) != nil) }
        }
        let copy = Result { () throws(StorageFailure) in
            try writeLastGoodCopy(bytes, of: new.file, status, under: writeLock)
        }
        noteReplacement(of: base, by: bytes)
        // After the copy: it may write over the file, and be killed in it.
        if let mirror = currentMirror {
            mirror.didChange()
            mirror.note(content)
        }
        try flush?.get()
        do {
            try copy.get()
        } catch {
            // A copy of an older state must not outlive what this commit has deleted.
            throw FileError.durabilityUnconfirmed(error.at(names.path(of: names.lastGood)))
        }
    }

    /// Opens the file that was just put in place once more, only to read it: what is kept open must not be writable, because the
    /// program may take the descriptor for one of its own.
    ///
    /// - Returns: the status after the rename, which has changed the times; no file if another one has the name already.
    private func reopened(_ new: NewFile, under writeLock: WriteLock) -> (OpenFile?, FileStatus?) {
        if let (file, status) = try? system.reopen(names.file, in: writeLock.folder, O_RDONLY, .snapshot),
            status.isSameFile(as: new.status)
        {
            return (file, status)
        }
        return (nil, try? system.status(of: new.file.descriptor))
    }

    /// Removes the file, and first the copy of its last good state, which would bring it back. A malformed file is quarantined.
    func removeFile(_ base: Snapshot, durability: CommitDurability, under writeLock: WriteLock) throws {
        let quarantine = try quarantine(base, under: writeLock)
        do {
            _ = try checkPlace(base, under: writeLock)
            try removeLastGoodCopy(under: writeLock)
            try system.remove(names.file, in: writeLock.folder)
        } catch {
            if let quarantine { releaseFromQuarantine(quarantine, base, under: writeLock) }
            throw FileError.notStored(error.at(names.path))
        }
        if let quarantine { warnOfQuarantine(quarantine, base) }
        publish(Snapshot(system: system))
        do {
            if durability == .powerCut { try system.synchronizeFolder(writeLock.folder) }
        } catch {
            throw FileError.durabilityUnconfirmed(error.at(names.folder))
        }
    }

    /// Replaces the file by bytes that are not a property list. First removes the last good copy, of which they would be the damage.
    func storeForeign(_ bytes: Data, replacing base: Snapshot, under writeLock: WriteLock) throws {
        do {
            try removeLastGoodCopy(under: writeLock)
        } catch {
            throw FileError.notStored(error.at(names.path(of: names.lastGood)))
        }
        _ = try putInPlace(bytes, base, durability: .powerCut, under: writeLock)
        publish(nil)
        try flushEntry(isNew: false, under: writeLock)
    }

    /// Makes the renamed file's name outlast a power cut.
    private func flushEntry(isNew: Bool, under writeLock: WriteLock) throws {
        do {
            try system.synchronizeFolder(writeLock.folder)
            try flushFolderEntry(isNew: isNew)
        } catch {
            throw FileError.durabilityUnconfirmed(error.at(names.folder))
        }
    }

    /// The bytes of a content in the format of the file.
    ///
    /// Other code may have turned the file of a UserDefaults domain into XML. If XML cannot hold the content, it becomes binary again.
    func encoded(
        _ content: Content, replacing base: Snapshot
    ) throws -> (bytes: Data, format: PropertyListFormat) {
        let format = format(replacing: base)
        do {
            return (try encoded(content, as: format, replacing: nil), format)
        } catch  where format == .xml {
            if currentMirror != nil { return (try encoded(content, as: .binary, replacing: nil), .binary) }
            return (try encoded(content, as: .xml, replacing: base.content), .xml)
        }
    }

    private func encoded(_ content: Content, as format: PropertyListFormat, replacing former: Content?) throws -> Data {
        func refused(_ reason: String) -> FileError {
            .notStored(StorageFailure(path: names.path, reason: reason))
        }
        let bytes: Data
        do {
            func whole(_ content: Content) -> Any {
                root == .document ? content[Self.documentKey] ?? content : content
            }
            bytes = try PropertyListCoder.encode(whole(content), as: format, replacing: former.map(whole))
        } catch {
            throw refused("\(error)")
        }
        guard bytes.count <= PropertyListLimits.fileBytes else {
            throw refused("would be larger than \(PropertyListLimits.fileBytes >> 20) MiB")
        }
        return bytes
    }

    /// Flushes a file that this process did not write, or did not flush after writing it: its bytes, its name, and the name of its
    /// folder. Returns false if that is useless, because an earlier flush of the file failed or because the file is gone.
    func flushInPlace(_ snapshot: Snapshot) throws -> Bool {
        guard let file = snapshot.file, let status = snapshot.status else { return true }
        guard !isFlushRefused(for: status) else { return false }
        do throws(StorageFailure) {
            let folder = OpenFile(try system.openFolder(names.folder), system)
            let there = try system.status(ofPath: names.file, in: folder.descriptor, followsLinks: false)
            guard let there, there.isSameFile(as: status) else { return false }
            try system.synchronizeRetrying(file.descriptor)
            try system.synchronizeFolder(folder.descriptor)
            try flushFolderEntry(isNew: true)
        } catch {
            noteFlush(of: status, hasSucceeded: false)
            throw FileError.durabilityUnconfirmed(error.at(names.folder))
        }
        noteFlush(of: status, hasSucceeded: true)
        return true
    }

    /// A file that this process has made, open for writing, with its status before it got its permissions.
    struct NewFile {
        let file: OpenFile
        let status: FileStatus
    }

    /// Writes the bytes to the temporary file and gives it the file's name.
    /// - Returns: the new file, and the time at which its bytes were those.
    private func putInPlace(
        _ bytes: Data, _ base: Snapshot, durability: CommitDurability, under writeLock: WriteLock
    ) throws -> (NewFile, FileStatus.Time) {
        do throws(StorageFailure) {
            // The quarantine has given a malformed file a second name.
            var old = base.fault == nil ? base.status : try checkPlace(base, under: writeLock)
            for _ in 0..<100 {
                let permissions = old.flatMap { old in base.file.map { Permissions.all(of: $0, old) } }
                let new = try makeTemporary(bytes, like: permissions, protectedAs: base.file, under: writeLock)
                do throws(StorageFailure) {
                    if durability == .powerCut { try system.synchronizeRetrying(new.file.descriptor) }
                    // Last of all: the flush takes time.
                    let there = try checkPlace(base, under: writeLock)
                    if there == old {
                        let time = system.now()
                        try system.rename(names.temporary, to: names.file, in: writeLock.folder)
                        return (new, time)
                    }
                    // Another program may have restricted the permissions during the update.
                    old = there
                } catch {
                    removeOwn(names.temporary, new.file, under: writeLock)
                    throw error
                }
                removeOwn(names.temporary, new.file, under: writeLock)
            }
            throw StorageFailure(path: "", reason: "was changed by another program during every attempt")
        } catch {
            // A failure that has a path is about the temporary file, and keeps that path.
            if error.path.utf8.first == UInt8(ascii: "/") { throw FileError.notStored(error) }
            throw FileError.notStored(isMountPoint(error) ? Self.mountPoint.at(names.path) : error.at(names.path))
        }
    }

    /// A container may have this one file mounted into it. Such a file cannot be replaced.
    private func isMountPoint(_ failure: StorageFailure) -> Bool {
        failure.operation == "rename" && failure.code == EBUSY
    }

    private static let mountPoint = StorageFailure(
        path: "", reason: "is a mount of its own and cannot be replaced; mount its folder into the container instead")

    /// Throws, before anything is replaced, if another program replaced, changed or removed the file since the update started, or if the
    /// lock file was removed, so that others may be writing.
    ///
    /// - Returns: the status of the file; nil if there is none.
    private func checkPlace(_ base: Snapshot, under writeLock: WriteLock) throws(StorageFailure) -> FileStatus? {
        guard try writeLock.isLockFileInPlace() else {
            throw StorageFailure(path: "", reason: "its lock file was removed during the update")
        }
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
        guard base.status?.isSameFile(as: there) == true else {
            throw StorageFailure(path: "", reason: "was replaced by another program during the update")
        }
        guard base.validated(at: there) != nil else {
            throw StorageFailure(path: "", reason: "was changed by another program during the update")
        }
        return there
    }

    func makeTemporary(
        _ bytes: Data, like permissions: Permissions?, protectedAs other: OpenFile?, under writeLock: WriteLock
    ) throws(StorageFailure) -> NewFile {
        // Before the attempt: in the meantime, the room may have become free.
        let isClosing = system.isClosing
        do {
            return try make(names.temporary, bytes, like: permissions, protectedAs: other, under: writeLock)
        } catch  where isClosing && [ENOSPC, EDQUOT].contains(error.code) {
            system.finishClosing()
            return try make(names.temporary, bytes, like: permissions, protectedAs: other, under: writeLock)
        } catch  where error.code == EEXIST {
            // Left by a killed writer: no other process writes while this one holds the lock.
            do throws(StorageFailure) {
                try system.remove(names.temporary, in: writeLock.folder)
            } catch {
                throw error.at(names.path(of: names.temporary))
            }
            return try make(names.temporary, bytes, like: permissions, protectedAs: other, under: writeLock)
        }
    }

    /// Tidies up after a failure that is reported. If this fails too, the next writer removes the file.
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
    /// - Parameter other: whose protection class the file gets, unless one is set for new files.
    func make(
        _ name: String, _ bytes: Data, like permissions: Permissions?, protectedAs other: OpenFile?,
        under writeLock: WriteLock
    ) throws(StorageFailure) -> NewFile {
        let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW
        let descriptor = try system.openRetrying(name, in: writeLock.folder, flags, mode: 0o600)
        let file = OpenFile(descriptor, system)
        do {
            let replaced = other.flatMap { system.protection(of: $0.descriptor) }
            if let protection = writeLock.protection?.rawValue ?? replaced {
                try system.setProtection(protection, of: file.descriptor)
            }
            try system.writeAll(bytes, to: file.descriptor)
            let status = try system.status(of: file.descriptor)
            if let permissions {
                try permissions.apply(to: file.descriptor, status, system)
            } else {
                try writeLock.giveToOwnerOfFolder(file.descriptor)
                try system.copyAttributes(from: nil, to: file.descriptor)
                // Whatever the umask.
                let mode: UInt32 = 0o600
                if status.permissions != mode {
                    try system.setPermissions(mode, of: file.descriptor)
                }
            }
            return NewFile(file: file, status: status)
        } catch {
            removeOwn(name, file, under: writeLock)
            throw error
        }
    }
}
