import Foundation
import PrefsPropertyLists

extension PropertyListFile {
    /// Replaces the file: temporary file, fsync, rename, fsync of the folder, last good copy.
    ///
    /// A failure before the rename leaves the old state. If the rename fails and it is unknown whether the file has its
    /// name, throws `outcomeUnknown`. After the rename the new state is current, here and on disk,
    /// and a failure means that its durability is unconfirmed.
    ///
    /// - Parameters:
    ///   - encoding: the bytes of the content and their format; nil to encode it in the format of the file.
    ///   - reason: why a good file is quarantined, too; nil if it is not.
    func store(
        _ content: Content, as encoding: (bytes: FileBytes, format: FileFormat)? = nil, replacing base: FileState,
        keptBecause reason: String? = nil, durability: CommitDurability, under writeLock: WriteLock
    ) throws {
        if let loss = base.loss, encoding == nil {
            throw FileError.notStored(StorageFailure(path: names.path, reason: loss))
        }
        let (bytes, format) = try encoding ?? coder.encoded(content, replacing: base)
        // A correction replaces exactly the bytes that its caller has.
        let isCorrection = encoding != nil && [.mistake, .foreign].contains(base.fault?.kind)
        let kept =
            isCorrection
            ? nil : try quarantine.keep(base, because: reason, lost: lost(before: base), by: coder, under: writeLock)
        // A file that is not kept open is gone after the rename.
        let before =
            !base.volume.keepsFiles && ToolHook.current?.committed != nil
            ? Result { try formerBytes(of: base, under: writeLock) } : nil
        let new: FileWriter.NewFile
        let nextStamp: FileStatus.Time
        do {
            (new, nextStamp) = try writer.putInPlace(bytes, base, durability: durability, under: writeLock)
        } catch {
            if let kept, case FileError.notStored = error { quarantine.release(kept, base, under: writeLock) }
            throw error
        }
        if let kept { warn(of: kept, base, under: writeLock) }
        let time = system.monotonicNow()
        // A read during the flush of the folder loads the new file.
        publish(nil)
        let flush =
            durability == .powerCut ? Result { try flushEntry(isNew: base.status == nil, under: writeLock) } : nil
        let (file, status) = reopened(new, under: writeLock)
        var checksum: UInt64?
        if let status {
            if let file {
                let isSameDevice = base.status?.device == status.device
                let source = FileState.Source(
                    file: file, status: status, format: format, bytes: bytes, nextStamp: nextStamp,
                    volume: isSameDevice ? base.volume : nil)
                let snapshot = FileState(content: content, from: source, sourceBytes: bytes, system: system)
                checksum = snapshot.checksum
                publish(snapshot, at: time)
            } else {
                // The next read loads the file, which may already be a different file.
                let text = format.coder.isForPeople ? bytes : nil
                note(
                    FileState(
                        remembered: content, format: format, loss: nil, text: text, changed: status.changed,
                        system: system))
            }
            if let flush { noteFlush(of: status, hasSucceeded: (try? flush.get()) != nil) }
        }
        let copy = Result { () throws(StorageFailure) in
            try copies.writeLastGoodCopy(bytes, checksum: checksum, of: new.file, status, under: writeLock)
        }
        noteReplacement(of: base, before, by: bytes, under: writeLock)
        // Called after the copy is written, because the mirror may write over the file, and the process may be killed
        // in that call.
        if let mirror = currentMirror {
            callMirror(mirror.didChange)
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

    /// Opens the new file again, read-only. The descriptor that is kept open must not be writable, because the program
    /// may confuse it with its own.
    ///
    /// - Returns: the status after the rename, which has changed the times; no file if another file already has the
    ///   name.
    private func reopened(_ new: FileWriter.NewFile, under writeLock: WriteLock) -> (OpenFile?, FileStatus?) {
        if let (file, status) = try? writeLock.volume.reopen(names.file, in: writeLock.folder, .snapshot, system),
            status.isSameFile(as: new.status)
        {
            return (file, status)
        }
        return (nil, try? system.status(of: new.file.descriptor))
    }

    /// Removes the last good copy, which would bring the file back, and then the file. Quarantines a malformed file.
    ///
    /// - Parameter reason: why a good file is quarantined, too; nil if it is not.
    func removeFile(
        _ base: FileState, keptBecause reason: String? = nil, durability: CommitDurability, under writeLock: WriteLock
    ) throws {
        let kept = try quarantine.keep(base, because: reason, lost: lost(before: base), by: coder, under: writeLock)
        do {
            _ = try writer.checkFileUnchanged(base, under: writeLock)
            try copies.removeLastGoodCopy(under: writeLock)
            try system.remove(names.file, in: writeLock.folder)
        } catch {
            if let kept { quarantine.release(kept, base, under: writeLock) }
            throw FileError.notStored(error.at(names.path))
        }
        if let kept { warn(of: kept, base, under: writeLock) }
        noteRemoval()
        do {
            if durability == .powerCut { try system.synchronizeFolder(writeLock.folder) }
        } catch {
            throw FileError.durabilityUnconfirmed(error.at(names.folder))
        }
    }

    /// Replaces the file by bytes that are not a property list. First removes the last good copy, because with a copy
    /// these bytes would count as damage.
    func storeForeign(_ bytes: FileBytes, replacing base: FileState, under writeLock: WriteLock) throws {
        do {
            try copies.removeLastGoodCopy(under: writeLock)
        } catch {
            throw FileError.notStored(error.at(names.path(of: names.lastGood)))
        }
        _ = try writer.putInPlace(bytes, base, durability: .powerCut, under: writeLock)
        publish(nil)
        try flushEntry(isNew: false, under: writeLock)
    }

    /// Flushes the renamed file's name.
    private func flushEntry(isNew: Bool, under writeLock: WriteLock) throws {
        do {
            try system.synchronizeFolder(writeLock.folder)
            try flushFolderEntry(isNew: isNew)
        } catch {
            throw FileError.durabilityUnconfirmed(error.at(names.folder))
        }
    }

    /// Flushes a file that this process did not write, or did not flush after writing it: its bytes, its name, and the
    /// name of its folder. Returns false if an earlier flush of the file failed, or if the file was removed.
    func flushInPlace(_ snapshot: FileState) throws -> Bool {
        guard let file = snapshot.file, let status = snapshot.status else { return true }
        guard !isFlushRefused(for: status) else { return false }
        do throws(StorageFailure) {
            let folder = OpenFile(try system.openFolder(names.folder), system)
            let there = try system.status(ofPath: names.file, in: folder.descriptor, followsLinks: false)
            guard let there, there.isSameFile(as: status) else { return false }
            // Without the lock, a file that is not kept open is opened as reads open it.
            let opened =
                snapshot.volume.keepsFiles
                ? file : try snapshot.volume.open(names.file, in: folder.descriptor, O_RDONLY, .call, system)?.file
            guard let opened else { return false }
            try system.synchronizeRetrying(opened.descriptor)
            withExtendedLifetime(opened) {}
            try system.synchronizeFolder(folder.descriptor)
            try flushFolderEntry(isNew: true)
        } catch {
            noteFlush(of: status, hasSucceeded: false)
            throw FileError.durabilityUnconfirmed(error.at(names.folder))
        }
        noteFlush(of: status, hasSucceeded: true)
        return true
    }
}

extension PropertyListFile {
    /// Tells the tool of a commit.
    ///
    /// - Parameter former: the former bytes, if they were read before the replacement.
    func noteReplacement(
        of base: FileState, _ former: Result<Data?, any Error>? = nil, by bytes: FileBytes?, under writeLock: WriteLock
    ) {
        guard let observer = ToolHook.current?.committed else { return }
        // If the former bytes cannot be read, there is nothing to report.
        guard case .success(let before) = former ?? Result(catching: { try formerBytes(of: base, under: writeLock) })
        else { return }
        observer(FileReplacement(path: names.path, before: before, after: bytes))
    }

    func formerBytes(of base: FileState, under writeLock: WriteLock) throws -> Data? {
        guard let fault = base.fault, [.damage, .emptied].contains(fault.kind) else {
            return try bytes(of: base, under: writeLock)
        }
        return try base.content.map { try coder.encoded($0, replacing: base).bytes.joined }
    }

    private func bytes(of snapshot: FileState, under writeLock: WriteLock) throws(StorageFailure) -> Data? {
        if snapshot.fault == nil, let text = snapshot.text { return text.joined }
        guard let known = snapshot.file, let status = snapshot.status else { return nil }
        let file = try writeLock.opened(known, as: names.file)
        return try system.readAll(file.descriptor, size: status.size, limit: PropertyListLimits.fileBytes)
    }

    /// Restores the former bytes, if the file still has the bytes of that commit.
    ///
    /// - Throws: `FileError`; nothing has changed then, unless it is `durabilityUnconfirmed`.
    package func restore(_ replacement: FileReplacement) throws {
        let (writeLock, base) = try lockedState { writeLock, wait in
            let base = try current(cached, under: writeLock, after: wait)
            guard let currentMirror, let base, base.fault == nil else { return base }
            callMirror(currentMirror.willChange)
            return try current(nil, under: writeLock, after: wait)
        }
        defer { writeLock.end() }
        guard try bytes(of: base, under: writeLock) == replacement.after?.joined else {
            throw FileError.notStored(
                StorageFailure(path: names.path, reason: "has changed since the write that would be reverted"))
        }
        guard let bytes = replacement.before else {
            try removeFile(base, durability: .powerCut, under: writeLock)
            noteReplacement(of: base, .success(replacement.after?.joined), by: nil, under: writeLock)
            currentMirror?.didChange()
            currentMirror?.note(nil)
            return
        }
        let whole = FileBytes(bytes)
        if let former = try? coder.decoded(bytes) {
            try store(
                former.content, as: (whole, former.format), replacing: base, durability: .powerCut, under: writeLock)
        } else {
            try storeForeign(whole, replacing: base, under: writeLock)
            noteReplacement(of: base, .success(replacement.after?.joined), by: whole, under: writeLock)
        }
    }
}
