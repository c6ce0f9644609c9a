import Foundation
import PrefsPropertyLists

/// An operation on a file that failed.
///
/// ```swift
/// if case .notStored(let failure)? = prefs.lastError {
///     print(failure)  // /…/settings.plist: fsync: Input/output error
/// }
/// ```
///
/// Mirrors `POSIXError`, with the operation and the path. A value type; may be passed between threads.
public struct StorageFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The name of the system call, such as `fsync`; empty if `reason` describes a state that no system call reports.
    package let operation: String
    /// The path of the file or folder; empty if the failure has no path, for example without a home folder.
    public let path: String
    /// The `errno` of the system call; `ETIMEDOUT` after a wait that was too long; `EDEADLK` for a write inside an update
    /// that another copy of this package runs on the same thread; 0 for other states that no system call reports.
    public let code: Int32
    /// The problem as a clause without a full stop and, if there is something to do, what.
    public let reason: String

    /// A system call that failed.
    package init(_ operation: String, _ path: String, code: Int32) {
        self.init(operation: operation, path: path, reason: Self.reason(operation, code), code: code)
    }

    /// The calls that a watch needs, and that a filter of system calls may forbid.
    private static let callsOfWatches: Set = ["inotify_init", "epoll_create1", "eventfd", "timerfd_create"]

    /// The words of the system, with what to do about a limit.
    private static func reason(_ operation: String, _ code: Int32) -> String {
        let words = String(cString: strerror(code))
        return switch (operation, code) {
        // A watch needs no space on a device.
        case ("inotify_add_watch", ENOSPC): "the limit of watches is reached; raise fs.inotify.max_user_watches"
        // The call has this code for two limits.
        case ("inotify_init", EMFILE):
            "\(words); raise fs.inotify.max_user_instances or the limit of this process (ulimit -n)"
        case (_, EMFILE): "\(words); raise the limit of this process (ulimit -n)"
        case (let call, EPERM) where callsOfWatches.contains(call),
            (let call, ENOSYS) where callsOfWatches.contains(call):
            "\(words); allow this call in the filter of system calls (seccomp) of this process"
        case (_, EFBIG): "\(words); raise the limit of file sizes (ulimit -f)"
        case (_, ENOSPC), (_, EDQUOT): "\(words); free some space"
        case (_, ELOOP): "\(words); expected a link that leads to a file"
        default: words
        }
    }

    /// A failure that no system call reports. `PrefsStoreKit` has a public initializer with these labels.
    ///
    /// - Parameters:
    ///   - path: what could not be read or written, such as the address of a server.
    ///   - reason: the problem, as a clause without a full stop.
    ///   - code: an `errno` such as `ETIMEDOUT`; 0 if no code fits.
    package init(path: String, reason: String, code: Int32 = 0) {
        self.init(operation: "", path: path, reason: reason, code: code)
    }

    package init(operation: String, path: String, reason: String, code: Int32) {
        self.operation = operation
        self.path = path
        self.reason = reason
        self.code = code
    }

    /// `path: operation: reason`, on one line. The reason, which a server may have sent, is cut at 1,200 Unicode
    /// scalars. Control and format characters are escaped.
    public var description: String {
        [ShownText.line(path), operation, ShownText.message(reason)].filter { !$0.isEmpty }.joined(separator: ": ")
    }
}
