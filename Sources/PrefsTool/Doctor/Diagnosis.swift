import Foundation
import PersistentPreferences
import PrefsFileEngine
import PrefsJSON

/// The state of a domain's file, its lock file and its copies. Reading it changes nothing.
struct Diagnosis {
    /// The program that the commands of the findings are for.
    let program: Program
    /// The absolute path that the user named.
    let path: String
    /// nil if the path cannot be resolved.
    let surroundings: SidecarPaths?
    private(set) var examination: FileInspection
    let file: FileMetadata?
    let access: Access
    /// Whether the file itself is mounted, for example into a container.
    let isMount: Bool
    /// The mount that the file is on; nil if the system does not say it.
    let mount: Mount?
    let folder: FileMetadata?
    let folderAccess: Access
    let lock: LockState
    let temporary: FileMetadata?
    let quarantined: [(path: String, metadata: FileMetadata, isWhole: Bool)]
    let lastGood: LastGoodCopy?

    /// The last good copy: the state of the last commit.
    struct LastGoodCopy {
        let path: String
        let metadata: FileMetadata
        let examination: FileInspection
        let isEqual: Bool
        /// True if the library reads it instead of a damaged file.
        let isUsable: Bool

        /// The time of the commit, such as `2026-11-22T08:30:00Z`.
        var time: String { JSONText.date(metadata.modified) }
    }

    /// The name of a UserDefaults domain; nil for a file.
    let suite: String?

    /// Whether the library reads the file as JSON.
    let isJSON: Bool

    /// - Parameters:
    ///   - target: the place that the user named; nil if it is the file at the path.
    ///   - prefs: the class whose values the file may have; nil if no class is known.
    init(path: String, target: Target? = nil, of program: Program, prefs: PersistentPrefs? = nil) {
        self.program = program
        self.path = path
        suite = target?.suite
        let isJSON = (target ?? .file(path)).isJSON
        self.isJSON = isJSON
        let surroundings = try? SidecarPaths(path: path)
        self.surroundings = surroundings
        let target = surroundings?.file ?? path
        // Checks the lock before the file, so that a running writer can finish.
        lock = surroundings.map(LockState.init) ?? .none
        examination = FileInspection(path: target, isDomain: suite != nil, isJSON: isJSON)
        file = FileMetadata(target)
        access = Access(target)
        // Of several mounts at one place, the last one counts.
        let mounts = Mount.all.filter { $0.covers(target) }
        mount = mounts.last { mount in mounts.allSatisfy { $0.place.count <= mount.place.count } }
        isMount = mount.map { $0.place == Array(target.utf8) } ?? false
        folder = surroundings.flatMap { FileMetadata($0.folder) }
        folderAccess = Access(surroundings?.folder ?? path)
        temporary = surroundings.flatMap { FileMetadata($0.temporary) }
        quarantined = (surroundings?.quarantined ?? []).compactMap { path in
            FileMetadata(path).map { (path, $0, FileInspection(path: path, isJSON: isJSON).state == .whole) }
        }
        lastGood = surroundings.flatMap { [examination, file] in
            Self.lastGood($0.lastGood, examination, file, isJSON: isJSON)
        }
        if let prefs { examination.check(prefs) }
    }

    private static func lastGood(
        _ path: String, _ main: FileInspection, _ file: FileMetadata?, isJSON: Bool
    ) -> LastGoodCopy? {
        guard let metadata = FileMetadata(path) else { return nil }
        let examination = FileInspection(path: path, isJSON: isJSON)
        // In a shared folder, another user may have planted the file.
        let isOfSameOwner = metadata.ownerID == file?.ownerID ?? Int(geteuid())
        return LastGoodCopy(
            path: path, metadata: metadata, examination: examination,
            isEqual: main.bytes != nil && examination.bytes == main.bytes,
            isUsable: metadata.isFile && isOfSameOwner && examination.state == .whole)
    }
}

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
        case .none: "none: the first write of a program that uses this package creates it"
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
