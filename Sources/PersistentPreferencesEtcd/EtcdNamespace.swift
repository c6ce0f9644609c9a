import Foundation
import PersistentPreferences
import PrefsFileEngine
import PrefsPropertyLists

/// The roots below a prefix of a cluster, and what the stores of a process that have the same settings share.
final class EtcdNamespace: Sendable {
    typealias Deadline = ContinuousClock.Instant

    let client: EtcdClient
    let keys: EtcdKeys
    let watch: EtcdWatch
    private let patience: Duration
    private let batches = GroupCommit<EtcdSession>()
    let lock: EtcdLock

    init(_ client: EtcdClient, prefix: String, deadline: Duration, staleness: Duration) {
        self.client = client
        keys = EtcdKeys(prefix: prefix)
        patience = deadline
        watch = EtcdWatch(client, keys, limit: staleness, patience: deadline)
        lock = EtcdLock(client, keys, watch, patience: deadline)
    }

    deinit {
        watch.stop()
    }

    private var deadline: Deadline { .now + patience }

    // MARK: - Reading

    /// The root as of now.
    func current(_ root: String) throws -> [String: Any]? {
        if let session = EtcdSession.current(of: self) { return try session.read(root) }
        var stored: StoredRoot
        let revision: Int64
        do throws(EtcdFailure) {
            let reply = try client.range(RangeRequest(key: keys.root(root)), until: deadline)
            (stored, revision) = (StoredRoot(reply.all.first), reply.revision)
        } catch {
            throw PrefsError.unreadable(keys.failure(error))
        }
        defer { watch.note(stored, of: root, in: revision) }
        return try stored.objects(of: root, in: keys)
    }

    /// The root as the watch has last heard of it.
    func followed(_ root: String) throws -> [String: Any]? {
        if let session = EtcdSession.current(of: self) { return try session.read(root) }
        try startWatch { .unreadable($0) }
        return try watch.objects(of: root)
    }

    /// The root in the revision of a session.
    func root(_ root: String, at revision: Int64) throws -> StoredRoot {
        var request = RangeRequest(key: keys.root(root), at: revision)
        do throws(EtcdFailure) {
            do throws(EtcdFailure) {
                return StoredRoot(try client.range(request, until: deadline).all.first)
            } catch {
                // Compacted: what it is now is the same, or else the lock is lost, which the commit would find too.
                guard error.isRejected(EtcdFailure.outOfRange) else { throw error }
                request.revision = nil
                let stored = StoredRoot(try client.range(request, until: deadline).all.first)
                guard stored.modified <= revision else { throw error }
                return stored
            }
        } catch {
            throw PrefsError.unreadable(keys.failure(error))
        }
    }

    func startWatch(_ makeError: (StorageFailure) -> PrefsError) throws(PrefsError) {
        do throws(EtcdFailure) {
            try watch.start(until: deadline)
        } catch {
            throw makeError(keys.failure(error))
        }
    }

    func observe(
        _ root: String, _ action: @escaping @Sendable (PrefsChange) -> Void
    ) throws(PrefsError) -> PrefsObservation {
        // The observers' queues are Dispatch's, which does not run in a forked child.
        guard LockRegistry.forks == 0 else { throw .notWatched(keys.failure("cannot be watched in a forked process")) }
        try startWatch { .notWatched($0) }
        let observer = Mailbox(of: root, action)
        guard watch.observe(root, observer, until: deadline) else {
            throw .notWatched(keys.failure("the watch does not answer"))
        }
        // Keeps the namespace, and with it the watch.
        return PrefsObservation {
            self.watch.remove(observer, from: root)
            observer.end()
        }
    }

    // MARK: - Updates

    /// `PrefsStore.update`.
    func update(_ root: String, _ body: (inout [String: Any]?) throws -> Void) throws {
        if let session = EtcdSession.current(of: self) { return try session.update(root, body) }
        if let other = Transaction.current {
            other.fail(PrefsError.updateOfAnotherStore)
            throw PrefsError.updateOfAnotherStore
        }
        var afterwards: [() -> Void] = []
        defer { afterwards.forEach { $0() } }
        let batch = try enter(root)
        let result = Result { try batch.group.run(root, afterwards: &afterwards, body) }
        let outcome = batches.leave(batch)
        try result.get()
        try outcome.get()
    }

    /// Waits for the turn of this thread, and for the lock if it is the first of a batch.
    private func enter(_ root: String) throws -> GroupCommit<EtcdSession>.Batch {
        let deadline = deadline
        do {
            return try batches.enter(until: deadline) {
                try EtcdSession(self, lock.acquire(root, until: deadline), of: root)
            }
        } catch is GroupCommit<EtcdSession>.Timeout {
            throw keys.notStored("timed out waiting for updates of other threads of this process")
        }
    }
}
