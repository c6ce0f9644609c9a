package import Foundation

extension SystemCalls {
    /// Writes a file atomically, without a lock. The bytes are on disk when the call returns. After a failure or a kill, the file has its former
    /// bytes.
    ///
    /// A new file has mode 0600, or another one without what the umask forbids. An existing file keeps its owner, group, mode, access control list
    /// and extended attributes. Links are followed, folders are not made.
    ///
    /// - Parameter mode: the mode of a new file; nil stands for 0600, whatever the umask is.
    package func replaceFile(at path: String, with bytes: Data, mode: mode_t? = nil) throws(StorageFailure) {
        let names = FileNames(path: try PathResolution(path, system: self).target)
        do throws(StorageFailure) {
            let folder = OpenFile(try openFolder(names.folder), self)
            let old = try openFile(names.file, in: folder.descriptor)
            try Self.refusePlanted(old?.status, in: status(of: folder.descriptor))
            let temporary = ".\(UUID().uuidString).tmp"
            let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
            let file = OpenFile(try openRetrying(temporary, in: folder.descriptor, flags, mode: mode ?? 0o600), self)
            do throws(StorageFailure) {
                try writeAll(bytes, to: file.descriptor)
                if let old {
                    try Permissions.all(of: old.file, old.status).apply(
                        to: file.descriptor, status(of: file.descriptor), self)
                } else if mode == nil {
                    // Ignores the umask.
                    try Permissions.set(0o600, of: file.descriptor, self)
                }
                try synchronizeRetrying(file.descriptor)
                try rename(temporary, to: names.file, in: folder.descriptor)
            } catch {
                try? remove(temporary, in: folder.descriptor)
                throw error
            }
            try synchronizeFolder(folder.descriptor)
        } catch {
            throw error.at(path)
        }
    }

    /// Rejects a file of another user in a folder like /tmp. That user may have made it in order to read what is written.
    private static func refusePlanted(_ file: FileStatus?, in folder: FileStatus) throws(StorageFailure) {
        guard let file, folder.permissions & 0o002 != 0, ![geteuid(), folder.owner].contains(file.owner) else { return }
        throw StorageFailure(path: "", reason: "belongs to another user, in a folder that everybody may write to")
    }
}
