import Foundation
import PersistentPreferences
import PrefsFileEngine

/// The state of a file's lock file.
enum LockState {
    /// There is no lock file, because this package has not written the file yet.
    case none
    case free
    /// The lock is held. The list is empty if the system does not name the holders.
    case held([LockHolder])
    /// The lock file cannot be opened or locked, or this package does not trust it.
    case blocked(reason: String)

    /// Creates nothing, and releases the lock at once.
    init(_ surroundings: SidecarPaths) {
        do throws(StorageFailure) {
            switch try surroundings.withLockFile(Self.lock) {
            case nil: self = .none
            case 0: self = .free
            case EWOULDBLOCK: self = .held(LockHolder.all(of: surroundings.lock))
            case let code?: throw StorageFailure("flock", surroundings.lock, code: code)
            }
        } catch {
            self = .blocked(reason: error.operation == "flock" ? "flock: \(error.reason)" : error.reason)
        }
    }

    /// Returns 0 if the lock is free, otherwise the code of the error. Retries, because a writer holds the lock for a
    /// moment only.
    private static func lock(_ descriptor: Int32) -> Int32 {
        var code: Int32 = 0
        for _ in 0..<20 {
            code = flock(descriptor, LOCK_EX | LOCK_NB) == 0 ? 0 : errno
            // SMB says so of a lock that another process holds.
            if code == EACCES, SystemCalls.real.fileSystem(of: descriptor).isOnServer { code = EWOULDBLOCK }
            guard code == EWOULDBLOCK || code == EINTR else { break }
            usleep(10_000)
        }
        return code
    }

    var text: String {
        switch self {
        case .none: "none yet: the first write creates it"
        case .free: "free"
        case .blocked(let reason): "cannot be used: \(reason)"
        case .held(let holders): LockHolder.text(of: holders)
        }
    }

    /// The state in JSON.
    var name: String {
        switch self {
        case .none: "none"
        case .free: "free"
        case .held: "held"
        case .blocked: "blocked"
        }
    }

    var holders: [LockHolder] {
        if case .held(let holders) = self { holders } else { [] }
    }
}
