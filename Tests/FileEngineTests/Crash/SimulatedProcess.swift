import Foundation

@testable import PrefsFileEngine

/// A machine with a simulated disk and locks. Everything on it runs on one thread.
final class SimulatedMachine: @unchecked Sendable {
    var volume: SimulatedVolume
    /// The descriptors that hold the locks on files.
    fileprivate var locks: [SimulatedVolume.Inode: SystemCalls.Descriptor] = [:]
    fileprivate var lastDescriptor: SystemCalls.Descriptor = 100

    init(_ volume: SimulatedVolume) { self.volume = volume }
}

/// The system calls of a process on a simulated machine. A lock that is held fails with EWOULDBLOCK.
final class SimulatedProcess: SystemCalls, @unchecked Sendable {
    private struct Open {
        let inode: SimulatedVolume.Inode
        var offset = 0
    }

    private let machine: SimulatedMachine
    private var table: [Descriptor: Open] = [:]
    /// Called before each call except `close`, with its name. If it throws, the call reports that error.
    var onCall: ((String) throws(StorageFailure) -> Void)?
    private(set) var flushes = 0
    /// The flush that fails, by its number from 1.
    var failingFlush = 0

    init(_ machine: SimulatedMachine) {
        self.machine = machine
    }

    private var volume: SimulatedVolume {
        get { machine.volume }
        set { machine.volume = newValue }
    }

    private func inode(of descriptor: Descriptor, _ operation: String) throws(StorageFailure) -> Int {
        if descriptor == AT_FDCWD { return SimulatedVolume.root }
        guard let open = table[descriptor] else { throw StorageFailure(operation, "", code: EBADF) }
        return open.inode
    }

    /// Begins a call.
    private func begin(_ operation: String, _ descriptor: Descriptor) throws(StorageFailure) -> Int {
        try onCall?(operation)
        return try inode(of: descriptor, operation)
    }

    /// Begins a call. Returns the folder of a path, and the last name in it.
    private func place(
        _ path: String, in folder: Descriptor, _ operation: String
    ) throws(StorageFailure) -> (folder: Int, name: String) {
        let start = try begin(operation, folder)
        guard let slash = path.lastIndex(of: "/") else { return (start, path) }
        guard let above = volume.inode(at: String(path[..<slash]), from: start) else {
            throw StorageFailure(operation, path, code: ENOENT)
        }
        return (above, String(path[path.index(after: slash)...]))
    }

    private func status(_ inode: Int) -> FileStatus {
        let node = volume[inode]
        var buffer = stat()
        buffer.st_mode = (node.kind == .file ? S_IFREG : S_IFDIR) | node.mode
        buffer.st_ino = ino_t(inode)
        buffer.st_uid = node.owner
        buffer.st_gid = node.group
        buffer.st_nlink = .init(volume.links(to: inode))
        buffer.st_size = .init(node.bytes.count)
        var status = FileStatus(buffer)
        status.modified = FileStatus.Time(seconds: 1_000, nanoseconds: node.writeStamp)
        status.changed = FileStatus.Time(seconds: 1_000, nanoseconds: node.stamp)
        return status
    }

    // MARK: - Files

    override func open(
        _ name: String, in folder: Descriptor, _ flags: Int32, mode: mode_t
    ) throws(StorageFailure) -> Descriptor {
        let place = try place(name, in: folder, "open")
        var found = volume.inode(at: name == "/" ? "/" : place.name, from: place.folder)
        if flags & O_CREAT != 0 {
            guard found == nil || flags & O_EXCL == 0 else { throw StorageFailure("open", name, code: EEXIST) }
            found = found ?? volume.create(.file, place.name, in: place.folder, mode: mode)
        }
        guard let inode = found else { throw StorageFailure("open", name, code: ENOENT) }
        if flags & O_DIRECTORY != 0, volume[inode].kind != .folder {
            throw StorageFailure("open", name, code: ENOTDIR)
        }
        machine.lastDescriptor += 1
        table[machine.lastDescriptor] = Open(inode: inode)
        return machine.lastDescriptor
    }

    override func close(_ descriptor: Descriptor) {
        release(descriptor)
        table[descriptor] = nil
    }

    override func status(of descriptor: Descriptor) throws(StorageFailure) -> FileStatus {
        status(try begin("fstat", descriptor))
    }

    override func status(
        ofPath name: String, in folder: Descriptor, followsLinks: Bool
    ) throws(StorageFailure) -> FileStatus? {
        volume.inode(at: name, from: try begin("stat", folder)).map(status)
    }

    override func read(
        _ descriptor: Descriptor, into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(StorageFailure) -> Int {
        let rest = volume[try begin("read", descriptor)].bytes.dropFirst(offset).prefix(buffer.count)
        buffer.copyBytes(from: rest)
        return rest.count
    }

    override func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Descriptor) throws(StorageFailure) -> Int {
        let inode = try begin("write", descriptor)
        let offset = table[descriptor]?.offset ?? 0
        // The first write is short.
        let piece = Array(bytes.prefix(offset == 0 ? 1 + bytes.count / 2 : bytes.count))
        volume.write(piece, to: inode, at: offset)
        table[descriptor]?.offset += piece.count
        return piece.count
    }

    override func truncate(_ descriptor: Descriptor, to size: Int) throws(StorageFailure) {
        volume.truncate(try begin("truncate", descriptor), to: size)
    }

    override func synchronize(_ descriptor: Descriptor) throws(StorageFailure) {
        let inode = try inode(of: descriptor, "fsync")
        do throws(StorageFailure) {
            try onCall?("fsync")
            flushes += 1
            if flushes == failingFlush { throw StorageFailure("fsync", "", code: EIO) }
        } catch {
            volume.failFlush(inode)
            throw error
        }
        volume.flush(inode)
    }

    override func setPermissions(_ mode: UInt32, of descriptor: Descriptor) throws(StorageFailure) {
        volume[try begin("chmod", descriptor)].mode = mode
    }

    /// Files have no attributes here.
    override func copyAttributes(from old: Descriptor?, to new: Descriptor) throws(StorageFailure) {
        if old != nil { try onCall?("setxattr") }
    }

    override func names(in folder: Descriptor) throws(StorageFailure) -> Set<String> {
        Set(volume[try begin("readdir", folder)].entries.keys).union([".", ".."])
    }

    override func fileSystem(of descriptor: Descriptor) -> FileSystem { .local }

    override func hasAccessControlList(_ descriptor: Descriptor) throws(StorageFailure) -> Bool { false }

    override func setOwner(_ owner: uid_t, group: gid_t, of descriptor: Descriptor) throws(StorageFailure) {
        let inode = try begin("chown", descriptor)
        (volume[inode].owner, volume[inode].group) = (owner, group)
    }

    // MARK: - Names

    override func rename(_ name: String, to newName: String, in folder: Descriptor) throws(StorageFailure) {
        let old = try place(name, in: folder, "rename")
        let new = (folder: try inode(of: folder, "rename"), name: newName)
        guard let inode = volume[old.folder].entries[old.name] else {
            throw StorageFailure("rename", name, code: ENOENT)
        }
        // Each folder may be on its own disk.
        guard old.folder == new.folder else { throw StorageFailure("rename", name, code: EXDEV) }
        volume.change(new.folder, .rename(old.name, to: new.name, inode))
        volume.touch(inode)
    }

    override func link(_ name: String, to newName: String, in folder: Descriptor) throws(StorageFailure) {
        let place = try place(name, in: folder, "link")
        guard let inode = volume[place.folder].entries[name] else { throw StorageFailure("link", name, code: ENOENT) }
        guard volume[place.folder].entries[newName] == nil else { throw StorageFailure("link", name, code: EEXIST) }
        volume.change(place.folder, .set(newName, inode))
        volume.touch(inode)
    }

    override func remove(_ name: String, in folder: Descriptor) throws(StorageFailure) {
        let place = try place(name, in: folder, "unlink")
        guard volume[place.folder].entries[place.name] != nil else {
            throw StorageFailure("unlink", name, code: ENOENT)
        }
        volume.change(place.folder, .remove(place.name))
    }

    override func makeFolder(_ name: String, in folder: Descriptor, mode: mode_t) throws(StorageFailure) {
        let place = try place(name, in: folder, "mkdir")
        guard volume[place.folder].entries[place.name] == nil else { throw StorageFailure("mkdir", name, code: EEXIST) }
        _ = volume.create(.folder, place.name, in: place.folder, mode: mode)
    }

    // MARK: - Locks and time

    override func lock(_ descriptor: Descriptor, waits: Bool) throws(StorageFailure) {
        let inode = try begin("flock", descriptor)
        if let holder = machine.locks[inode], holder != descriptor {
            throw StorageFailure("flock", "", code: EWOULDBLOCK)
        }
        machine.locks[inode] = descriptor
    }

    override func unlock(_ descriptor: Descriptor) {
        release(descriptor)
    }

    private func release(_ descriptor: Descriptor) {
        machine.locks = machine.locks.filter { $0.value != descriptor }
    }

    /// A time long after all events, so that every file is settled.
    override func wallClockNow() -> FileStatus.Time {
        FileStatus.Time(seconds: 10_000, nanoseconds: 0)
    }

    override func nextStamp() -> FileStatus.Time { wallClockNow() }

    /// A second passes between two looks, so that no program is saving the file.
    override func monotonicNow() -> Duration {
        seconds += 1
        return .seconds(seconds)
    }

    nonisolated(unsafe) private var seconds = 0

    override func pause() {}
}
