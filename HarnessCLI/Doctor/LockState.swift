import Foundation

/// A process that holds a lock.
struct LockHolder {
    let pid: Int
    /// Empty where it cannot be known.
    let name: String
    let isStopped: Bool
    let isOwn: Bool
}

/// The state of the sidecar that writers of a file lock.
enum LockState {
    /// There is no sidecar: nobody of this package has written the file yet.
    case none
    case free
    /// By whom, as far as the system tells.
    case held([LockHolder])
    /// It cannot be opened.
    case blocked(reason: String)

    /// Creates nothing, and gives the lock back at once.
    init(sidecar path: String) {
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            let code = errno
            self = code == ENOENT || code == ENOTDIR ? .none : .blocked(reason: String(cString: strerror(code)))
            return
        }
        defer { close(descriptor) }
        // A writer holds it for a moment; whoever does so for longer is told of.
        for _ in 0..<20 {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 {
                self = .free
                return
            }
            usleep(10_000)
        }
        self = .held(LockHolder.all(of: path))
    }

    var text: String {
        switch self {
        case .none: return "none yet: the first write makes it"
        case .free: return "free"
        case .blocked(let reason): return "cannot be opened: \(reason)"
        case .held(let holders):
            if holders.isEmpty { return "held by another process" }
            let names = holders.map { "\($0.pid) (\($0.name))" + ($0.isStopped ? ", which is stopped" : "") }
            return "held by process \(names.joined(separator: ", and by "))"
        }
    }

    /// For JSON.
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
