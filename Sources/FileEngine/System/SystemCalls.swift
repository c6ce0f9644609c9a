import Foundation
import PrefsPropertyLists

/// Every system call of the engine, one method each. Tests override them to make calls fail.
///
/// A method makes its call once and throws its error. The caller handles interruptions and short counts
/// (`SystemCalls+Retrying.swift`). Messages contain the paths that the user knows.
///
/// Unchecked because tests subclass it. The class has no state.
package class SystemCalls: @unchecked Sendable {
    package static let real = SystemCalls()

    package typealias Descriptor = Int32

    /// `openat`; `folder` is `AT_FDCWD` for an independent path. The descriptor is 3 or higher.
    func open(
        _ name: String, in folder: Descriptor, _ flags: Int32, mode: mode_t = 0
    ) throws(StorageFailure) -> Descriptor {
        let descriptor = try check(openat(folder, name, flags | O_CLOEXEC, mode), "open", name)
        if descriptor > STDERR_FILENO { return descriptor }
        let moved = try check(StandardStreams.above(descriptor), "dup", name)
        // Removes the output that another thread has printed into the new file in the meantime.
        if flags & O_CREAT != 0 {
            _ = ftruncate(moved, 0)
            _ = lseek(moved, 0, SEEK_SET)
        }
        return moved
    }

    /// The descriptor is closed even if the call fails, so the error is ignored.
    package func close(_ descriptor: Descriptor) {
        _ = Foundation.close(descriptor)
    }

    /// Whether a descriptor still belongs to the file that was opened. On a server, the number of an open file may change.
    @inline(never) func isStill(_ opened: FileStatus, _ descriptor: Descriptor) -> Bool {
        do {
            let now = try status(of: descriptor)
            return now.isSameFile(as: opened) || now.device == opened.device && fileSystem(of: descriptor).isOnServer
        } catch {
            // The error of a server that does not answer does not concern the descriptor.
            return error.code != EBADF
        }
    }

    package func status(of descriptor: Descriptor) throws(StorageFailure) -> FileStatus {
        var buffer = stat()
        try check(fstat(descriptor, &buffer), "fstat", "")
        return FileStatus(buffer)
    }

    /// `fstatat`; nil if the file does not exist.
    @inline(never) package func status(
        ofPath name: String, in folder: Descriptor = AT_FDCWD, followsLinks: Bool
    ) throws(StorageFailure) -> FileStatus? {
        var buffer = stat()
        guard fstatat(folder, name, &buffer, followsLinks ? 0 : AT_SYMLINK_NOFOLLOW) == 0 else {
            let code = errno
            if code == ENOENT || code == ENOTDIR { return nil }
            throw StorageFailure("stat", name, code: code)
        }
        return FileStatus(buffer)
    }

    package func fileSystem(of descriptor: Descriptor) -> FileSystem { FileSystem(of: descriptor) }

    /// Whether the system tells of changes that others make to the files of a folder. Servers do not.
    func reportsChanges(inFolder path: String) -> Bool {
        FileSystem.reportsChanges(inFolder: path)
    }

    /// A time of a file or of its folder; nil if a server has set it, whose clock is another one.
    func stamp(_ time: FileStatus.Time, of path: String) -> FileStatus.Time? {
        reportsChanges(inFolder: FileNames(path: path).folder) ? time : nil
    }

    func read(
        _ descriptor: Descriptor, into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(StorageFailure) -> Int {
        try check(pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset)), "read", "")
    }

    /// Closes a second descriptor of a file that was written: some servers report only then that they have no room.
    func closeCopy(of descriptor: Descriptor) throws(StorageFailure) {
        let copy = try check(fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), "dup", "")
        try check(Foundation.close(copy), "close", "")
    }

    /// Makes the client of SMB close an open file when it is closed: it does so after a lock. Locks a byte behind every file,
    /// which is in nobody's way. If locks are not available, the file may be an old one for a second.
    func endsAtClose(_ descriptor: Descriptor) {
        var lock = flock()
        lock.l_type = Int16(F_RDLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = .max >> 1
        lock.l_len = 1
        _ = fcntl(descriptor, F_SETLK, &lock)
    }

    func write(
        _ bytes: UnsafeRawBufferPointer, to descriptor: Descriptor
    ) throws(StorageFailure) -> Int {
        try check(Foundation.write(descriptor, bytes.baseAddress, bytes.count), "write", "")
    }

    /// The size that a file of this process may have (`ulimit -f`).
    func fileSizeLimit() -> Int {
        Self.fileSizeLimit()
    }

    /// The limit at the first write of the process, because asking each time would cost each write a call.
    static let initialFileSizeLimit = fileSizeLimit()

    private static func fileSizeLimit() -> Int {
        #if canImport(Glibc)
            let resource = Int32(RLIMIT_FSIZE.rawValue)
        #else
            let resource = RLIMIT_FSIZE
        #endif
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return .max }
        return Int(clamping: limit.rlim_cur)
    }

    /// `ftruncate`.
    func truncate(_ descriptor: Descriptor, to size: Int) throws(StorageFailure) {
        try check(ftruncate(descriptor, off_t(size)), "truncate", "")
    }

    /// Asks the system to put a file or folder on the medium.
    func synchronize(_ descriptor: Descriptor) throws(StorageFailure) {
        try check(Self.synchronizeFully(descriptor), "fsync", "")
    }

    package func rename(
        _ name: String, to newName: String, in folder: Descriptor
    ) throws(StorageFailure) {
        try check(renameat(folder, name, folder, newName), "rename", name)
    }

    /// `linkat`: a second name for a file, never over another.
    func link(_ name: String, to newName: String, in folder: Descriptor) throws(StorageFailure) {
        try check(linkat(folder, name, folder, newName, 0), "link", name)
    }

    @inline(never) package func remove(_ name: String, in folder: Descriptor) throws(StorageFailure) {
        try check(unlinkat(folder, name, 0), "unlink", name)
    }

    func makeFolder(_ name: String, in folder: Descriptor, mode: mode_t) throws(StorageFailure) {
        try check(mkdirat(folder, name, mode), "mkdir", name)
    }

    /// The names in an open folder, with `.` and `..`.
    package func names(in folder: Descriptor) throws(StorageFailure) -> Set<String> {
        // Closed with the stream.
        let copy = try check(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open", "")
        guard let stream = fdopendir(copy) else { throw StorageFailure("fdopendir", "", code: errno) }
        defer { closedir(stream) }
        var names: Set<String> = []
        while let entry = readdir(stream) {
            withUnsafeBytes(of: &entry.pointee.d_name) { name in
                _ = names.insert(String(decoding: name.prefix { $0 != 0 }, as: UTF8.self))
            }
        }
        return names
    }

    package func setPermissions(_ mode: UInt32, of descriptor: Descriptor) throws(StorageFailure) {
        try check(fchmod(descriptor, mode_t(mode)), "chmod", "")
    }

    /// `fchmodat`; a link in the path's last place is not followed.
    func setPermissions(_ mode: mode_t, ofPath name: String, in folder: Descriptor) throws(StorageFailure) {
        try check(fchmodat(folder, name, mode, AT_SYMLINK_NOFOLLOW), "chmod", name)
    }

    /// Gives a new file the access control list and the extended attributes of another file. Removes a list that the
    /// new file inherited from its folder.
    ///
    /// - Parameter old: nil for a file with mode 0600, where an inherited list grants nothing.
    func copyAttributes(from old: Descriptor?, to new: Descriptor) throws(StorageFailure) {
        try ExtendedAttributes.copy(from: old, to: new)
    }

    /// Whether the file has an access control list that changes what the group bits of the mode mean.
    func hasAccessControlList(_ descriptor: Descriptor) throws(StorageFailure) -> Bool {
        try ExtendedAttributes.hasAccessControlList(descriptor)
    }

    /// The number of the file's protection class, which need not be one of `FileProtection`; nil if the system has no
    /// data protection.
    func protection(of descriptor: Descriptor) -> Int32? {
        Self.protection(of: descriptor)
    }

    func setProtection(_ protection: Int32, of descriptor: Descriptor) throws(StorageFailure) {
        try check(Self.setProtection(protection, of: descriptor), "protect", "")
    }

    func setOwner(_ owner: uid_t, group: gid_t, of descriptor: Descriptor) throws(StorageFailure) {
        try check(fchown(descriptor, owner, group), "chown", "")
    }

    /// `flock`, exclusive. Waits for the lock unless `waits` is false.
    func lock(_ descriptor: Descriptor, waits: Bool = true) throws(StorageFailure) {
        try check(flock(descriptor, waits ? LOCK_EX : LOCK_EX | LOCK_NB), "flock", "")
    }

    func unlock(_ descriptor: Descriptor) {
        _ = flock(descriptor, LOCK_UN)
    }

    func linkTarget(_ path: String, in folder: Descriptor = AT_FDCWD) throws(StorageFailure) -> String {
        // The last element stays zero.
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        _ = try check(readlinkat(folder, path, &buffer, Int(PATH_MAX)), "readlink", path)
        // Rejects a path that is not UTF-8, because a repaired path would name another file.
        let target = buffer.withUnsafeBufferPointer { $0.baseAddress.flatMap { String(validatingCString: $0) } }
        guard let target else {
            throw StorageFailure(path: path, reason: "leads to a name that is not UTF-8")
        }
        return target
    }

    /// The time of day, which no stamp of a local file is after. Compared with a stamp only where the process has not
    /// looked before, because somebody may set this clock.
    func wallClockNow() -> FileStatus.Time {
        Self.time(of: CLOCK_REALTIME)
    }

    /// The earliest time with which the file system may stamp a change that is made from now on.
    package func nextStamp() -> FileStatus.Time {
        Self.nextStamp()
    }

    /// The time of a clock that nobody sets, for durations.
    func monotonicNow() -> Duration {
        let time = Self.time(of: CLOCK_MONOTONIC)
        return .seconds(time.seconds) + .nanoseconds(time.nanoseconds)
    }

    static func time(of clock: clockid_t) -> FileStatus.Time {
        var time = timespec()
        clock_gettime(clock, &time)
        return FileStatus.Time(seconds: Int64(time.tv_sec), nanoseconds: time.tv_nsec)
    }

    /// Calls the handler when something happens to a name in a folder, until the returned object is released.
    func watch(
        _ names: FileNames, _ handler: @escaping FolderWatcher.Handler
    ) throws(StorageFailure) -> AnyObject {
        try FolderWatcher.shared.watch(names, handler)
    }

    /// Pauses, so that another program can complete its write.
    package func pause() {
        usleep(10_000)
    }

    @discardableResult
    private func check<Count: SignedInteger>(
        _ result: Count, _ operation: String, _ path: String
    ) throws(StorageFailure) -> Count {
        if result < 0 { try fail(operation, path) }
        return result
    }

    @inline(never) private func fail(_ operation: String, _ path: String) throws(StorageFailure) {
        throw StorageFailure(operation, path, code: errno)
    }
}
