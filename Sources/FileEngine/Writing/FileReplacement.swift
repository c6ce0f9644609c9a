package import Foundation
import PrefsPropertyLists

/// The bytes of a file before and after a commit, for an undo.
package struct FileReplacement: Sendable {
    /// The physical path of the file.
    package let path: String
    /// The bytes before the commit; nil if there was no file. For a damaged file, the newest known state, because its
    /// bytes are in quarantine.
    package let before: Data?
    /// The bytes after the commit; nil if the file was removed.
    package let after: Data?

    package init(path: String, before: Data?, after: Data?) {
        self.path = path
        self.before = before
        self.after = after
    }

}

/// What the tool `prefs` asks of the engine for the writes of a task: it also changes files of other programs, and undoes
/// its writes.
package struct ToolHook: Sendable {
    /// nil, the default, for every other program.
    @TaskLocal package static var current: ToolHook?

    /// The physical paths of the program's own files; nil means that all files are its own.
    ///
    /// An update of another file leaves nothing beside it: it removes the lock file (but not on a server), makes no last
    /// good copy, and gives a new file the permissions of the umask. The file of a domain, and a file that already has a
    /// last good copy, count as own files.
    package var ownFiles: Set<String>?
    /// Called with each commit, under the write lock, after the file was replaced.
    package var committed: (@Sendable (FileReplacement) -> Void)?

    package init(ownFiles: Set<String>? = nil, committed: (@Sendable (FileReplacement) -> Void)? = nil) {
        (self.ownFiles, self.committed) = (ownFiles, committed)
    }
}

extension PropertyListFile {
    /// Tells the tool of a commit.
    ///
    /// - Parameter former: the former bytes, if they were read before the replacement.
    func noteReplacement(
        of base: Snapshot, _ former: Result<Data?, any Error>? = nil, by bytes: Data?, under writeLock: WriteLock
    ) {
        guard let observer = ToolHook.current?.committed else { return }
        // If the former bytes cannot be read, there is nothing to report.
        guard case .success(let before) = former ?? Result(catching: { try formerBytes(of: base, under: writeLock) })
        else { return }
        observer(FileReplacement(path: names.path, before: before, after: bytes))
    }

    func formerBytes(of base: Snapshot, under writeLock: WriteLock) throws -> Data? {
        guard let fault = base.fault, fault.kind == .damage else { return try bytes(of: base, under: writeLock) }
        return try base.content.map { try encoded($0, replacing: base).bytes }
    }

    private func bytes(of snapshot: Snapshot, under writeLock: WriteLock) throws(StorageFailure) -> Data? {
        guard let file = try snapshot.file?.opened(names.file, under: writeLock), let status = snapshot.status
        else {
            return nil
        }
        return try system.readAll(file.descriptor, size: status.size, limit: PropertyListLimits.fileBytes)
    }

    /// Restores the former bytes, if the file still has the bytes of that commit.
    ///
    /// - Throws: `FileError`; nothing has changed then, unless it is `durabilityUnconfirmed`.
    package func restore(_ replacement: FileReplacement) throws {
        let (writeLock, base) = try lockedState { writeLock in
            let base = try current(nil, under: writeLock)
            guard let currentMirror, let base, base.fault == nil else { return base }
            currentMirror.willChange()
            return try current(nil, under: writeLock)
        }
        defer { writeLock.end() }
        guard try bytes(of: base, under: writeLock) == replacement.after else {
            throw FileError.notStored(StorageFailure(path: names.path, reason: "has changed since that write"))
        }
        guard let bytes = replacement.before else {
            try removeFile(base, durability: .powerCut, under: writeLock)
            noteReplacement(of: base, .success(replacement.after), by: nil, under: writeLock)
            currentMirror?.didChange()
            currentMirror?.note(nil)
            return
        }
        if let former = try? Self.decode(bytes, as: root, in: rules.formats) {
            try store(
                former.content, as: (bytes, former.format), replacing: base, durability: .powerCut, under: writeLock)
        } else {
            try storeForeign(bytes, replacing: base, under: writeLock)
            noteReplacement(of: base, .success(replacement.after), by: bytes, under: writeLock)
        }
    }
}
