import Foundation
import PersistentPreferences

/// The work of a transaction: the roots as they were before, and what the members of a batch have made of them.
///
/// A session with locks has the lock of each root that it has accessed, so that none of them changes before the commit. The session of a
/// change that is data has none: its members run again if a root has changed.
final class EtcdSession: RemoteSession {
    private let namespace: EtcdNamespace
    /// nil without locks.
    private let lock: EtcdLock?
    private let process = CurrentProcess.id
    /// What the batch will store.
    private(set) var changes: RootChanges
    /// Without locks: whether all roots were read in this change.
    private(set) var isNewest = true
    private var members = 0
    private let begin = ContinuousClock.Instant.now
    /// Called once, after the commit of a batch.
    private let end: () -> Void

    /// The roots that the current member has accessed.
    private var accessed = 0

    /// After it, a batch takes no further member.
    private static let longestTime = Duration.milliseconds(200)
    /// Bytes of the JSON that one update may write, well below the 1.5 MiB that etcd accepts.
    private static let mostBytes = 1 << 20
    /// Bytes beyond which a batch takes no further member.
    private static let fullBytes = 256 << 10
    /// Roots that one update may access. Each is a comparison in the transaction of etcd.
    static let mostRoots = 100

    static func tooManyRoots(_ keys: EtcdKeys) -> PrefsError {
        keys.notStored("an update accesses more than \(mostRoots) roots")
    }

    /// Roots beyond which a batch takes no further member: another one finds room for its own, and three comparisons and operations are
    /// needed for the rest.
    private static let fullRoots = TxnRequest.mostOperations - 3 - mostRoots

    /// A session with locks.
    ///
    /// - Parameter end: is called once, after the commit.
    init(
        _ namespace: EtcdNamespace, _ lock: EtcdLock, _ stored: StoredRoot, of root: String,
        end: @escaping () -> Void = {}
    ) {
        self.namespace = namespace
        self.lock = lock
        self.end = end
        changes = RootChanges(ticket: lock.identity.firstTicket, found: [root: stored])
    }

    /// A session of a change that is data.
    ///
    /// - Parameter newest: roots that were read in this change.
    init(_ namespace: EtcdNamespace, knowing newest: [String: StoredRoot]) {
        self.namespace = namespace
        end = {}
        lock = nil
        changes = RootChanges(ticket: nil, found: newest)
    }

    /// A member that joins later goes by roots that were read before it came: the commit finds out whether they have changed.
    var dependsOnCommit: Bool { !changes.results.isEmpty || members > 1 }

    /// Not for long, because the others of the namespace wait.
    var acceptsMembers: Bool {
        .now < begin + Self.longestTime && changes.found.count <= Self.fullRoots
            && changes.results.values.reduce(0) { $0 + $1.bytes } < Self.fullBytes
    }

    // MARK: - Members

    /// Adds a member to the batch. If it throws, the batch is as before.
    func run(_ member: RemoteMember) throws {
        members += 1
        accessed = 0
        let changes = try member(self)
        let steps = try changes.map { RootStep(change: $0, result: try StoredRoot($0.after)) }
        guard steps.reduce(0, { $0 + $1.result.bytes }) <= Self.mostBytes else {
            let reason = "one update may write \(Self.mostBytes >> 10) KiB of JSON"
            throw PrefsError.unsupportedValues(
                changes.flatMap(\.keys).map { .init(path: $0, topLevelKey: $0, reason: reason) })
        }
        for step in steps { self.changes.results[step.root] = step.result }
        self.changes.steps += steps
    }

    /// The values of a root before the current member.
    func values(of root: String) throws -> RootValues? {
        accessed += 1
        if accessed > Self.mostRoots { throw Self.tooManyRoots(namespace.keys) }
        if var result = changes.results[root] { return try result.values(of: root, in: namespace.keys) }
        try access(root)
        return try changes.found[root]?.values(of: root, in: namespace.keys)
    }

    /// Reads a root, unless it was read, and takes its lock before.
    func access(_ root: String) throws(PrefsError) {
        if changes.found[root] == nil { changes.found[root] = try find(root) }
    }

    private func find(_ root: String) throws(PrefsError) -> StoredRoot {
        if let lock {
            // Whoever waits in the order of the names is waited for by nobody who has a later lock.
            let isLast = changes.found.keys.allSatisfy { $0 < root }
            let end = begin + namespace.patience + lock.identity.leaseExcess
            return try lock.acquireAnother(root, waits: isLast, until: end)
        }
        if let known = namespace.watch.state.withLock({ $0.newest(root) }) {
            isNewest = false
            return known
        }
        return try namespace.newest(root)
    }

    // MARK: - The end

    /// Commits what the members have changed, and gives the locks back.
    func commit() throws {
        defer { end() }
        guard process == CurrentProcess.id else {
            throw namespace.keys.notStored("the process was forked inside of an update, which belongs to its parent")
        }
        guard let lock, dependsOnCommit else { return lock?.release() ?? () }
        do {
            try lock.commit(changes)
        } catch PrefsError.outcomeUnknown(let failure) where changes.results.isEmpty {
            throw PrefsError.notStored(failure)
        }
    }
}
