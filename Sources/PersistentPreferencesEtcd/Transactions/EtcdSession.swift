import Foundation
import PersistentPreferences
import PrefsFileEngine
import PrefsPropertyLists

/// The time in which this process holds the lock of a namespace: the roots as they were in one revision, and what the bodies of a batch have
/// made of them.
///
/// The bodies run inside an update of a private `InMemoryStore`, which joins, checks and rolls back as every store does.
final class EtcdSession: CommitGroup {
    private let namespace: EtcdNamespace
    private let identity: ClientIdentity
    /// The revision in which the lock was granted.
    private let revision: Int64
    /// A child that is forked inside of the session is another one.
    private let process = LockRegistry.forks
    private let memory = InMemoryStore()
    /// The roots as etcd had them in the revision.
    private var found: [String: StoredRoot]
    /// The roots that are in `memory`.
    private var seeded: Set<String> = []
    /// The roots of another type that nobody has removed yet.
    private var foreign: Set<String> = []
    /// The roots that the current member has accessed, and those of them that it has updated.
    private var accessed: Set<String> = []
    private var touched: Set<String> = []
    /// What the batch will store: nil for a removal.
    private var results: [String: Data?] = [:]
    /// The changes of the members, in order.
    private var steps: [EntryChange] = []
    private var members = 0
    private let begin = ContinuousClock.Instant.now

    /// After it, a batch takes no further member.
    private static let longestTime = Duration.milliseconds(200)
    /// Bytes of the JSON that one update may write, well below the 1.5 MiB that etcd accepts.
    static let mostBytes = 1 << 20
    /// Bytes beyond which a batch takes no further member.
    private static let fullBytes = 256 << 10
    /// Roots that one update may access. Each is a comparison in the transaction of etcd.
    static let mostRoots = 100
    /// Roots beyond which a batch takes no further member: another one finds room for its own, and three comparisons and operations are
    /// needed for the rest.
    private static let fullRoots = TxnRequest.mostOperations - 3 - mostRoots

    init(_ namespace: EtcdNamespace, _ grant: EtcdLock.Grant, of root: String) {
        self.namespace = namespace
        identity = grant.identity
        revision = grant.revision
        found = [root: grant.root]
    }

    private var isOfParent: Bool { process != LockRegistry.forks }

    /// A member that joins later goes by roots that were read before it came: the commit finds out whether they have changed.
    var dependsOnCommit: Bool { !results.isEmpty || members > 1 }

    /// Not for long, because the others of the namespace wait.
    var hasRoom: Bool {
        .now < begin + Self.longestTime && found.count <= Self.fullRoots
            && results.values.reduce(0) { $0 + ($1?.count ?? 0) } < Self.fullBytes
    }

    // MARK: - The thread's own

    private static let threads = ThreadLocal()

    /// The session whose update this thread runs, if it is one of the namespace.
    static func current(of namespace: EtcdNamespace) -> EtcdSession? {
        guard let pointer = threads.value else { return nil }
        let session = Unmanaged<EtcdSession>.fromOpaque(pointer).takeUnretainedValue()
        return session.namespace === namespace ? session : nil
    }

    private func asCurrent(_ body: () throws -> Void) rethrows {
        Self.threads.value = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
        defer { Self.threads.value = nil }
        try body()
    }

    // MARK: - Members

    /// Runs the body of a member of the batch. If it throws, the batch is as before.
    ///
    /// - Parameter afterwards: what the member wants to run when it has left the batch, also if its body throws.
    func run(
        _ root: String, afterwards: inout [() -> Void], _ body: (inout [String: Any]?) throws -> Void
    ) throws {
        members += 1
        let (found, seeded, foreign) = (found, seeded, foreign)
        (accessed, touched) = ([], [])
        var changes: (results: [String: Data?], steps: [EntryChange]) = ([:], [])
        do {
            try asCurrent {
                // Leaves its root alone. What joins it is rolled back with it.
                try memory.update(root: root) { _ in
                    // In here, what they do would be lost.
                    defer { afterwards = Transaction.current?.takeAfterwards() ?? [] }
                    try update(root, body)
                    changes = try self.changes()
                }
            }
        } catch {
            (self.found, self.seeded, self.foreign) = (found, seeded, foreign)
            throw error
        }
        results.merge(changes.results) { $1 }
        steps += changes.steps
    }

    /// `PrefsStore.read` inside of an update.
    func read(_ root: String) throws -> [String: Any]? {
        try seed(root)
        if foreign.contains(root) { throw PrefsError.rootIsNotDictionary(key: root) }
        return try memory.read(root: root)
    }

    /// `PrefsStore.update` inside of an update.
    func update(_ root: String, _ body: (inout [String: Any]?) throws -> Void) throws {
        touched.insert(root)
        try seed(root)
        guard foreign.contains(root) else { return try memory.update(root: root, body) }
        try memory.update(root: root) { _ in
            // It can only be removed.
            var values: [String: Any]? = [:]
            try body(&values)
            guard values == nil else { throw PrefsError.rootIsNotDictionary(key: root) }
            foreign.remove(root)
        }
    }

    /// Puts a root into the memory. A failure ends the update, even if its body continues.
    private func seed(_ root: String) throws {
        do {
            if accessed.insert(root).inserted, accessed.count > Self.mostRoots {
                throw namespace.keys.notStored("an update accesses more than \(Self.mostRoots) roots")
            }
            guard !seeded.contains(root) else { return }
            if found[root] == nil {
                found[root] = try namespace.root(root, at: revision)
            }
            do throws(PrefsError) {
                if let values = try found[root]?.values(of: root, in: namespace.keys) {
                    do {
                        try memory.setValues(values, of: root)
                    } catch {
                        throw PrefsError(error)
                    }
                }
            } catch {
                guard case .rootIsNotDictionary = error else { throw error }
                foreign.insert(root)
            }
            seeded.insert(root)
        } catch {
            Transaction.current?.fail(error)
            throw error
        }
    }

    /// What the current member has changed.
    ///
    /// - Throws: `PrefsError.valuesNotPlistCompatible` if etcd would not take it.
    private func changes() throws -> (results: [String: Data?], steps: [EntryChange]) {
        var results: [String: Data?] = [:]
        var steps: [EntryChange] = []
        for root in touched.sorted() where !foreign.contains(root) {
            let after = try memory.values(of: root)
            let change = EntryChange(
                of: root, from: before(root).map(StoredValue.dictionary), to: after.map(StoredValue.dictionary),
                isForeign: false)
            if let change { steps.append(change) }
            if change != nil || isRemovedForeign(root) {
                results[root] = .some(try after.map { try ExportFormat.json.data(of: $0) })
            }
        }
        guard results.values.reduce(0, { $0 + ($1?.count ?? 0) }) <= Self.mostBytes else {
            throw PrefsError.valuesNotPlistCompatible(
                steps.flatMap(\.difference.keys).map {
                    PropertyListFailure(
                        path: $0, topLevelKey: $0, reason: "one update may write \(Self.mostBytes >> 10) KiB of JSON")
                })
        }
        return (results, steps)
    }

    /// The values of a root before the current member.
    private func before(_ root: String) -> [String: StoredValue]? {
        if let step = steps.last(where: { $0.key == root }) { return step.after.value?.dictionary }
        return (try? found[root]?.values(of: root, in: namespace.keys)) ?? nil
    }

    private func isRemovedForeign(_ root: String) -> Bool {
        do throws(PrefsError) {
            _ = try found[root]?.values(of: root, in: namespace.keys)
            return false
        } catch {
            return results[root] == nil
        }
    }

    // MARK: - The end

    /// Commits what the members have changed, and gives the lock back.
    func commit() throws {
        guard !isOfParent else {
            throw namespace.keys.notStored("the process was forked inside of an update, which belongs to its parent")
        }
        guard dependsOnCommit else { return namespace.lock.release(identity) }
        var request = TxnRequest()
        request.compare = found.map { .modified(namespace.keys.root($0), in: $1.modified) }
        for (root, data) in results {
            let key = namespace.keys.root(root)
            request.success.append(data.map { .put(key, $0) } ?? .delete(key))
        }
        let values = try results.keys.map { ($0, try memory.values(of: $0)) }
        do {
            try namespace.lock.commit(request, steps: steps, results: Dictionary(values) { $1 }, as: identity)
        } catch PrefsError.outcomeUnknown(let failure) where results.isEmpty {
            throw PrefsError.notStored(failure)
        }
    }
}
