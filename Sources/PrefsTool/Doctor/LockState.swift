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
    /// The lock file cannot be opened, or this package does not trust it.
    case blocked(reason: String)

    /// Creates nothing, and releases the lock at once.
    init(_ surroundings: SidecarPaths) {
        do throws(StorageFailure) {
            let isFree = try surroundings.withLockFile { descriptor in
                // Retries, because a writer holds the lock for a moment only.
                (0..<20).contains { _ in
                    if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
                    usleep(10_000)
                    return false
                }
            }
            self = isFree.map { $0 ? .free : .held(LockHolder.all(of: surroundings.lock)) } ?? .none
        } catch {
            self = .blocked(reason: error.reason)
        }
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
