import Foundation

/// The result of `stat`, reduced to what the engine uses.
package struct FileStatus: Equatable, Sendable {
    package struct Time: Equatable, Comparable, Sendable {
        /// `Int` has 32 bits on some watches.
        let seconds: Int64
        let nanoseconds: Int

        /// The possible error of the time. Stamps without nanoseconds show a file system that counts whole seconds, or two
        /// seconds like FAT.
        var step: Duration { nanoseconds == 0 ? .seconds(2) : .zero }

        func since(_ earlier: Time) -> Duration {
            .seconds(seconds - earlier.seconds) + .nanoseconds(nanoseconds - earlier.nanoseconds)
        }

        package static func < (left: Time, right: Time) -> Bool {
            (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
        }
    }

    let device: UInt64
    var inode: UInt64
    package let mode: UInt32
    package let owner: UInt32
    let group: UInt32
    let links: UInt64
    package internal(set) var size: Int
    var modified: Time
    var changed: Time

    init(_ status: stat) {
        device = UInt64(truncatingIfNeeded: status.st_dev)
        inode = UInt64(status.st_ino)
        mode = UInt32(status.st_mode)
        owner = status.st_uid
        group = status.st_gid
        links = UInt64(status.st_nlink)
        size = Int(clamping: status.st_size)
        (modified, changed) = status.times
    }

    package enum Kind: Equatable {
        case file, folder, link, other(String)
    }

    package var kind: Kind {
        switch mode & UInt32(S_IFMT) {
        case UInt32(S_IFREG): .file
        case UInt32(S_IFDIR): .folder
        case UInt32(S_IFLNK): .link
        case UInt32(S_IFIFO): .other("a FIFO")
        case UInt32(S_IFSOCK): .other("a socket")
        default: .other("a device")
        }
    }

    /// Whether two states of a file have the same owner, group and mode.
    func hasPermissions(of other: FileStatus?) -> Bool {
        owner == other?.owner && group == other?.group && mode == other?.mode
    }

    /// Throws unless this is a regular file: ELOOP for a link, otherwise a reason such as "is a folder".
    func requireFile() throws(StorageFailure) {
        switch kind {
        case .file: return
        case .link: throw StorageFailure("open", "", code: ELOOP)
        case .folder: throw StorageFailure(path: "", reason: "is a folder")
        case .other(let kind): throw StorageFailure(path: "", reason: "is \(kind)")
        }
    }

    package var permissions: UInt32 { mode & 0o7777 }

    /// Whether recovery uses this last good copy. Its owner must match, because in a shared folder another user can
    /// plant a copy.
    package func isTrustedCopy(of owner: UInt32) -> Bool { isTrustedCopy(of: [owner]) }

    func isTrustedCopy(of owners: Set<UInt32>) -> Bool { kind == .file && owners.contains(owner) }

    func isSameFile(as other: FileStatus) -> Bool {
        device == other.device && inode == other.inode
    }

    /// Whether every later change of the file shows in its times.
    ///
    /// - Parameter stamp: the earliest time that a later change can get (`SystemCalls.nextStamp()`).
    package func hasReliableTimes(before stamp: Time) -> Bool {
        // Stamps without nanoseconds show a file system that counts whole seconds, or two seconds like FAT.
        let isCoarse = changed.nanoseconds == 0 && modified.nanoseconds == 0
        return Time(seconds: changed.seconds + (isCoarse ? 2 : 0), nanoseconds: changed.nanoseconds) < stamp
    }
}
