import Foundation
import PersistentPreferences
import PrefsFileEngine
import PrefsPropertyLists

/// The time in which this process holds the lock of a place: the roots as they were in one revision, and what the bodies of a batch have
/// made of them.
///
/// The bodies run inside an update of a private `InMemoryStore`, which joins, checks and rolls back as every store does. For one thread at
/// a time.
final class EtcdSession {
    private let place: EtcdPlace
    private let identity: ClientIdentity
    /// The revision in which the lock was granted.
    private let revision: Int64
    private let process = LockRegistry.forks
    private let memory = InMemoryStore()
    /// The roots as etcd had them in the revision.
    private var found: [String: StoredRoot]
    /// The roots that are in `memory`.
    private var seeded: Set<String> = []
    /// The roots of another type that nobody has removed yet.
    private var foreign: Set<String> = []
    /// The roots that the current member has accessed by an update.
    private var touched: Set<String> = []
    /// What the batch will store: nil for a removal.
    private var results: [String: Data?] = [:]
    /// The changes of the members, in order.
    private var steps: [EntryChange] = []

    /// Bytes of the JSON that one update may write, well below the 1.5 MiB that etcd accepts.
    static let mostBytes = 1 << 20
    /// Bytes beyond which a batch takes no further member.
    private static let fullBytes = 256 << 10
    /// Roots that one transaction may access: each is a comparison, and three are needed for the rest.
    private static let mostRoots = TxnRequest.mostOperations - 3
    private static let fullRoots = mostRoots / 2

    init(_ place: EtcdPlace, _ grant: EtcdLock.Grant, of root: String) {
        self.place = place
        identity = grant.identity
        revision = grant.revision
        found = [root: grant.root]
    }

    /// Whether this process is a child that was forked inside of the session.
    var isOfParent: Bool { process != LockRegistry.forks }

    var isChanged: Bool { !results.isEmpty }

    private var mayBeJoined: Bool {
        found.count < Self.fullRoots && results.values.reduce(0) { $0 + ($1?.count ?? 0) } < Self.fullBytes
    }

    // MARK: - The thread's own

    private static let threads = ThreadLocal()

    /// The session whose update this thread runs, if it is one of the place.
    static func current(of place: EtcdPlace) -> EtcdSession? {
        guard let pointer = threads.value else { return nil }
        let session = Unmanaged<EtcdSession>.fromOpaque(pointer).takeUnretainedValue()
        return session.place === place ? session : nil
    }

    private func asCurrent(_ body: () throws -> Void) rethrows {
        Self.threads.value = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
        defer { Self.threads.value = nil }
        try body()
    }

    // MARK: - Members

    /// Runs the body of a member of the batch. If it throws, the batch is as before.
    ///
    /// - Returns: whether others may join the batch.
    func run(_ root: String, _ body: (inout [String: Any]?) throws -> Void) throws -> Bool {
        let (seeded, foreign) = (seeded, foreign)
        touched = []
        var changes: (results: [String: Data?], steps: [EntryChange]) = ([:], [])
        do {
            try asCurrent {
                // Leaves its root alone. What joins it is rolled back with it.
                try memory.update(root: root) { _ in
                    try update(root, body)
                    changes = try self.changes()
                }
            }
        } catch {
            (self.seeded, self.foreign) = (seeded, foreign)
            throw error
        }
        results.merge(changes.results) { $1 }
        steps += changes.steps
        return mayBeJoined
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
        guard !seeded.contains(root) else { return }
        do {
            if found[root] == nil {
                guard found.count < Self.mostRoots else {
                    throw place.keys.notStored("an update of more than \(Self.mostRoots) roots")
                }
                found[root] = try place.root(root, at: revision)
            }
            do throws(PrefsError) {
                if let values = try found[root]?.values(of: root, in: place.keys) {
                    do {
                        try memory.update(root: root) { $0 = values }
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
            let after = try memory.read(root: root)
            let change = EntryChange(of: root, from: before(root), to: after, isForeign: false)
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
    private func before(_ root: String) -> [String: Any]? {
        if let step = steps.last(where: { $0.key == root }) { return step.after as? [String: Any] }
        return (try? found[root]?.values(of: root, in: place.keys)) ?? nil
    }

    private func isRemovedForeign(_ root: String) -> Bool {
        do throws(PrefsError) {
            _ = try found[root]?.values(of: root, in: place.keys)
            return false
        } catch {
            return results[root] == nil
        }
    }

    // MARK: - The end

    /// Commits what the members have changed, and gives the lock back.
    func end() throws {
        guard !isOfParent else {
            throw place.keys.notStored("the process was forked inside of an update, which belongs to its parent")
        }
        guard isChanged else { return place.lock.release(identity) }
        var request = TxnRequest()
        request.compare = found.map { .modified(place.keys.root($0), in: $1.modified) }
        for (root, data) in results {
            let key = place.keys.root(root)
            request.success.append(data.map { .put(key, $0) } ?? .delete(key))
        }
        let values = try results.keys.map { ($0, try memory.read(root: $0)) }
        try place.lock.commit(request, steps: steps, results: Dictionary(values) { $1 }, as: identity)
    }
}
