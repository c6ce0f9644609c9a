@testable import PrefsFileEngine

/// A clock that only the test advances, and one time of the last change for all files.
final class StoppedClock: SystemCalls, @unchecked Sendable {
    nonisolated(unsafe) var time = FileStatus.Time(seconds: 1_000, nanoseconds: 4)
    nonisolated(unsafe) var stamp = FileStatus.Time(seconds: 1_000, nanoseconds: 4)
    /// Called once, after the file has been read, or has got its name.
    nonisolated(unsafe) var afterRead: (() -> Void)?
    nonisolated(unsafe) var afterRename: (() -> Void)?

    private func stamped(_ status: FileStatus) -> FileStatus {
        var status = status
        (status.modified, status.changed) = (stamp, stamp)
        return status
    }

    override func status(of descriptor: Descriptor) throws(StorageFailure) -> FileStatus {
        stamped(try super.status(of: descriptor))
    }

    override func status(
        ofPath name: String, in folder: Descriptor, followsLinks: Bool
    ) throws(StorageFailure) -> FileStatus? {
        try super.status(ofPath: name, in: folder, followsLinks: followsLinks).map(stamped)
    }

    override func read(
        _ descriptor: Descriptor, into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(StorageFailure) -> Int {
        let count = try super.read(descriptor, into: buffer, at: offset)
        defer { take(&afterRead)?() }
        return count
    }

    override func rename(_ name: String, to newName: String, in folder: Descriptor) throws(StorageFailure) {
        try super.rename(name, to: newName, in: folder)
        if newName == "test.plist" { take(&afterRename)?() }
    }

    private func take(_ action: inout (() -> Void)?) -> (() -> Void)? {
        defer { action = nil }
        return action
    }

    override func wallClockNow() -> FileStatus.Time { time }

    override func nextStamp() -> FileStatus.Time { time }
}
