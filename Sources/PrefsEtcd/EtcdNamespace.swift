import Foundation
import PersistentPreferences

/// The roots below a prefix of a cluster, and what the stores of a process that have the same settings share.
final class EtcdNamespace: Sendable {
    typealias Deadline = ContinuousClock.Instant

    let client: EtcdClient
    let keys: EtcdKeys
    let watch: EtcdWatch
    private let patience: Duration
    private let updates = UpdateQueue()
    let lock: EtcdLock
    private let process = getpid()
    /// The thread whose update runs, and the session that it is a part of.
    private let running = Guarded<(thread: pthread_t, session: EtcdSession)?>(nil)

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
        if let session = ownSession { return try session.read(root) }
        var stored: StoredRoot
        let revision: Int64
        do throws(EtcdFailure) {
            let reply = try client.range(RangeRequest(key: keys.root(root)), until: deadline)
            (stored, revision) = (StoredRoot(reply.kvs.first), reply.revision)
        } catch {
            throw PrefsError.unreadable(keys.failure(error))
        }
        defer { watch.state.withLock { $0.note(stored, root, in: revision) } }
        return try stored.values(of: root, in: keys)
    }

    /// The root as the watch has last heard of it.
    func followed(_ root: String) throws -> [String: Any]? {
        if let session = ownSession { return try session.read(root) }
        try startWatch { .unreadable($0) }
        return try watch.state.withLock { try $0.values(of: root) }
    }

    /// The root in the revision of a session.
    func root(_ root: String, at revision: Int64) throws(PrefsError) -> StoredRoot {
        var request = RangeRequest(key: keys.root(root), at: revision)
        do throws(EtcdFailure) {
            do throws(EtcdFailure) {
                return StoredRoot(try client.range(request, until: deadline).kvs.first)
            } catch {
                // Compacted: what it is now is the same, or else the lock is lost, which the commit would find too.
                guard error.isRejected(EtcdFailure.outOfRange) else { throw error }
                request.revision = nil
                let stored = StoredRoot(try client.range(request, until: deadline).kvs.first)
                guard stored.modified <= revision else { throw error }
                return stored
            }
        } catch {
            throw .unreadable(keys.failure(error))
        }
    }

    func startWatch(_ makeError: (StorageFailure) -> PrefsError) throws(PrefsError) {
        do throws(EtcdFailure) {
            try watch.start(until: deadline)
        } catch {
            throw makeError(keys.failure(error))
        }
    }

    /// - Parameter owner: lives as long as the observation, so that new stores share the namespace.
    func observe(
        _ root: String, keeping owner: PerProcess<EtcdNamespace>, _ action: @escaping @Sendable (PrefsChange) -> Void
    ) throws(PrefsError) -> PrefsObservation {
        // The observers' queues are Dispatch's, which does not run in a forked child.
        guard process == EtcdNamespaces.firstProcess else {
            throw .notWatched(keys.failure("cannot be watched in a forked process"))
        }
        try startWatch { .notWatched($0) }
        let observer = EtcdObserver(action)
        guard watch.observe(root, observer, until: deadline) else {
            throw .notWatched(keys.failure("the watch does not answer"))
        }
        // A forked child leaves the watch of its parent alone.
        return PrefsObservation {
            defer { withExtendedLifetime(owner) {} }
            guard self.process == getpid() else { return }
            self.watch.remove(observer, from: root)
            observer.end()
        }
    }

    // MARK: - Updates

    /// The session whose update this thread runs.
    private var ownSession: EtcdSession? {
        running.withLock { $0.flatMap { pthread_equal($0.thread, pthread_self()) != 0 ? $0.session : nil } }
    }

    /// Runs the closure as a part of the session.
    func run<R>(in session: EtcdSession, _ body: () throws -> R) rethrows -> R {
        running.withLock { $0 = (pthread_self(), session) }
        defer { running.withLock { $0 = nil } }
        return try body()
    }

    /// `PrefsStore.update`.
    func update(_ root: String, _ body: (inout [String: Any]?) throws -> Void) throws {
        if let session = ownSession { return try session.update(root, body) }
        // Rejects an update inside of one of another store, before it waits.
        try InMemoryStore().update(root: root) { _ in }
        let deadline = deadline
        let timeout = "timed out waiting for updates of other threads of this process"
        try updates.run(until: deadline, orThrow: keys.notStored(timeout)) {
            try EtcdSession(self, lock.acquire(root, until: deadline), of: root)
        } _: {
            try $0.run(root, body)
        }
    }
}
