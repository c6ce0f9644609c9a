import Foundation
import PrefsPropertyLists

/// One operation on one file that did not succeed.
///
/// Mirrors `POSIXError` with the operation and the path that it lacks. A value type, safe to pass between threads.
public struct StorageFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The system call, as in `fsync`; empty where none failed and `reason` alone says what is wrong.
    public let operation: String
    /// The file or folder that was operated on; empty where there is none (no home folder).
    public let path: String
    /// The `errno` of the system call; 0 where none failed.
    public let code: Int32
    /// What is wrong, as a clause without a full stop.
    public let reason: String

    /// A system call that failed.
    package init(_ operation: String, _ path: String, code: Int32) {
        self.operation = operation
        self.path = path
        self.code = code
        reason = String(cString: strerror(code))
    }

    /// A state of affairs that no system call reports.
    package init(path: String, reason: String) {
        operation = ""
        self.path = path
        code = 0
        self.reason = reason
    }

    /// `path: operation: reason`, on one line: control characters of the path are escaped.
    public var description: String {
        [ShownText.line(path), operation, reason].filter { !$0.isEmpty }.joined(separator: ": ")
    }
}
