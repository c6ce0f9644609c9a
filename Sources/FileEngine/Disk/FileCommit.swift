import Foundation
import PrefsPropertyLists

/// Replaces or removes a file, under its lock, and makes the outcome the state that reads return.
final class FileCommit: Sendable {
    let look: FileLook
    private let writer: FileWriter
    private let copies: LastGoodCopies
    private let quarantine: Quarantine
    private let names: FileNames
    private let cache: FileCache
    private let system: SystemCalls

    init(_ look: FileLook, writer: FileWriter) {
        self.look = look
        self.writer = writer
        (names, cache, copies, system) = (look.names, look.cache, look.copies, look.system)
        quarantine = Quarantine(names: look.names, system: look.system, copies: look.copies, writer: writer)
    }

    private var coder: ContentCoder { look.coder }

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
        _ content: DomainContent, as encoding: (bytes: FileBytes, format: FileFormat)? = nil, replacing base: FileState,
        keptBecause reason: String? = nil, durability: CommitDurability, under writeLock: WriteLock
    ) throws {
        if let loss = base.loss, encoding == nil {
            throw FileError.notStored(StorageFailure(path: names.path, reason: loss))
        }
        let (bytes, format) = try encoding ?? coder.encoded(content, replacing: base)
        // A correction replaces exactly the bytes that its caller has.
        let isCorrection = encoding != nil && [.mistake, .foreign].contains(base.faultKind)
        let kept =
            isCorrection
            ? nil
            : try quarantine.keep(base, because: reason, lost: cache.lost(before: base), by: coder, under: writeLock)
        // The former file is gone after the rename.
        let before = ToolHook.current?.committed == nil ? nil : Result { try formerBytes(of: base, under: writeLock) }
        let new: FileWriter.NewFile
        let nextStamp: FileStatus.Time
        let owed = cache.state.withLock { $0.flushes }
        do {
            // Before another thread can read the new file, and find that its own write is equal.
            (new, nextStamp) = try writer.putInPlace(bytes, base, durability: durability, under: writeLock) { status in
                cache.state.withLock { $0.flushes.willStore(status) }
            }
        } catch {
            if case FileError.notStored = error { cache.state.withLock { $0.flushes = owed } }
            if let kept, case FileError.notStored = error { quarantine.release(kept, base, under: writeLock) }
            throw error
        }
        cache.state.withLock { $0.flushes.didStore() }
        if let kept { cache.leaveWarning(quarantine.warning(of: kept, base, under: writeLock)) }
        let time = system.monotonicNow()
        // A read during the flush of the folder loads the new file.
        cache.publish(nil)
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
                let state = FileState(content: content, from: source, sourceBytes: bytes, system: system)
                checksum = state.checksum
                cache.publish(state, at: time)
            } else {
                // The next read loads the file, which may already be a different file.
                let text = format.coder.isForPeople ? bytes : nil
                cache.note(
                    FileState(
                        remembered: content, format: format, loss: nil, text: text, changed: status.changed,
                        system: system))
            }
            if let flush { noteFlush(of: status, hasSucceeded: (try? flush.get()) != nil) }
        }
        let copy = Result { () throws(StorageFailure) in
            try copies.writeLastGoodCopy(bytes, checksum: checksum, of: new.file, status, under: writeLock)
        }
        noteReplacement(of: before, by: bytes)
        // Called after the copy is written, because the mirror may write over the file, and the process may be killed
        // in that call.
        if let mirror = cache.mirror {
            cache.callMirror(mirror.didChange)
            mirror.note(content)
        } else if before == nil {
            // The lock file was found intact after the program's code last ran, and is closed before it runs again, so it is not
            // asked. The file of the former state is: a read of another thread may still hold it, and close it later.
            writeLock.willEnd()
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
        if let (file, status) = try? writeLock.volume.reopen(names.file, in: writeLock.folder, .kept, system),
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
        let kept = try quarantine.keep(
            base, because: reason, lost: cache.lost(before: base), by: coder, under: writeLock)
        do {
            _ = try writer.checkFileUnchanged(base, under: writeLock)
            try copies.removeLastGoodCopy(under: writeLock)
            try system.remove(names.file, in: writeLock.folder)
        } catch {
            if let kept { quarantine.release(kept, base, under: writeLock) }
            throw FileError.notStored(error.at(names.path))
        }
        if let kept { cache.leaveWarning(quarantine.warning(of: kept, base, under: writeLock)) }
        cache.noteRemoval()
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
        _ = try writer.putInPlace(bytes, base, durability: .powerCut, under: writeLock) { _ in }
        cache.publish(nil)
        try flushEntry(isNew: false, under: writeLock)
    }

    /// Flushes the renamed file's name.
    private func flushEntry(isNew: Bool, under writeLock: WriteLock) throws {
        do {
            try system.synchronizeFolder(writeLock.folder)
            try flushFolder(isNew: isNew)
        } catch {
            throw FileError.durabilityUnconfirmed(error.at(names.folder))
        }
    }

    /// Flushes a file that this process has not flushed: its bytes, its name, and the name of its folder. Returns false if
    /// an earlier flush of the file failed.
    func flush(_ base: FileState, under writeLock: WriteLock) throws -> Bool {
        guard let status = base.status else { return true }
        guard !cache.state.withLock({ $0.flushes.isRefused(for: base) }) else { return false }
        let file: OpenFile
        do {
            file = try writeLock.file(of: base, as: names.file)
        } catch {
            throw FileError.notStored(error.at(names.path))
        }
        do throws(StorageFailure) {
            try system.synchronizeRetrying(file.descriptor)
            withExtendedLifetime(file) {}
            try system.synchronizeFolder(writeLock.folder)
            try flushFolder(isNew: true)
        } catch {
            noteFlush(of: status, hasSucceeded: false)
            throw FileError.durabilityUnconfirmed(error.at(names.folder))
        }
        noteFlush(of: status, hasSucceeded: true)
        return true
    }

    private func noteFlush(of status: FileStatus, hasSucceeded: Bool) {
        cache.state.withLock { $0.flushes.didFlush(status, hasSucceeded: hasSucceeded) }
    }

    /// Flushes the entry of the folder, at the first flush and for a new file, because the process that made the folder
    /// may have been killed before its flush.
    private func flushFolder(isNew: Bool) throws(StorageFailure) {
        guard isNew || !cache.state.withLock({ $0.flushes.hasFlushedFolder }) else { return }
        try Folders.flush(FileNames(path: names.folder).folder, system)
        cache.state.withLock { $0.flushes.hasFlushedFolder = true }
    }

    // MARK: - For the tool

    /// Tells the tool of a commit.
    ///
    /// - Parameter former: the former bytes, read before the replacement.
    func noteReplacement(of former: Result<Data?, any Error>?, by bytes: FileBytes?) {
        // If the former bytes cannot be read, there is nothing to report.
        guard let observer = ToolHook.current?.committed, case .success(let before)? = former else { return }
        observer(FileReplacement(path: names.path, before: before, after: bytes))
    }

    private func formerBytes(of base: FileState, under writeLock: WriteLock) throws -> Data? {
        guard base.faultKind == .damage || base.faultKind == .emptied else {
            return try bytes(of: base, under: writeLock)
        }
        return try base.content.map { try coder.encoded($0, replacing: base).bytes.joined }
    }

    /// The bytes of the file.
    func bytes(of state: FileState, under writeLock: WriteLock) throws(StorageFailure) -> Data? {
        if state.fault == nil, let text = state.text { return text.joined }
        guard let status = state.status else { return nil }
        let file = try writeLock.file(of: state, as: names.file)
        return try system.readAll(file.descriptor, size: status.size, limit: PropertyListLimits.fileBytes)
    }
}
