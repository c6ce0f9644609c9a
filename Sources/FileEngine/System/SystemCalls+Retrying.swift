package import Foundation
import PrefsPropertyLists

/// Calls that are completed: interrupted calls are repeated, and short reads and writes are continued.
extension SystemCalls {
    /// The bytes of a file from its beginning, at most `limit` of them.
    ///
    /// - Parameter isKnown: false if the size may be an old one, as on a server.
    func readAll(_ descriptor: Descriptor, size: Int, isKnown: Bool, limit: Int) throws(StorageFailure) -> Data {
        if isKnown { return try readAll(descriptor, size: size, limit: limit) }
        // Asks for a byte more than there should be.
        var room = size < limit ? size + 1 : size
        while true {
            let bytes = try readAll(descriptor, size: room, limit: limit)
            if bytes.count < room || room == limit { return bytes }
            room = min(2 * room, limit)
        }
    }

    /// The bytes of a file from its beginning, at most `limit` of them.
    package func readAll(_ descriptor: Descriptor, size: Int, limit: Int) throws(StorageFailure) -> Data {
        guard size <= limit else {
            throw StorageFailure(path: "", reason: "larger than \(limit >> 20) MiB")
        }
        // Does not use a Data of that size, which would be filled with zeros first.
        guard let start = malloc(max(size, 1)) else { throw StorageFailure("malloc", "", code: ENOMEM) }
        let bytes = UnsafeMutableRawBufferPointer(start: start, count: size)
        var count = 0
        do throws(StorageFailure) {
            while count < size {
                let (rest, position) = (UnsafeMutableRawBufferPointer(rebasing: bytes[count...]), count)
                let read = try retrying { () throws(StorageFailure) in
                    try self.read(descriptor, into: rest, at: position)
                }
                if read == 0 { break }
                count += read
            }
        } catch {
            free(start)
            throw error
        }
        // If the file shrank, its status has changed too, and the caller reads it again.
        return Data(bytesNoCopy: start, count: count, deallocator: .free)
    }

    /// Writes the bytes at the current offset of the descriptor.
    ///
    /// - Parameter written: the number of bytes that the file has before them, which shows that the limit of its size is
    ///   reached; nil if it is unknown.
    package func writeAll(
        _ bytes: Data, to descriptor: Descriptor, behind written: Int? = 0
    ) throws(StorageFailure) {
        try bytes.withBytes { buffer throws(StorageFailure) in
            var count = 0
            while count < buffer.count {
                let rest = UnsafeRawBufferPointer(rebasing: buffer[count...])
                // A write at the limit would end the program with SIGXFSZ. A write that begins below the limit is
                // short, so only a limit of 0 concerns the first write.
                let limit = count == 0 && written == 0 ? Self.initialFileSizeLimit : fileSizeLimit()
                if let written, written + count >= limit { throw StorageFailure("write", "", code: EFBIG) }
                let next = try retrying { () throws(StorageFailure) in try self.write(rest, to: descriptor) }
                guard next > 0 else { throw StorageFailure("write", "", code: EIO) }
                count += next
            }
        }
    }

    @inline(never) package func openRetrying(
        _ name: String, in folder: Descriptor, _ flags: Int32, mode: mode_t = 0
    ) throws(StorageFailure) -> Descriptor {
        try retrying { () throws(StorageFailure) in try open(name, in: folder, flags, mode: mode) }
    }

    /// Opens a regular file by its name in a folder, and returns it with its status; nil if it is missing.
    ///
    /// Opens nothing else, because a terminal could become the terminal of the process, a device could act, and a FIFO
    /// could block.
    ///
    /// - Throws: ELOOP for a link.
    @inline(never) package func openFile(
        _ name: String, in folder: Descriptor, _ access: Int32 = O_RDONLY, _ lifetime: OpenFile.Lifetime = .call
    ) throws(StorageFailure) -> (file: OpenFile, status: FileStatus)? {
        guard let there = try status(ofPath: name, in: folder, followsLinks: false) else { return nil }
        try there.requireFile()
        do {
            return try reopen(name, in: folder, access, lifetime)
        } catch  where error.code == ENOENT {
            return nil
        }
    }

    /// Opens a file that this package keeps beside a preferences file, and returns it with its status; nil if it is missing.
    /// Looks at the name only if it cannot be opened, because all but such a file is rare there: the flags of `reopen` keep it
    /// from doing harm, and it is closed again.
    ///
    /// - Throws: ELOOP for a link.
    @inline(never) package func openSidecar(
        _ name: String, in folder: Descriptor, _ access: Int32 = O_RDONLY, _ lifetime: OpenFile.Lifetime = .call
    ) throws(StorageFailure) -> (file: OpenFile, status: FileStatus)? {
        do {
            return try reopen(name, in: folder, access, lifetime)
        } catch  where error.code == ENOENT {
            return nil
        } catch {
            // A folder and a socket have errors of their own.
            try status(ofPath: name, in: folder, followsLinks: false)?.requireFile()
            throw error
        }
    }

    /// Opens a name that was a regular file a moment ago. Another file may have taken it since: the flags keep a link,
    /// a FIFO or a terminal from doing harm.
    ///
    /// On servers, tries again while they still know the file that had the name before. The open of SMB then says EINVAL for a
    /// second, a call of NFS ESTALE; the status of a file in user space is missing.
    @inline(never) func reopen(
        _ name: String, in folder: Descriptor, _ access: Int32, _ lifetime: OpenFile.Lifetime
    ) throws(StorageFailure) -> (file: OpenFile, status: FileStatus) {
        do {
            return try reopenOnce(name, in: folder, access, lifetime)
        } catch  where Self.isReplaced(error) {}
        let end = monotonicNow() + .seconds(3)
        while true {
            pause()
            do {
                return try reopenOnce(name, in: folder, access, lifetime)
            } catch  where Self.isReplaced(error) && monotonicNow() < end {}
        }
    }

    private static func isReplaced(_ failure: StorageFailure) -> Bool {
        [EINVAL, ESTALE].contains(failure.code) || failure.code == ENOENT && failure.operation == "fstat"
    }

    private func reopenOnce(
        _ name: String, in folder: Descriptor, _ access: Int32, _ lifetime: OpenFile.Lifetime
    ) throws(StorageFailure) -> (file: OpenFile, status: FileStatus) {
        let flags = access | O_NONBLOCK | O_NOCTTY | Self.followsNoLinks
        let descriptor: Descriptor
        do {
            descriptor = try openRetrying(name, in: folder, flags)
        } catch  where error.code == EWOULDBLOCK {
            descriptor = try openLeased(name, in: folder, access)
        }
        do throws(StorageFailure) {
            let status = try status(of: descriptor)
            try status.requireFile()
            return (OpenFile(descriptor, self, lifetime, opened: status), status)
        } catch {
            close(descriptor)
            throw error
        }
    }

    /// Opens a regular file by its physical path, and returns it with its status; nil if it is missing.
    package func openFile(
        _ names: FileNames, _ lifetime: OpenFile.Lifetime = .call
    ) throws(StorageFailure) -> (file: OpenFile, status: FileStatus)? {
        do {
            return try withFolder(of: names) { folder, name throws(StorageFailure) in
                try openFile(name, in: folder, O_RDONLY, lifetime)
            }
        } catch  where error.code == ENOENT || error.code == ENOTDIR {
            return nil
        }
    }

    /// Opens the folder at a physical path.
    ///
    /// - Throws: ELOOP if a part of the path is a link by now.
    package func openFolder(_ path: String) throws(StorageFailure) -> Descriptor {
        try withFolder(of: FileNames(path: path)) { folder, name throws(StorageFailure) in
            try openFolder(name.isEmpty ? "/" : name, in: folder, O_RDONLY)
        }
    }

    func openFolder(
        _ name: String, in folder: Descriptor, _ flags: Int32
    ) throws(StorageFailure) -> Descriptor {
        var attempts = 0
        while true {
            do {
                return try openRetrying(name, in: folder, flags | O_DIRECTORY | Self.followsNoLinks)
            } catch  where error.code == ENOTDIR {
                attempts += 1
                // Linux reports this code for links, too.
                switch try status(ofPath: name, in: folder, followsLinks: false)?.kind {
                case .link: throw StorageFailure("open", name, code: ELOOP)
                // The folder replaced a link in between.
                case .folder where attempts < Attempts.all.count: continue
                default: throw error
                }
            }
        }
    }

    /// Whether a file is a mount of its own, as in a container. The watch of its folder hears nothing of it.
    func isMount(_ names: FileNames) -> Bool {
        guard let file = (try? openFile(names))?.file, let folder = try? openFolder(names.folder) else { return false }
        defer { close(folder) }
        return withExtendedLifetime(file) { Self.mount(of: file.descriptor) != Self.mount(of: folder) }
    }

    func lockRetrying(_ descriptor: Descriptor) throws(StorageFailure) {
        try retrying { () throws(StorageFailure) in try lock(descriptor) }
    }

    func closeCopyRetrying(of descriptor: Descriptor) throws(StorageFailure) {
        try retrying { () throws(StorageFailure) in try closeCopy(of: descriptor) }
    }

    @inline(never) package func synchronizeRetrying(_ descriptor: Descriptor) throws(StorageFailure) {
        try retrying { () throws(StorageFailure) in try synchronize(descriptor) }
    }

    /// Flushes a folder. Succeeds on file systems (in user space, on networks) that report that they cannot flush
    /// folders.
    package func synchronizeFolder(_ descriptor: Descriptor) throws(StorageFailure) {
        do {
            try synchronizeRetrying(descriptor)
        } catch  where error.code == EINVAL || error.code == ENOTSUP {}
    }

    /// The bytes of a file below /proc, which has no size before it is read: `Data(contentsOf:)` returns a page of it. nil if
    /// it is empty or cannot be read.
    package static func processFile(_ path: String) -> Data? {
        try? FileHandle(forReadingFrom: URL(filePath: path)).readToEnd()
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
    /// This failure with a path that the user knows instead of a name within a folder.
    @inline(never) package func at(_ path: String) -> StorageFailure {
        operation.isEmpty
            ? StorageFailure(path: path, reason: reason, code: code) : StorageFailure(operation, path, code: code)
    }
}
