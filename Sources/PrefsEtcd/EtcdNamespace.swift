import Dispatch
import Foundation
import PersistentPreferences

/// The roots below a prefix of a cluster, and what the stores of a process that have the same settings share.
final class EtcdNamespace: Sendable {
    typealias Deadline = ContinuousClock.Instant

    let client: EtcdClient
    let keys: EtcdKeys
    let watch: EtcdWatch
    let patience: Duration
    let locks: LockPool
    private let process = CurrentProcess.id
    /// The updates that run or wait for their turn, by the roots that they lock.
    let queues = Guarded<[[String]: UpdateQueue]>([:])
    /// Its updates, also of other stores of the namespace, are parts of one another.
    let updates = RemoteUpdates()

    init(_ client: EtcdClient, prefix: String, deadline: Duration, staleness: Duration, lastKnown: LastKnownFile?) {
        self.client = client
        let keys = EtcdKeys(prefix: prefix)
        self.keys = keys
        patience = deadline
        let watch = EtcdWatch(client, keys, limit: staleness, patience: deadline, lastKnown: lastKnown)
        self.watch = watch
        locks = LockPool { EtcdLock(client, keys, watch, patience: deadline) }
    }

    deinit {
        watch.saveLastKnown()
        watch.stop()
        EtcdNamespaces.end(locks.all.filter { $0.identity.markerLease != nil })
    }

    /// For a process that ends.
    func end() {
        guard process == CurrentProcess.id else { return }
        watch.saveLastKnown()
        let deadline = Deadline.now + .seconds(1)
        for lock in locks.all { lock.end(until: deadline) }
    }

    var deadline: Deadline { .now + patience }

    // MARK: - Reading

    /// The root as of now.
    func current(_ root: String) throws(PrefsError) -> RootValues? {
        var stored = try newest(root)
        return try stored.values(of: root, in: keys)
    }

    /// The root as the watch has last heard of it.
    func followed(_ root: String) throws(PrefsError) -> RootValues? {
        do throws(EtcdFailure) {
            try watch.follow(root, until: deadline)
        } catch {
            throw .unreadable(keys.failure(error))
        }
        return try watch.state.withLock { state throws(PrefsError) in try state.values(of: root) }
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

    /// Who has made the newest change of a root; nil if that was no client of this package, or the cluster does not answer.
    func lastWriter(of root: String) -> String? {
        let deadline = Deadline.now + .seconds(1)
        let change = try? client.range(RangeRequest(revisionOf: keys.root(root)), until: deadline).kvs.first
        guard let revision = change?.modified else { return nil }
        // In that revision, because a program that has ended since has removed its marker.
        var markers = RangeRequest(newest: .modified, of: keys.markers, limit: 1, keysOnly: false)
        markers.revision = revision
        let marker = try? client.range(markers, until: deadline).kvs.first
        return marker?.modified == revision ? marker?.client : nil
    }

    /// - Parameter owner: lives as long as the observation, so that new stores share the namespace.
    func observe(
        _ root: String, keeping owner: PerProcess<EtcdNamespace>, _ observer: RemoteObserver
    ) throws(PrefsError) -> PrefsObservation {
        // An observer may need a queue of Dispatch, which does not run in a forked child.
        guard process == EtcdNamespaces.firstProcess else {
            throw .notWatched(keys.failure("cannot be watched in a forked process"))
        }
        do throws(EtcdFailure) {
            try watch.observe(root, observer, until: deadline)
        } catch {
            throw .notWatched(keys.failure(error))
        }
        // A forked child leaves the watch of its parent alone.
        return PrefsObservation {
            defer { withExtendedLifetime(owner) {} }
            if self.process == CurrentProcess.id { self.watch.remove(observer, from: root) }
        }
    }
}
