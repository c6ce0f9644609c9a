import Dispatch
import Foundation
import PersistentPreferences

/// Follows the roots that are used by one stream of etcd, on a thread of its own: a copy of them, and their observers.
///
/// The thread begins with the first use, and ends with the object.
final class EtcdWatch: Sendable {
    typealias Deadline = ContinuousClock.Instant

    typealias State = WatchedRoots.State

    private let roots: WatchedRoots

    init(_ client: EtcdClient, _ keys: EtcdKeys, limit: Duration, patience: Duration, lastKnown: LastKnownFile?) {
        roots = WatchedRoots(
            client: client, keys: keys, limit: limit, patience: patience,
            state: Guarded(State(keys: keys, lastKnown: lastKnown)))
    }

    deinit { stop() }

    var client: EtcdClient { roots.client }
    var state: Guarded<State> { roots.state }

    /// Ends the thread.
    func stop() {
        state.withLock { state in
            state.isStopped = true
            state.connection?.interrupt()
        }
    }

    /// Follows a root from now on, and waits until it was read once.
    func follow(_ root: String, until deadline: Deadline) throws(EtcdFailure) {
        let isLoaded = state.withLock { state in
            state.use(root)
            if state.isRunning { return state.isLoaded(root) }
            // Without this object, so that it may end.
            state.isRunning = BackgroundThread.start { [roots] in
                var follower = EtcdFollower()
                while !roots.state.withLock({ $0.isStopped }) { follower.follow(roots) }
            }
            if !state.isRunning {
                state.failure = EtcdFailure("the system has no thread to give").at(client.endpoints[0])
            }
            return false
        }
        if isLoaded { return }
        wait(until: deadline) { $0.isLoaded(root) || !$0.isRunning || $0.hasGivenUp(after: roots.patience) }
        let problem = state.withLock {
            $0.isLoaded(root) ? nil : $0.failure ?? EtcdFailure("no answer in time").at(client.endpoints[0])
        }
        if let problem { throw problem }
    }

    /// The time since the copy was last known to be complete; nil if it never was.
    var age: Duration? {
        state.withLock { $0.provenAt }.map { .now - $0 }
    }

    /// An operation of this process was carried out. Reads have its result from now on.
    func confirm(_ operation: String, at revision: Int64) {
        state.withLock { $0.confirm(operation, at: revision) }
    }

    /// Puts the roots that are followed into the file.
    func saveLastKnown() { roots.saveLastKnown() }

    private func wait(until deadline: Deadline, for condition: (State) -> Bool) {
        while true {
            let signal = DispatchSemaphore(value: 0)
            let isDone = state.withLock { state in
                if condition(state) { return true }
                state.waiters.append(signal)
                return false
            }
            if isDone || !signal.wait(until: deadline) { return }
        }
    }

    // MARK: - Observing

    /// Reports the changes of a root from now on. If the cluster is out of reach, the first one is from what is known now to what there is
    /// when it is back.
    ///
    /// - Throws: if the cluster rejects this client, or there is no thread.
    func observe(_ root: String, _ observer: RemoteObserver, until deadline: Deadline) throws(EtcdFailure) {
        do throws(EtcdFailure) {
            try follow(root, until: deadline)
            // What this process has written before is no news.
            wait(until: deadline) { $0.isCaughtUp(root) }
        } catch {
            if case .rejected = error.kind { throw error }
            guard state.withLock({ $0.isRunning }) else { throw error }
        }
        state.withLock { $0.add(observer, of: root) }
    }

    func remove(_ observer: RemoteObserver, from root: String) {
        state.withLock { $0.remove(observer, of: root) }
    }
}
