import Foundation

extension PropertyListFile {
    /// Replaces the file: temporary file, fsync, rename, fsync of the folder, last good copy.
    ///
    /// Up to the rename a failure leaves the old state; after it the new state stands, here and on disk, and a failure
    /// says that its durability is unconfirmed.
    func replace(
        _ base: Snapshot, with content: Content, durability: Durability, under session: FileSession
    ) throws {
        let format = base.format ?? newFileFormat
        let content = PropertyListCoder.storable(content, as: format) as? Content
        let bytes: Data
        do {
            bytes = try PropertyListCoder.encode(content ?? [:], as: format)
        } catch {
            throw FileError.notStored(StorageFailure(path: names.path, reason: "cannot be encoded: \(error)"))
        }
        let (descriptor, time) = try putInPlace(
            bytes, permissionsOf: base.status, durability: durability, under: session)
        defer {
            currentCompanion?.didChange()
            keepLastGood(bytes, like: base.status, under: session)
        }
        do {
            if durability == .powerCut { try system.synchronizeRetrying(session.folder) }
            // The rename has changed the times of the file.
            let status = try system.status(of: descriptor)
            publish(
                Snapshot(
                    content: content, format: format, bytes: bytes, status: status, asOf: time, descriptor: descriptor,
                    system: system))
        } catch {
            // The next read loads what stands there now.
            publish(nil)
            system.close(descriptor)
            throw FileError.durabilityUnconfirmed(error.at(names.folder))
        }
    }

    /// Writes the bytes to the temporary file and gives it the file's name.
    /// - Returns: the new file, open, and the time at which its bytes were those.
    func putInPlace(
        _ bytes: Data, permissionsOf old: FileStatus?, durability: Durability, under session: FileSession
    ) throws -> (SystemCalls.Descriptor, FileStatus.Time) {
        do {
            let descriptor = try makeTemporary(bytes, permissionsOf: old, under: session)
            do throws(StorageFailure) {
                if durability == .powerCut { try system.synchronizeRetrying(descriptor) }
                try refuseOtherThanFile(under: session)
                let time = system.now()
                try system.rename(names.temporary, to: names.file, in: session.folder)
                return (descriptor, time)
            } catch {
                system.close(descriptor)
                try? system.remove(names.temporary, in: session.folder)
                throw error
            }
        } catch let failure as StorageFailure {
            throw FileError.notStored(failure.at(names.path))
        }
    }

    /// A link or folder that has taken the file's place since it was read is not replaced.
    private func refuseOtherThanFile(under session: FileSession) throws(StorageFailure) {
        switch try system.status(ofPath: names.file, in: session.folder, followsLinks: false)?.kind {
        case .file, nil: break
        case .link: throw StorageFailure(path: "", reason: "a link took the place of the file")
        case .folder: throw StorageFailure("rename", "", code: EISDIR)
        case .other(let kind): throw StorageFailure(path: "", reason: "\(kind) took the place of the file")
        }
    }

    /// Makes the temporary file, with the owner and permissions of the old one before any byte is in it.
    private func makeTemporary(
        _ bytes: Data, permissionsOf old: FileStatus?, under session: FileSession
    ) throws(StorageFailure) -> SystemCalls.Descriptor {
        let descriptor = try openTemporary(under: session)
        do {
            if let old { try adoptPermissions(of: old, for: descriptor) }
            try system.writeAll(bytes, to: descriptor)
            return descriptor
        } catch {
            system.close(descriptor)
            try? system.remove(names.temporary, in: session.folder)
            throw error
        }
    }

    private func openTemporary(under session: FileSession) throws(StorageFailure) -> SystemCalls.Descriptor {
        let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW
        do {
            return try system.openRetrying(names.temporary, in: session.folder, flags, mode: 0o600)
        } catch  where error.code == EEXIST {
            // Left by a writer that was killed: nobody else writes while we hold the lock.
            try system.remove(names.temporary, in: session.folder)
            return try system.openRetrying(names.temporary, in: session.folder, flags, mode: 0o600)
        }
    }

    private func adoptPermissions(
        of old: FileStatus, for descriptor: SystemCalls.Descriptor
    ) throws(StorageFailure) {
        let new = try system.status(of: descriptor)
        var permissions = old.permissions
        if new.owner != old.owner {
            do {
                try system.setOwner(old.owner, group: old.group, of: descriptor)
            } catch  where error.code == EPERM {
                throw StorageFailure(path: "", reason: "belongs to another user, who would lose it")
            }
        } else if new.group != old.group {
            do {
                try system.setOwner(old.owner, group: old.group, of: descriptor)
            } catch  where error.code == EPERM {
                // Its owner has left the group. Another group must not get what was that one's.
                permissions &= ~0o070
            }
        }
        if permissions != new.permissions { try system.setPermissions(mode_t(permissions), of: descriptor) }
    }

    /// Keeps the bytes of this commit beside the file, for the day when another program damages it. Renamed, so never
    /// half written by us, but not synced: it costs no flush.
    private func keepLastGood(_ bytes: Data, like old: FileStatus?, under session: FileSession) {
        // The state itself is stored already; a copy that fails leaves the one before.
        guard let descriptor = try? makeTemporary(bytes, permissionsOf: old, under: session) else { return }
        system.close(descriptor)
        do {
            try system.rename(names.temporary, to: names.lastGood, in: session.folder)
        } catch {
            try? system.remove(names.temporary, in: session.folder)
        }
    }
}
