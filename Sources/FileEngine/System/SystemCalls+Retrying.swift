package import Foundation
import PrefsPropertyLists

/// Calls that are completed: interrupted calls are repeated, and short reads and writes are continued.
extension SystemCalls {
    /// The bytes of a file from its beginning, at most `limit` of them.
    package func readAll(_ descriptor: Descriptor, size: Int, limit: Int) throws(StorageFailure) -> Data {
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
        // If the file shrank, its status has changed too, and the caller reads it again.
        return count == size ? bytes : bytes.prefix(count)
    }

    package func writeAll(_ bytes: Data, to descriptor: Descriptor) throws(StorageFailure) {
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

    package func openRetrying(
        _ name: String, in folder: Descriptor, _ flags: Int32, mode: mode_t = 0
    ) throws(StorageFailure) -> Descriptor {
        try retrying { () throws(StorageFailure) in try open(name, in: folder, flags, mode: mode) }
    }

    /// Opens a regular file, with its status; nil if there is none.
    ///
    /// Nothing else is opened: a terminal could become that of the process, a device could act, a FIFO could block.
    ///
    /// - Throws: ELOOP for a link.
    package func openFile(
        _ name: String, in folder: Descriptor, _ access: Int32 = O_RDONLY, isReplaceable: Bool = false
    ) throws(StorageFailure) -> (file: OpenFile, status: FileStatus)? {
        guard let there = try status(ofPath: name, in: folder, followsLinks: false) else { return nil }
        try there.requireFile()
        do {
            // Another file may have taken the name since. The flags keep a link, a FIFO or a terminal from doing harm.
            let flags = access | O_NONBLOCK | O_NOCTTY | Self.followsNoLinks
            let file = OpenFile(try openRetrying(name, in: folder, flags), self, isReplaceable: isReplaceable)
            let status = try status(of: file.descriptor)
            try status.requireFile()
            return (file, status)
        } catch  where error.code == ENOENT {
            return nil
        }
    }

    /// The same for a physical path.
    package func openFile(
        _ names: FileNames, isReplaceable: Bool = false
    ) throws(StorageFailure) -> (file: OpenFile, status: FileStatus)? {
        do {
            return try withFolder(of: names) { folder, name throws(StorageFailure) in
                try openFile(name, in: folder, isReplaceable: isReplaceable)
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
        do {
            return try openRetrying(name, in: folder, flags | O_DIRECTORY | Self.followsNoLinks)
        } catch  where error.code == ENOTDIR {
            // Linux says this of links too.
            let isLink = try status(ofPath: name, in: folder, followsLinks: false)?.kind == .link
            throw isLink ? StorageFailure("open", name, code: ELOOP) : error
        }
    }

    func lockRetrying(_ descriptor: Descriptor) throws(StorageFailure) {
        try retrying { () throws(StorageFailure) in try lock(descriptor) }
    }

    package func synchronizeRetrying(_ descriptor: Descriptor) throws(StorageFailure) {
        try retrying { () throws(StorageFailure) in try synchronize(descriptor) }
    }

    /// Some file systems (of user space, of networks) cannot flush folders, and say so.
    package func synchronizeFolder(_ descriptor: Descriptor) throws(StorageFailure) {
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
    package func at(_ path: String) -> StorageFailure {
        code == 0 ? StorageFailure(path: path, reason: reason) : StorageFailure(operation, path, code: code)
    }
}
