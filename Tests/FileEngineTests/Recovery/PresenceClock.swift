import Foundation

@testable import PrefsFileEngine

/// A clock that only the test and pauses advance. Real files get its stamps.
final class PresenceClock: SystemCalls, @unchecked Sendable {
    /// Since the program has started.
    nonisolated(unsafe) var elapsed = Duration.seconds(100)
    /// When the file or its folder changed, by the wall clock.
    nonisolated(unsafe) var stamp = Duration.zero
    /// How far the stamps are behind the clock of the day (kernels before 6.13), or ahead of it (a former clock).
    nonisolated(unsafe) var lag = Duration.zero
    /// Whether the file system counts whole seconds.
    nonisolated(unsafe) var hasWholeSeconds = false
    nonisolated(unsafe) var isServer = false
    /// The kind of the file system of a server.
    nonisolated(unsafe) var kindOfServer = FileSystem.overlay
    nonisolated(unsafe) var onPause: (() -> Void)?
    nonisolated(unsafe) var pauses = 0
    /// Called after each call that reads a file.
    nonisolated(unsafe) var onRead: (() -> Void)?
    /// When the status of files changed, as a new name or mode changes it; nil for the time of their bytes.
    nonisolated(unsafe) var statusStamp: Duration?
    /// The error of the next renaming.
    nonisolated(unsafe) var renameFault: Int32?
    /// The time of folders; nil for that of files.
    nonisolated(unsafe) var folderStamp: Duration?
    /// The time of the last good copy; nil for that of other files.
    nonisolated(unsafe) var copyStamp: Duration?
    private nonisolated(unsafe) var copy: UInt64?
    /// Called once, when a stand-in is compared with the last good copy.
    nonisolated(unsafe) var inComparison: (() -> Void)?
    nonisolated(unsafe) var locks = 0
    /// Called before each opening.
    nonisolated(unsafe) var beforeOpen: ((_ name: String, _ flags: Int32) -> Void)?

    private static func time(_ duration: Duration) -> FileStatus.Time {
        let nanoseconds = Int64(duration / .nanoseconds(1)) + 1_000_000_000 * 1_000_000_000 + 7
        return FileStatus.Time(
            seconds: nanoseconds / 1_000_000_000, nanoseconds: Int(nanoseconds % 1_000_000_000))
    }

    private func stamped(_ status: FileStatus) -> FileStatus {
        var status = status
        let own = status.kind == .folder ? folderStamp : status.inode == copy ? copyStamp : nil
        var time = Self.time((own ?? stamp) - lag)
        if hasWholeSeconds { time = FileStatus.Time(seconds: time.seconds, nanoseconds: 0) }
        (status.modified, status.changed) = (time, status.kind == .file ? statusStamp.map(Self.time) ?? time : time)
        return status
    }

    override func open(
        _ name: String, in folder: Descriptor, _ flags: Int32, mode: mode_t
    ) throws(StorageFailure) -> Descriptor {
        beforeOpen?(name, flags)
        return try super.open(name, in: folder, flags, mode: mode)
    }

    override func status(of descriptor: Descriptor) throws(StorageFailure) -> FileStatus {
        stamped(try super.status(of: descriptor))
    }

    override func status(
        ofPath name: String, in folder: Descriptor, followsLinks: Bool
    ) throws(StorageFailure) -> FileStatus? {
        if name.hasSuffix(".lastgood"), let action = inComparison {
            inComparison = nil
            action()
        }
        let status = try super.status(ofPath: name, in: folder, followsLinks: followsLinks)
        if name.hasSuffix(".lastgood"), let status { copy = status.inode }
        return status.map(stamped)
    }

    override func rename(_ name: String, to newName: String, in folder: Descriptor) throws(StorageFailure) {
        if let code = renameFault {
            renameFault = nil
            throw StorageFailure("rename", name, code: code)
        }
        try super.rename(name, to: newName, in: folder)
    }

    override func wallClockNow() -> FileStatus.Time { Self.time(elapsed) }
    override func nextStamp() -> FileStatus.Time { Self.time(elapsed - lag) }
    override func monotonicNow() -> Duration { elapsed }
    override func reportsChanges(inFolder path: String) -> Bool { !isServer }
    override func fileSystem(of descriptor: Descriptor) -> FileSystem { isServer ? kindOfServer : .local }

    override func read(
        _ descriptor: Descriptor, into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(StorageFailure) -> Int {
        defer { onRead?() }
        return try super.read(descriptor, into: buffer, at: offset)
    }

    override func pause() {
        pauses += 1
        elapsed += .milliseconds(10)
        onPause?()
    }

    override func lock(_ descriptor: Descriptor, waits: Bool) throws(StorageFailure) {
        locks += 1
        try super.lock(descriptor, waits: waits)
    }

    override func unlock(_ descriptor: Descriptor) {
        locks -= 1
        super.unlock(descriptor)
    }
}
