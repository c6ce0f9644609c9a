import Foundation

/// Only the system calls of a durable replacement of a file under a lock. Every program would need them to give these
/// guarantees.
final class BareWrite {
    private let folder: String
    private let name: String
    private let bytes: Data
    private let keepsCopy: Bool
    /// The open file of the last write, as in a cache that validates itself.
    private var current: Int32 = -1

    /// - Parameter keepsCopy: whether the bytes are written a second time, in place and without a flush, as the last
    ///   good copy.
    init(_ file: URL, bytes: Data, keepsCopy: Bool) {
        folder = file.deletingLastPathComponent().path
        name = file.lastPathComponent
        self.bytes = bytes
        self.keepsCopy = keepsCopy
    }

    deinit {
        if current >= 0 { close(current) }
    }

    func callAsFunction() throws {
        let folder = try SystemError.check(open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open the folder")
        defer { close(folder) }
        let sidecar = try SystemError.check(
            openat(folder, ".\(name).lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600), "open the sidecar")
        defer { close(sidecar) }
        try SystemError.check(flock(sidecar, LOCK_EX), "flock")
        defer { flock(sidecar, LOCK_UN) }
        // Checks that others still lock this lock file, and that the file is still the cached one.
        var status = stat()
        try SystemError.check(fstat(sidecar, &status), "fstat")
        _ = fstatat(folder, ".\(name).lock", &status, AT_SYMLINK_NOFOLLOW)
        _ = fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW)

        let file = try Self.replace(name, by: bytes, in: folder)
        try SystemError.check(fstat(file, &status), "fstat")
        if current >= 0 { close(current) }
        current = file
        guard keepsCopy else { return }
        let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC
        let copy = try SystemError.check(openat(folder, ".\(name).lastgood", flags, 0o600), "open the copy")
        defer { close(copy) }
        try Self.write(bytes, to: copy)
    }

    /// Returns the new file, which stays open.
    static func replace(_ name: String, by bytes: Data, in folder: Int32) throws -> Int32 {
        let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let file = try SystemError.check(openat(folder, ".\(name).tmp", flags, 0o600), "open a temporary file")
        try write(bytes, to: file)
        try flush(file)
        try SystemError.check(renameat(folder, ".\(name).tmp", folder, name), "rename")
        try flush(folder)
        return file
    }

    private static func write(_ bytes: Data, to file: Int32) throws {
        try bytes.withUnsafeBytes { bytes in
            _ = try SystemError.check(Foundation.write(file, bytes.baseAddress, bytes.count), "write")
        }
    }

    private static func flush(_ descriptor: Int32) throws {
        #if canImport(Darwin)
            try SystemError.check(fcntl(descriptor, F_FULLFSYNC), "fsync")
        #else
            try SystemError.check(fsync(descriptor), "fsync")
        #endif
    }
}
