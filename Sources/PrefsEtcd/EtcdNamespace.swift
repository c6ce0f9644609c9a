import Dispatch
import Foundation
import PersistentPreferences

/// The roots below a prefix of a cluster, and what the stores of a process that have the same settings share.
final class EtcdNamespace: Sendable {
    typealias Deadline = ContinuousClock.Instant

    let client: EtcdClient
    let keys: EtcdKeys
    let watch: EtcdWatch
    private let patience: Duration
    let lock: EtcdLock
    private let lastKnown: LastKnownFile?
    private let process = getpid()
    /// Signalled when no transaction of this process runs.
    private let turn = DispatchSemaphore(value: 0)
    /// The bodies that wait for their turn, by the roots that they lock.
    private let queues = Guarded<[[String]: UpdateQueue]>([:])
    /// The thread whose update runs, and the session that it is a part of.
    private let running = Guarded<(thread: pthread_t, session: EtcdSession)?>(nil)

    init(_ client: EtcdClient, prefix: String, deadline: Duration, staleness: Duration, lastKnown: LastKnownFile?) {
        self.client = client
        self.lastKnown = lastKnown
        keys = EtcdKeys(prefix: prefix)
        patience = deadline
        watch = EtcdWatch(client, keys, limit: staleness, patience: deadline, lastKnown: lastKnown)
        lock = EtcdLock(client, keys, watch, patience: deadline)
        turn.signal()
    }

    deinit {
        watch.stop()
        if lock.identity.markerLease != nil { EtcdNamespaces.end(lock) }
    }

    /// For a process that ends.
    func end() {
        guard process == getpid() else { return }
        watch.saveLastKnown()
        lock.end(until: .now + .seconds(1))
    }

    var deadline: Deadline { .now + patience }

    // MARK: - Reading

    /// The root as of now.
    func current(_ root: String) throws -> [String: Any]? {
        if let session = ownSession { return try session.read(root) }
        var stored = try newest(root)
        return try stored.values(of: root, in: keys)
    }

    /// The root as the watch has last heard of it.
    func followed(_ root: String) throws -> [String: Any]? {
        if let session = ownSession { return try session.read(root) }
        do throws(EtcdFailure) {
            try watch.follow(root, until: deadline)
        } catch {
            throw PrefsError.unreadable(keys.failure(error))
        }
        return try watch.state.withLock { try $0.values(of: root) }
    }

    /// The root as etcd has it now.
    func newest(_ root: String) throws(PrefsError) -> StoredRoot {
        do throws(EtcdFailure) {
            let reply = try client.range(RangeRequest(key: keys.root(root)), until: deadline)
            let stored = StoredRoot(reply.kvs.first)
            watch.state.withLock { $0.note(stored, root, in: reply.revision) }
            return stored
        } catch {
            throw .unreadable(keys.failure(error))
        }
    }

    /// The names of all roots, sorted, as of now.
    func names() throws(PrefsError) -> [String] {
        do throws(EtcdFailure) {
            let reply = try client.range(RangeRequest(prefix: keys.roots, keysOnly: true), until: deadline)
            return reply.kvs.compactMap { keys.root(ofKey: $0.key) }
        } catch {
            throw .unreadable(keys.failure(error))
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
        let observer = EtcdObserver(action)
        do throws(EtcdFailure) {
            try watch.observe(root, observer, until: deadline)
        } catch {
            throw .notWatched(keys.failure(error))
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
    var ownSession: EtcdSession? {
        running.withLock { $0.flatMap { pthread_equal($0.thread, pthread_self()) != 0 ? $0.session : nil } }
    }

    /// Runs the closure as a part of the session.
    func run<R>(in session: EtcdSession, _ body: () throws -> R) rethrows -> R {
        running.withLock { $0 = (pthread_self(), session) }
        defer { running.withLock { $0 = nil } }
        return try body()
    }

    func queue(of roots: [String]) -> UpdateQueue {
        queues.withLock { queues in
            let queue = queues[roots] ?? UpdateQueue()
            queues[roots] = queue
            return queue
        }
    }

    var timeout: PrefsError { keys.notStored("timed out waiting for updates of other threads of this process") }

    func waitForTurn(until deadline: Deadline) throws(PrefsError) {
        guard turn.wait(until: deadline) else { throw timeout }
    }

    func endTurn() { turn.signal() }
}
