import Foundation
import PrefsPropertyLists

/// The bytes of the last commit, kept beside the file in case another program damages it.
struct LastGoodCopies: Sendable {
    let names: FileNames
    let system: SystemCalls
    let writer: FileWriter

    /// Writes the copy in place, after the file has its name. It is not flushed, because it is read only if the file is
    /// damaged.
    ///
    /// If the copy cannot be written, for example because there is no room, the write still succeeds. The copy of the previous
    /// state is removed then, because it may contain values that this commit has deleted.
    ///
    /// - Parameter known: the status of the file, if it could be read.
    /// - Throws: the error if a copy of an older state could not be removed.
    func writeLastGoodCopy(
        _ bytes: FileBytes, checksum: UInt64?, of file: OpenFile, _ known: FileStatus?, under writeLock: WriteLock
    ) throws(StorageFailure) {
        if writeLock.isTransient { return }
        do throws(StorageFailure) {
            let status = if let known { known } else { try system.status(of: file.descriptor) }
            guard try writeLock.isLockFileInPlace() else {
                // Another writer may be writing a copy of a newer state.
                throw StorageFailure(path: "", reason: "its lock file was removed during the update")
            }
            let copy = CheckedCopy.copy(of: bytes, checksum: checksum)
            guard let (old, size) = writableCopy(like: file, status, under: writeLock) else {
                return try replaceCopy(copy, of: file, status, under: writeLock)
            }
            try system.writeAll(copy, to: old.descriptor)
            if size > copy.count { try system.truncate(old.descriptor, to: copy.count) }
        } catch {
            do {
                try system.remove(names.lastGood, in: writeLock.folder)
            } catch  where error.code == ENOENT || !isTrustedCopyThere(under: writeLock) {}
        }
    }

    func removeLastGoodCopy(under writeLock: WriteLock) throws(StorageFailure) {
        do {
            try system.remove(names.lastGood, in: writeLock.folder)
        } catch  where error.code == ENOENT {}
    }

    /// The copy, if it may be written over: it has this form, only the owner of the file can open it, and it has no
    /// second name.
    ///
    /// A copy of the first edition is replaced, because without a header half of it would look like the whole.
    private func writableCopy(
        like file: OpenFile, _ status: FileStatus, under writeLock: WriteLock
    ) -> (file: OpenFile, size: Int)? {
        guard
            let (copy, there) = try? system.openSidecar(names.lastGood, in: writeLock.folder, O_RDWR),
            there.isTrustedCopy(of: status.owner), there.links == 1,
            there.permissions == Permissions.owner(of: status).mode,
            system.protection(of: copy.descriptor) == system.protection(of: file.descriptor),
            let start = try? system.readAll(copy.descriptor, size: CheckedCopy.magic.count, limit: .max),
            Array(start) == CheckedCopy.magic
        else { return nil }
        return (copy, there.size)
    }

    private func replaceCopy(
        _ copy: Data, of file: OpenFile, _ status: FileStatus, under writeLock: WriteLock
    ) throws(StorageFailure) {
        let new = try writer.makeTemporary(
            FileBytes(copy), like: .owner(of: status), protectedAs: file, under: writeLock)
        do throws(StorageFailure) {
            try system.rename(names.temporary, to: names.lastGood, in: writeLock.folder)
        } catch {
            writer.removeOwn(names.temporary, new.file, under: writeLock)
            throw error
        }
    }

    /// Whether the copy may be used for recovery. False for a file that another user planted.
    private func isTrustedCopyThere(under writeLock: WriteLock) -> Bool {
        guard let copy = try? system.status(ofPath: names.lastGood, in: writeLock.folder, followsLinks: false),
            let file = try? system.status(ofPath: names.file, in: writeLock.folder, followsLinks: false)
        else { return true }
        return copy.isTrustedCopy(of: file.owner)
    }

    // MARK: - Reading

    /// - Throws: `FileError.unreadable` if the copy cannot be read, because it may hold the newest state.
    func lastGoodCopy(
        beside bytes: MalformedBytes, by coder: ContentCoder, under writeLock: WriteLock?
    ) throws(FileError) -> LastGoodCopy {
        let copy: LastGoodCopy
        do {
            copy = try lastGoodCopy(of: [bytes.source.status.owner], by: coder, under: writeLock)
        } catch {
            throw .unreadable(error.at(names.path(of: names.lastGood)))
        }
        // A copy that was cut off does not show its format, but the beginning of the file does.
        if case .damaged = copy, bytes.source.format == nil, coder.rules.mirror == nil,
            bytes.source.bytes.joined.withUnsafeBytes(ForeignText.bracket) != nil
        {
            return .ofOtherFormat
        }
        return copy
    }

    /// - Parameter owners: the users whose copy is trusted.
    @inline(never)
    func lastGoodCopy(
        of owners: Set<UInt32>, by coder: ContentCoder, under writeLock: WriteLock?
    ) throws(StorageFailure) -> LastGoodCopy {
        if let writeLock { return try lastGoodCopy(names.lastGood, in: writeLock.folder, of: owners, by: coder) }
        return try system.withFolder(of: FileNames(path: names.path(of: names.lastGood))) {
            folder, name throws(StorageFailure) in
            try lastGoodCopy(name, in: folder, of: owners, by: coder)
        }
    }

    private func lastGoodCopy(
        _ name: String, in folder: SystemCalls.Descriptor, of owners: Set<UInt32>, by coder: ContentCoder
    ) throws(StorageFailure) -> LastGoodCopy {
        // Checked before the copy is opened, because a file that another user planted must not prevent a read.
        guard let planted = try system.status(ofPath: name, in: folder, followsLinks: false),
            planted.isTrustedCopy(of: owners),
            let (file, status) = try system.openSidecar(name, in: folder), status.isTrustedCopy(of: owners)
        else { return .missing }
        let limit = PropertyListLimits.fileBytes + CheckedCopy.headerSize
        let copied = try system.readAll(file.descriptor, size: status.size, limit: limit)
        guard let bytes = try? CheckedCopy.bytes(of: copied) else { return .damaged(tornSince: status) }
        do {
            // Bytes with a valid checksum are not damaged.
            if coder.rules.mirror == nil, copied.starts(with: CheckedCopy.magic),
                bytes.withUnsafeBytes(coder.rules.formats.recognizing) == nil
            {
                return .ofOtherFormat
            }
            let list = try coder.decoded(bytes)
            let state = FileState(
                remembered: list.content, format: list.format, loss: list.loss,
                text: list.format.coder.isForPeople ? FileBytes(bytes) : nil, changed: status.modified, system: system)
            return .usable(state, status.modified.date)
        } catch {
            return .damaged(tornSince: nil)
        }
    }

    func copyStatus(under writeLock: WriteLock?) throws(StorageFailure) -> FileStatus? {
        if let writeLock { return try system.status(ofPath: names.lastGood, in: writeLock.folder, followsLinks: false) }
        return try system.status(ofPath: names.path(of: names.lastGood), followsLinks: false)
    }

    func folderStatus(under writeLock: WriteLock?) throws(StorageFailure) -> FileStatus? {
        if let writeLock { return try system.status(of: writeLock.folder) }
        return try system.status(ofPath: names.folder, followsLinks: false)
    }
}

enum LastGoodCopy {
    /// There is no trusted copy. In a shared folder, other users can plant one.
    case missing
    /// The file belongs to a store with a format that no store of this process has.
    case ofOtherFormat
    /// The copy is damaged, because another program has changed it, its writer was killed, or a writer is writing
    /// it. In the last two cases its status is known.
    case damaged(tornSince: FileStatus?)
    case usable(FileState, Date)

    var isOurs: Bool {
        switch self {
        case .missing, .ofOtherFormat: false
        case .damaged, .usable: true
        }
    }
}

extension FileStatus.Time {
    fileprivate var date: Date {
        Date(timeIntervalSince1970: TimeInterval(seconds) + TimeInterval(nanoseconds) / 1e9)
    }
}
