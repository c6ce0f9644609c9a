import Foundation

/// Calls carried through: interruptions are tried again, short counts go on where they stopped.
extension SystemCalls {
    /// The bytes of a file from its beginning, at most `limit` of them.
    func readAll(_ descriptor: Descriptor, size: Int, limit: Int) throws(StorageFailure) -> Data {
        guard size <= limit else {
            throw StorageFailure(path: "", reason: "larger than \(limit >> 20) MiB")
        }
        var bytes = Data(count: size)
        var count = 0
        while count < size {
            let start = count
            let read = try bytes.withMutableBytes { buffer throws(StorageFailure) in
                let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[start...])
                return try retrying { () throws(StorageFailure) in try self.read(descriptor, into: rest, at: start) }
            }
            if read == 0 { break }
            count += read
        }
        // A file that shrank meanwhile: its status has changed too, and the caller looks again.
        return count == size ? bytes : bytes.prefix(count)
    }

    func writeAll(_ bytes: Data, to descriptor: Descriptor) throws(StorageFailure) {
        try bytes.withBytes { buffer throws(StorageFailure) in
            var count = 0
            while count < buffer.count {
                let rest = UnsafeRawBufferPointer(rebasing: buffer[count...])
                let written = try retrying { () throws(StorageFailure) in try self.write(rest, to: descriptor) }
                guard written > 0 else { throw StorageFailure("write", "", code: EIO) }
                count += written
            }
        }
    }

    func openRetrying(
        _ name: String, in folder: Descriptor, _ flags: Int32, mode: mode_t = 0
    ) throws(StorageFailure) -> Descriptor {
        try retrying { () throws(StorageFailure) in try open(name, in: folder, flags, mode: mode) }
    }

    func lockRetrying(_ descriptor: Descriptor) throws(StorageFailure) {
        try retrying { () throws(StorageFailure) in try lock(descriptor) }
    }

    func synchronizeRetrying(_ descriptor: Descriptor) throws(StorageFailure) {
        try retrying { () throws(StorageFailure) in try synchronize(descriptor) }
    }

    /// Some file systems (of user space, of networks) cannot flush folders, and say so.
    func synchronizeFolder(_ descriptor: Descriptor) throws(StorageFailure) {
        do {
            try synchronizeRetrying(descriptor)
        } catch  where error.code == EINVAL || error.code == ENOTSUP {}
    }

    private func retrying<R>(_ call: () throws(StorageFailure) -> R) throws(StorageFailure) -> R {
        while true {
            do {
                return try call()
            } catch  where error.code == EINTR {
                continue
            }
        }
    }
}

extension StorageFailure {
    /// The same failure with the path that the user knows in the place of a name within a folder.
    func at(_ path: String) -> StorageFailure {
        code == 0 ? StorageFailure(path: path, reason: reason) : StorageFailure(operation, path, code: code)
    }
}
