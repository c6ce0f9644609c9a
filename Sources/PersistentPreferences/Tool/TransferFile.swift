package import Foundation

/// The files that the harness exports to and imports from.
package enum TransferFile {
    /// Writes a file that holds the bytes or, after any failure or a kill, what it held before. On disk when the call
    /// returns.
    ///
    /// A new file is 0600, an existing one keeps mode, owner and group; links are followed. Folders are not made.
    package static func write(_ bytes: Data, to path: String) throws(StorageFailure) {
        let system = SystemCalls.real
        let names = FileNames(path: try PathResolution(path, system: system).target)
        do throws(StorageFailure) {
            let folder = OpenFile(try system.openFolder(names.folder), system)
            let old = try system.openFile(names.file, in: folder.descriptor)
            let temporary = ".\(UUID().uuidString).tmp"
            let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
            let file = OpenFile(
                try system.openRetrying(temporary, in: folder.descriptor, flags, mode: 0o600), system)
            do throws(StorageFailure) {
                if let old { try Permissions.all(of: old.file, old.status).apply(to: file.descriptor, system) }
                try system.writeAll(bytes, to: file.descriptor)
                try system.synchronizeRetrying(file.descriptor)
                try system.rename(temporary, to: names.file, in: folder.descriptor)
            } catch {
                try? system.remove(temporary, in: folder.descriptor)
                throw error
            }
            try system.synchronizeFolder(folder.descriptor)
        } catch {
            throw error.at(path)
        }
    }

    /// Everything in a file, up to what an import may have and a byte more. Pipes are read, too.
    ///
    /// - Parameter path: absolute; nil stands for the standard input.
    package static func read(_ path: String?) throws(StorageFailure) -> Data {
        let system = SystemCalls.real
        guard let path else {
            do throws(StorageFailure) { return try read(STDIN_FILENO) } catch { throw error.at("standard input") }
        }
        let resolution = try PathResolution(path, system: system)
        do throws(StorageFailure) {
            let flags = O_RDONLY | O_NOCTTY
            let descriptor: SystemCalls.Descriptor
            if resolution.links.contains(where: { $0.utf8.starts(with: "/proc/".utf8) }) {
                // The links of a process's open files lead to pipes, which have no path.
                descriptor = try system.openRetrying(path, in: AT_FDCWD, flags)
            } else {
                descriptor = try system.withFolder(of: FileNames(path: resolution.target)) {
                    folder, name throws(StorageFailure) in
                    try system.openRetrying(name, in: folder, flags | SystemCalls.followsNoLinks)
                }
            }
            defer { system.close(descriptor) }
            return try read(descriptor)
        } catch {
            throw error.at(path)
        }
    }

    private static func read(_ descriptor: Int32) throws(StorageFailure) -> Data {
        var bytes = Data()
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count <= PropertyListFile.sizeLimit {
            let count = Foundation.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw StorageFailure("read", "", code: errno) }
            if count == 0 { break }
            bytes += buffer[..<count]
        }
        return bytes
    }
}
