import Foundation

@testable import PersistentPreferences

/// The real system calls, counted, and made to fail on demand.
final class RecordingSystemCalls: SystemCalls, @unchecked Sendable {
    private let lock = NSLock()
    private var names: [String] = []
    private var faults: [String: [Int32]] = [:]

    /// A clock far ahead: every file is old, so that no read has to look at bytes again.
    var isClockAhead = true
    /// A clock that stands still: files are stamped with this time, and it is now.
    var frozenTime: FileStatus.Time?

    /// The calls since this was last asked.
    func takeCalls() -> [String] {
        lock.withLock {
            defer { names = [] }
            return names
        }
    }

    /// Makes the next calls of that name fail with these codes, one each.
    func fail(_ name: String, with codes: Int32...) {
        lock.withLock { faults[name, default: []] += codes }
    }

    private func record(_ name: String) throws(StorageFailure) {
        let code: Int32? = lock.withLock {
            names.append(name)
            guard let next = faults[name]?.first else { return nil }
            faults[name]?.removeFirst()
            return next
        }
        if let code { throw StorageFailure(name, "", code: code) }
    }

    override func open(
        _ name: String, in folder: Descriptor, _ flags: Int32, mode: mode_t
    ) throws(StorageFailure) -> Descriptor {
        try record("open")
        return try super.open(name, in: folder, flags, mode: mode)
    }

    override func close(_ descriptor: Descriptor) {
        try? record("close")
        super.close(descriptor)
    }

    override func status(of descriptor: Descriptor) throws(StorageFailure) -> FileStatus {
        try record("fstat")
        var status = try super.status(of: descriptor)
        if let frozenTime { (status.modified, status.changed) = (frozenTime, frozenTime) }
        return status
    }

    override func status(
        ofPath name: String, in folder: Descriptor, followsLinks: Bool
    ) throws(StorageFailure) -> FileStatus? {
        try record("stat")
        return try super.status(ofPath: name, in: folder, followsLinks: followsLinks)
    }

    override func read(
        _ descriptor: Descriptor, into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(StorageFailure) -> Int {
        try record("read")
        // Short on purpose: the caller has to go on.
        let piece = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(1 + buffer.count / 2))
        return try super.read(descriptor, into: piece, at: offset)
    }

    override func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Descriptor) throws(StorageFailure) -> Int {
        try record("write")
        return try super.write(UnsafeRawBufferPointer(rebasing: bytes.prefix(1 + bytes.count / 2)), to: descriptor)
    }

    override func synchronize(_ descriptor: Descriptor) throws(StorageFailure) {
        try record("fsync")
        try super.synchronize(descriptor)
    }

    override func rename(_ name: String, to newName: String, in folder: Descriptor) throws(StorageFailure) {
        try record("rename")
        try super.rename(name, to: newName, in: folder)
    }

    override func link(_ name: String, to newName: String, in folder: Descriptor) throws(StorageFailure) {
        try record("link")
        try super.link(name, to: newName, in: folder)
    }

    override func setOwner(_ owner: uid_t, group: gid_t, of descriptor: Descriptor) throws(StorageFailure) {
        try record("chown")
        try super.setOwner(owner, group: group, of: descriptor)
    }

    override func lock(_ descriptor: Descriptor, waits: Bool) throws(StorageFailure) {
        try record("flock")
        try super.lock(descriptor, waits: waits)
    }

    override func now() -> FileStatus.Time {
        if let frozenTime { return frozenTime }
        let now = super.now()
        return isClockAhead ? FileStatus.Time(seconds: now.seconds + 10, nanoseconds: 0) : now
    }

    override func pause() {
        try? record("pause")
    }
}
