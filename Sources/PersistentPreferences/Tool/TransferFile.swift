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
            let folder = OpenFile(try FileSession.openFolder(names.folder, system), system)
            let old = try system.status(ofPath: names.file, in: folder.descriptor, followsLinks: false)
            switch old?.kind {
            case .file, nil: break
            case .folder: throw StorageFailure("open", path, code: EISDIR)
            case .link: throw StorageFailure("open", path, code: ELOOP)
            case .other(let kind): throw StorageFailure(path: path, reason: "is \(kind), and no file")
            }
            let temporary = ".\(UUID().uuidString).tmp"
            let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
            let file = OpenFile(
                try system.openRetrying(temporary, in: folder.descriptor, flags, mode: 0o600), system)
            do throws(StorageFailure) {
                if let old { try Permissions(old).apply(to: file.descriptor, system) }
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

    /// Everything in a file, up to what an import may have and a byte more. Pipes and devices are read, too.
    ///
    /// - Parameter path: nil stands for the standard input.
    package static func read(_ path: String?) throws(StorageFailure) -> Data {
        let system = SystemCalls.real
        do throws(StorageFailure) {
            guard let path else { return try read(STDIN_FILENO) }
            let file = OpenFile(try system.openRetrying(path, in: AT_FDCWD, O_RDONLY), system)
            return try read(file.descriptor)
        } catch {
            throw error.at(path ?? "standard input")
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
