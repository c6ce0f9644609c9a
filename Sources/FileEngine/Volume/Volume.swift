import Foundation
import PrefsPropertyLists

/// What differs between a local file system and that of a server. What reads, locks, writes or mends a file asks its
/// volume, and does not know which of them it is. (Below it, single calls of the system do: the check before a close, modes and
/// attributes.)
///
/// | question | local | overlay | server | SMB |
/// |---|---|---|---|---|
/// | Is a file kept open? (`keepsFiles`) | yes | yes | no, because an open file may be in the way | no |
/// | Does an open file show that it was replaced? (`openFilesShowReplacement`) | yes | no | no | no |
/// | Do numbers, times and owners tell files apart? (`tellsFilesApart`) | yes | yes | no: the bytes are compared | no |
/// | How is it opened under the lock? (`openLocked`) | to read | to read | to read | to write |
/// | How is it replaced? (`replace`) | by a rename | by a rename | by a rename | the old file gets a name of its own before |
/// | What is done after the lock was taken? (`settle`) | nothing | nothing | the folder is opened again | and a replacement is ended |
/// | Can it have a second name? (`link`) | yes | yes | no | no |
package struct Volume: Sendable {
    private let kind: FileSystem

    static let local = Volume(kind: .local)

    private init(kind: FileSystem) {
        self.kind = kind
    }

    init(of descriptor: SystemCalls.Descriptor, _ system: SystemCalls) {
        kind = system.fileSystem(of: descriptor)
    }

    /// Whether a file stays open as long as its state is known. If not, it is opened for each question.
    var keepsFiles: Bool { !kind.isOnServer }

    /// Whether the status of an open file shows that another file has taken its name.
    var openFilesShowReplacement: Bool { kind == .local }

    /// Whether two files, two states of a file and two owners differ in their status, and each name is shown at every moment. On a
    /// server, numbers change by themselves, its clock stamps the times, and all files may be shown as another user's.
    var tellsFilesApart: Bool { !kind.isOnServer }

    /// Whether a status may be that of the known file.
    func mayBe(_ there: FileStatus, _ known: FileStatus) -> Bool { !tellsFilesApart || there.isSameFile(as: known) }

    // MARK: - Opening

    /// Opens a regular file by its name in a folder, and returns it with its status; nil if it is missing.
    func open(
        _ name: String, in folder: SystemCalls.Descriptor, _ access: Int32, _ lifetime: OpenFile.Lifetime,
        _ system: SystemCalls
    ) throws(StorageFailure) -> (file: OpenFile, status: FileStatus)? {
        let opened = try system.openFile(name, in: folder, access, lifetime)
        if let opened { willClose(opened.file, system) }
        return opened
    }

    /// Opens a regular file by its physical path; nil if it is missing.
    func open(
        _ names: FileNames, _ lifetime: OpenFile.Lifetime, _ system: SystemCalls
    ) throws(StorageFailure) -> (file: OpenFile, status: FileStatus)? {
        let opened = try system.openFile(names, lifetime)
        if let opened { willClose(opened.file, system) }
        return opened
    }

    /// As `open`. Opens the former file while another process gives a new one its name, on SMB.
    func openOrFormer(
        _ names: FileNames, _ lifetime: OpenFile.Lifetime, _ system: SystemCalls
    ) throws(StorageFailure) -> (file: OpenFile, status: FileStatus)? {
        if let file = try open(names, lifetime, system) { return file }
        guard kind == .smb else { return nil }
        for _ in Attempts.all {
            let former = try open(FileNames(path: names.path(of: names.former)), lifetime, system)
            // The new file may have got its name in between.
            if let file = try open(names, lifetime, system) { return file }
            guard let former else { return nil }
            if try system.status(ofPath: names.path(of: names.temporary), followsLinks: false) != nil { return former }
        }
        return nil
    }

    /// Opens the regular file that has the name, for a process that holds the write lock.
    ///
    /// The client of SMB also shares a file that another process has open with the same flags, although it was replaced. So on
    /// SMB it is opened for writing, if the caller may write it, as nobody else opens it.
    func openLocked(
        _ name: String, in folder: SystemCalls.Descriptor, _ lifetime: OpenFile.Lifetime, _ system: SystemCalls
    ) throws(StorageFailure) -> (file: OpenFile, status: FileStatus)? {
        do {
            return try open(name, in: folder, kind == .smb ? O_RDWR : O_RDONLY, lifetime, system)
        } catch  where kind == .smb && [EACCES, EPERM, EROFS].contains(error.code) {
            return try open(name, in: folder, O_RDONLY, lifetime, system)
        }
    }

    /// Opens a name that this process has given to a file a moment ago.
    func reopen(
        _ name: String, in folder: SystemCalls.Descriptor, _ lifetime: OpenFile.Lifetime, _ system: SystemCalls
    ) throws(StorageFailure) -> (file: OpenFile, status: FileStatus) {
        let opened = try system.reopen(name, in: folder, O_RDONLY, lifetime)
        willClose(opened.file, system)
        return opened
    }

    /// The client of SMB keeps a file for a second after its close.
    func willClose(_ file: OpenFile, _ system: SystemCalls) {
        if kind == .smb { system.endsAtClose(file.descriptor) }
    }

    // MARK: - Reading

    /// The bytes of an open file.
    ///
    /// - Parameter size: that of its status, which may be an old one on a server.
    func bytes(
        of file: OpenFile, size: Int, limit: Int, _ system: SystemCalls
    ) throws(StorageFailure) -> Data {
        try system.readAll(file.descriptor, size: size, isKnown: tellsFilesApart, limit: limit)
    }

    /// What has happened to an open file while its bytes were read.
    enum Change {
        case none
        case bytes
        /// It has lost its name, or has a new status and the same bytes.
        case nameOrStatus
    }

    /// - Parameters:
    ///   - status: before the bytes were read.
    ///   - now: after that.
    func change(
        of file: OpenFile, from status: FileStatus, to now: FileStatus, bytes: Data, limit: Int, _ system: SystemCalls
    ) throws(StorageFailure) -> Change {
        if now == status { return .none }
        guard tellsFilesApart else {
            // Numbers and times change there by themselves: rclone stamps a file when it is read.
            let again = try system.readAll(file.descriptor, size: bytes.count, isKnown: false, limit: limit)
            return again.hasSameBytes(as: bytes) ? .none : .bytes
        }
        let hasChanged = (now.size, now.modified) != (status.size, status.modified)
        return now.links > 0 && hasChanged ? .bytes : .nameOrStatus
    }

    /// Whether a failure of a call on an open file says that the file was replaced.
    func tellsOfReplacement(_ failure: StorageFailure) -> Bool {
        !tellsFilesApart && [ENOENT, ESTALE].contains(failure.code)
    }

    // MARK: - The lock

    /// The folder of a lock that was just taken: a client of NFS answers from what it knew of the folder before. Ends what a
    /// writer began that was killed while it replaced the file on SMB.
    func settle(
        _ folder: OpenFile, _ names: FileNames, _ system: SystemCalls
    ) throws(StorageFailure) -> OpenFile {
        guard kind.isOnServer else { return folder }
        let again = OpenFile.kept(try system.openFolder(names.folder), system)
        // The lock is in the folder that was opened first.
        let (first, second) = (folder.descriptor, again.descriptor)
        guard try system.status(of: first).isSameFile(as: system.status(of: second)) else {
            throw StorageFailure("open", "", code: ELOOP)
        }
        if kind == .smb { try settleFormer(names, in: again.descriptor, system) }
        return again
    }

    private func settleFormer(
        _ names: FileNames, in folder: SystemCalls.Descriptor, _ system: SystemCalls
    ) throws(StorageFailure) {
        // Only the list of the folder comes from the server: the client remembers for a second which single names exist.
        let there = try system.names(in: folder)
        if there.contains(names.former) {
            if !there.contains(names.file), there.contains(names.temporary) {
                try system.rename(names.former, to: names.file, in: folder)
            } else {
                removeFormer(names, in: folder, system)
            }
        }
        for name in there where name.hasPrefix(names.former + "-") { try? system.remove(name, in: folder) }
    }

    // MARK: - Replacing

    /// Completes a file that was written and flushed: some servers report only at a close that they have no room.
    func complete(_ file: OpenFile, _ system: SystemCalls) throws(StorageFailure) {
        if kind.isOnServer { try system.closeCopyRetrying(of: file.descriptor) }
    }

    /// Whether the file at the path is as it was when a new one was made, so that the new one has its permissions.
    func isStill(_ there: FileStatus?, _ old: FileStatus?) -> Bool {
        there == old || !tellsFilesApart && there?.hasPermissions(of: old) == true
    }

    /// Whether the temporary file of a failed replacement stays, because it says that the former file may have to get its name
    /// back.
    ///
    /// - Parameter isUnknown: whether it is unknown which file has the name.
    func keepsTemporary(isUnknown: Bool) -> Bool { isUnknown && kind == .smb }

    /// Gives a new file its name. After a failure, looks at the names, because a server or a device can report an error
    /// although it has renamed the file.
    ///
    /// - Parameters:
    ///   - new: the status of the new file.
    ///   - replaces: whether there is a file of that name.
    ///   - isUnknown: set to true if the names do not show whether the file was renamed.
    func replace(
        _ names: FileNames, by new: FileStatus, replaces: Bool, isUnknown: inout Bool,
        in folder: SystemCalls.Descriptor, _ system: SystemCalls
    ) throws(StorageFailure) {
        let isAside = kind == .smb && replaces
        do throws(StorageFailure) {
            // The client removes a file that is open instead of replacing it, so it is renamed first.
            if isAside { try system.rename(names.file, to: names.former, in: folder) }
            try system.rename(names.temporary, to: names.file, in: folder)
        } catch {
            if !isThere(new, as: names.file, names, in: folder, system) {
                isUnknown = !isThere(new, as: names.temporary, names, in: folder, system)
                if isAside { isUnknown = !bringsFormerBack(names, in: folder, system) || isUnknown }
                throw error
            }
        }
        if isAside { removeFormer(names, in: folder, system) }
    }

    private func isThere(
        _ new: FileStatus, as name: String, _ names: FileNames, in folder: SystemCalls.Descriptor, _ system: SystemCalls
    ) -> Bool {
        guard let there = try? system.status(ofPath: name, in: folder, followsLinks: false) else { return false }
        // Where numbers change by themselves, nobody else has a file of the temporary name.
        return there.isSameFile(as: new) || !tellsFilesApart && name == names.temporary
    }

    /// Gives the former file its name back.
    ///
    /// - Returns: whether the file is there. If not, the next writer brings it back, because a temporary file is there.
    private func bringsFormerBack(
        _ names: FileNames, in folder: SystemCalls.Descriptor, _ system: SystemCalls
    ) -> Bool {
        func there() -> Set<String> { (try? system.names(in: folder)) ?? [] }
        let found = there()
        if found.contains(names.former), !found.contains(names.file) {
            try? system.rename(names.former, to: names.file, in: folder)
        }
        return there().contains(names.file)
    }

    /// Removes the former file after a replacement on SMB. While another program has it open, its name is not free, but the
    /// next replacement needs that name. The next writer removes what this leaves.
    private func removeFormer(_ names: FileNames, in folder: SystemCalls.Descriptor, _ system: SystemCalls) {
        let name = "\(names.former)-\(getpid())-\(Int(system.monotonicNow() / .milliseconds(1)))"
        guard (try? system.rename(names.former, to: name, in: folder)) != nil else { return }
        try? system.remove(name, in: folder)
    }

    /// Removes the file that a killed writer has left. On a server, another client may have removed it.
    func removeLeft(
        _ name: String, in folder: SystemCalls.Descriptor, _ system: SystemCalls
    ) throws(StorageFailure) {
        do throws(StorageFailure) {
            try system.remove(name, in: folder)
        } catch  where error.code == ENOENT && !tellsFilesApart {}
    }

    /// Gives a file a second name.
    ///
    /// - Throws: ENOTSUP on a server, where a second name may have another number or size; the caller makes a copy.
    func link(
        _ name: String, to second: String, in folder: SystemCalls.Descriptor, _ system: SystemCalls
    ) throws(StorageFailure) {
        guard tellsFilesApart else { throw StorageFailure("link", second, code: ENOTSUP) }
        try system.link(name, to: second, in: folder)
    }
}
