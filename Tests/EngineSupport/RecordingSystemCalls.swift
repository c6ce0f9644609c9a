import Foundation
import TestSupport

@testable import PrefsFileEngine

/// The real system calls, which are counted and can be made to fail.
final class RecordingSystemCalls: WatchedSystemCalls, @unchecked Sendable {
    private let lock = NSLock()
    private var names: [String] = []
    private var faults: [String: [Int32]] = [:]
    private var numberedFault: (number: Int, code: Int32, persists: Bool)?
    private var callsThatCanFail = 0
    private var opened: Set<Descriptor> = []
    private var straysClosed = 0

    /// Whether the clock is far ahead. Every file is then old, so that no read compares bytes again.
    var isClockAhead = true
    /// Whether a second passes between two looks, so that no other program is saving a file.
    var isLate = true
    /// The time of a clock that stands still, also in the stamps of files; nil for the real clock.
    var frozenTime: FileStatus.Time?

    /// A file or a folder, and how long ago it has changed by the clock, however long the test takes. The clock of
    /// durations then stands still, but for a later age and for pauses.
    var age: (path: String, time: Duration)? {
        get { lock.withLock { followed } }
        set {
            lock.withLock {
                if let former = followed?.time, let new = newValue?.time { elapsed += max(.zero, new - former) }
                followed = newValue
            }
        }
    }
    private var followed: (path: String, time: Duration)?
    /// What pauses and later ages have added to the monotonic clock.
    private var elapsed = Duration.zero
    private let start = SystemCalls.real.monotonicNow()

    /// The kind of every file system; nil for the real one.
    var kind: FileSystem?
    /// The size that each status of a file shows; nil for the real one.
    var shownSize: Int?
    /// Whether the number of a file is another one at each look.
    var hasChangingNumbers = false
    private var looks: UInt64 = 0

    /// Whether the faults of a test are over.
    var isHealed = false

    /// Whether flushes are really made. A test of something else is faster without them.
    var flushes = true

    /// Returns the calls since the last call of this method.
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

    /// Makes the call with that number fail, counted from now and from 1. If the fault persists, all later calls of
    /// that name fail, too.
    func failCall(_ number: Int, with code: Int32, persists: Bool = false) {
        lock.withLock {
            callsThatCanFail = 0
            failedCall = nil
            numberedFault = (number, code, persists)
        }
    }

    /// Ends all faults.
    func heal() {
        lock.withLock { numberedFault = nil }
    }

    /// The call that was made to fail by its number.
    private(set) var failedCall: String?

    /// The descriptors that were opened and not closed yet. Another test that looks into the registry may hold a file
    /// for a moment longer.
    var openDescriptors: Set<Descriptor> {
        let deadline = Patience.deadline
        var turns = 0
        while !lock.withLock({ opened.isEmpty }), ContinuousClock.now < deadline {
            turns += 1
            if turns < 1_000 { sched_yield() } else { usleep(1_000) }
        }
        return lock.withLock { opened }
    }

    /// The descriptors that are open at this moment.
    var openNow: Set<Descriptor> { lock.withLock { opened } }

    /// The number of descriptors that were closed although they were not open. Another thread may have got such a
    /// number in the meantime.
    var doubleCloses: Int { lock.withLock { straysClosed } }

    /// Called before each call with its name. If it throws, the call reports that error, if it can.
    var onCall: ((String) throws(StorageFailure) -> Void)? {
        get { lock.withLock { hook } }
        set { lock.withLock { hook = newValue } }
    }
    private var hook: ((String) throws(StorageFailure) -> Void)?

    /// Called before and after each opening. If the first one throws, the call reports that error.
    var beforeOpen: ((_ name: String, _ folder: Descriptor, _ flags: Int32) throws(StorageFailure) -> Void)?
    var afterOpen: ((_ name: String, _ opened: Descriptor, _ flags: Int32) -> Void)?
    /// Called before each look at a name.
    var beforeStatus: ((_ name: String) -> Void)?
    /// Called for each file that the client of SMB will not keep after its close.
    var onEndAtClose: ((_ descriptor: Descriptor) -> Void)?

    private func record(_ name: String, _ path: String = "") throws(StorageFailure) {
        try onCall?(name)
        let code: Int32? = lock.withLock {
            names.append(name)
            callsThatCanFail += 1
            if let fault = numberedFault {
                if callsThatCanFail == fault.number { failedCall = name }
                if callsThatCanFail == fault.number || fault.persists && failedCall == name { return fault.code }
            }
            guard let next = faults[name]?.first else { return nil }
            faults[name]?.removeFirst()
            return next
        }
        if let code { throw StorageFailure(name, path, code: code) }
    }

    override func open(
        _ name: String, in folder: Descriptor, _ flags: Int32, mode: mode_t
    ) throws(StorageFailure) -> Descriptor {
        try record("open", name)
        try beforeOpen?(name, folder, flags)
        let descriptor = try super.open(name, in: folder, flags, mode: mode)
        afterOpen?(name, descriptor, flags)
        _ = lock.withLock { opened.insert(descriptor) }
        return descriptor
    }

    override func close(_ descriptor: Descriptor) {
        try? onCall?("close")
        lock.withLock {
            names.append("close")
            if opened.remove(descriptor) == nil { straysClosed += 1 }
        }
        super.close(descriptor)
    }

    override func status(of descriptor: Descriptor) throws(StorageFailure) -> FileStatus {
        try record("fstat")
        return shown(try super.status(of: descriptor))
    }

    /// A status as the simulated file system shows it.
    private func shown(_ status: FileStatus) -> FileStatus {
        var status = status
        if let frozenTime { (status.modified, status.changed) = (frozenTime, frozenTime) }
        if let shownSize, status.kind == .file { status.size = shownSize }
        if hasChangingNumbers, status.kind == .file {
            status.inode = lock.withLock {
                looks += 1
                return status.inode + looks << 32
            }
        }
        return status
    }

    override func fileSystem(of descriptor: Descriptor) -> FileSystem { kind ?? super.fileSystem(of: descriptor) }

    override func reportsChanges(inFolder path: String) -> Bool {
        kind.map { !$0.isOnServer } ?? super.reportsChanges(inFolder: path)
    }

    override func endsAtClose(_ descriptor: Descriptor) {
        try? record("ends at close")
        onEndAtClose?(descriptor)
        super.endsAtClose(descriptor)
    }

    override func closeCopy(of descriptor: Descriptor) throws(StorageFailure) {
        do throws(StorageFailure) {
            try record("close copy")
        } catch {
            throw StorageFailure("close", "", code: error.code)
        }
        try super.closeCopy(of: descriptor)
    }

    override func status(
        ofPath name: String, in folder: Descriptor, followsLinks: Bool
    ) throws(StorageFailure) -> FileStatus? {
        try record("stat", name)
        beforeStatus?(name)
        let status = try super.status(ofPath: name, in: folder, followsLinks: followsLinks)
        return hasChangingNumbers || kind?.isOnServer == true ? status.map(shown) : status
    }

    override func read(
        _ descriptor: Descriptor, into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(StorageFailure) -> Int {
        try record("read")
        // Writes less on purpose, so that the caller must continue.
        let piece = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(1 + buffer.count / 2))
        return try super.read(descriptor, into: piece, at: offset)
    }

    override func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Descriptor) throws(StorageFailure) -> Int {
        try record("write")
        return try super.write(UnsafeRawBufferPointer(rebasing: bytes.prefix(1 + bytes.count / 2)), to: descriptor)
    }

    override func truncate(_ descriptor: Descriptor, to size: Int) throws(StorageFailure) {
        try record("truncate")
        try super.truncate(descriptor, to: size)
    }

    override func synchronize(_ descriptor: Descriptor) throws(StorageFailure) {
        try record("fsync")
        if flushes { try super.synchronize(descriptor) }
    }

    override func rename(_ name: String, to newName: String, in folder: Descriptor) throws(StorageFailure) {
        try record("rename", name)
        try super.rename(name, to: newName, in: folder)
    }

    override func link(_ name: String, to newName: String, in folder: Descriptor) throws(StorageFailure) {
        try record("link", name)
        try super.link(name, to: newName, in: folder)
    }

    override func remove(_ name: String, in folder: Descriptor) throws(StorageFailure) {
        try record("unlink", name)
        try super.remove(name, in: folder)
    }

    override func makeFolder(_ name: String, in folder: Descriptor, mode: mode_t) throws(StorageFailure) {
        try record("mkdir", name)
        try super.makeFolder(name, in: folder, mode: mode)
    }

    override func setPermissions(_ mode: UInt32, of descriptor: Descriptor) throws(StorageFailure) {
        try record("chmod")
        try super.setPermissions(mode, of: descriptor)
    }

    override func setPermissions(
        _ mode: mode_t, ofPath name: String, in folder: Descriptor
    ) throws(StorageFailure) {
        try record("chmod", name)
        try super.setPermissions(mode, ofPath: name, in: folder)
    }

    override func names(in folder: Descriptor) throws(StorageFailure) -> Set<String> {
        try record("readdir")
        return try super.names(in: folder)
    }

    override func hasAccessControlList(_ descriptor: Descriptor) throws(StorageFailure) -> Bool {
        try record("flistxattr")
        return try super.hasAccessControlList(descriptor)
    }

    override func copyAttributes(from old: Descriptor?, to new: Descriptor) throws(StorageFailure) {
        // Without an old file there is nothing to do on Linux.
        if old != nil { try record("setxattr") }
        try super.copyAttributes(from: old, to: new)
    }

    override func linkTarget(_ path: String, in folder: Descriptor) throws(StorageFailure) -> String {
        try record("readlink", path)
        return try super.linkTarget(path, in: folder)
    }

    override func setOwner(_ owner: uid_t, group: gid_t, of descriptor: Descriptor) throws(StorageFailure) {
        try record("chown")
        try super.setOwner(owner, group: group, of: descriptor)
    }

    override func lock(_ descriptor: Descriptor, waits: Bool) throws(StorageFailure) {
        try record("flock")
        try super.lock(descriptor, waits: waits)
    }

    override func unlock(_ descriptor: Descriptor) {
        try? onCall?("unlock")
        super.unlock(descriptor)
    }

    override func wallClockNow() -> FileStatus.Time {
        if let frozenTime { return frozenTime }
        if let age, let status = try? super.status(ofPath: age.path, in: AT_FDCWD, followsLinks: false) {
            let seconds = status.changed.seconds + age.time.components.seconds
            let nanoseconds = status.changed.nanoseconds + Int(age.time.components.attoseconds / 1_000_000_000)
            return FileStatus.Time(seconds: seconds, nanoseconds: nanoseconds)
        }
        let now = super.wallClockNow()
        return isLate ? FileStatus.Time(seconds: now.seconds + 10, nanoseconds: 0) : now
    }

    override func nextStamp() -> FileStatus.Time {
        if let frozenTime { return frozenTime }
        let stamp = super.nextStamp()
        return isClockAhead ? FileStatus.Time(seconds: stamp.seconds + 10, nanoseconds: 0) : stamp
    }

    override func monotonicNow() -> Duration {
        let now = super.monotonicNow()
        return lock.withLock {
            if followed == nil, frozenTime == nil {
                if !isLate { return now + elapsed }
                elapsed += .seconds(1)
            }
            return start + elapsed
        }
    }

    /// Lets the monotonic clock go on.
    func elapse(_ time: Duration) {
        lock.withLock { elapsed += time }
    }

    /// Lets the clock go on in place of the thread.
    override func pause() {
        try? onCall?("pause")
        lock.withLock {
            names.append("pause")
            elapsed += .milliseconds(10)
        }
    }
}
