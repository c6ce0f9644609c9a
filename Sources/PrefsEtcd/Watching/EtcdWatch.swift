import Dispatch
import Foundation
import PersistentPreferences

/// Follows the roots and markers of a namespace by one stream of etcd, on a thread of its own: a copy of the roots, the observers, and the
/// waiters for tickets.
///
/// The thread begins with the first use, and ends with the object.
final class EtcdWatch: Sendable {
    typealias Deadline = ContinuousClock.Instant

    let client: EtcdClient
    let keys: EtcdKeys
    /// The age of the copy that no failure of one server exceeds.
    let limit: Duration
    private let patience: Duration
    let state: Guarded<State>

    init(_ client: EtcdClient, _ keys: EtcdKeys, limit: Duration, patience: Duration) {
        self.client = client
        self.keys = keys
        self.limit = limit
        self.patience = patience
        state = Guarded(State(keys: keys))
    }

    /// How long one endpoint may take to send all roots. Short at first, so that the next is asked before the first read gives up.
    func timeToLoad(afterRounds rounds: Int) -> Duration {
        min(limit, patience / 4 * (1 << min(rounds, 20)))
    }

    /// Ends the thread.
    func stop() {
        state.withLock { state in
            state.isStopped = true
            state.connection?.interrupt()
        }
    }

    /// Starts the thread if it does not run, and waits until the roots were read once.
    func start(until deadline: Deadline) throws(EtcdFailure) {
        let isLoaded = state.withLock { state in
            if state.isRunning { return state.isLoaded }
            state.isRunning = BackgroundThread.start { [weak self] in
                var follower = EtcdFollower()
                // Not held between two rounds, so that the object may end.
                while let self, !self.state.withLock({ $0.isStopped }) { follower.follow(self) }
            }
            if !state.isRunning {
                state.failure = EtcdFailure("the system has no thread to give").at(client.endpoints[0])
            }
            return false
        }
        if isLoaded { return }
        wait(until: deadline) { $0.isLoaded || !$0.isRunning || $0.hasGivenUp(after: patience) }
        let problem = state.withLock {
            $0.isLoaded ? nil : $0.failure ?? EtcdFailure("no answer in time").at(client.endpoints[0])
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

    // MARK: - Waiting

    /// Waits until a ticket has ended, as far as the watch knows: its client changes its marker in the same transaction.
    func waitForEnd(ofTicket ticket: EtcdKeyValue, until deadline: Deadline) {
        guard let marker = keys.marker(ofTicket: ticket) else { return }
        wait(until: deadline) { $0.markers[marker] ?? 0 > ticket.created }
    }

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

    /// Reports the changes of a root from now on.
    func observe(_ root: String, _ observer: EtcdObserver, until deadline: Deadline) -> Bool {
        while true {
            // What this process has written before is no news.
            wait(until: deadline) { $0.isCaughtUp(root) }
            let isAdded = state.withLock { state in
                if state.isCaughtUp(root) { state.observers[root, default: []].append(observer) }
                return state.isCaughtUp(root)
            }
            if isAdded || .now >= deadline { return isAdded }
        }
    }

    func remove(_ observer: EtcdObserver, from root: String) {
        state.withLock { state in
            state.observers[root]?.removeAll { $0 === observer }
            if state.observers[root]?.isEmpty == true { state.observers[root] = nil }
        }
    }
}

/// What an update of this process has made of a root.
struct RootStep {
    let root: String
    let before: [String: Any]?
    let after: [String: Any]?
    let result: StoredRoot
}

/// A transaction of this process that the watch has not heard of yet.
struct OwnTransaction {
    let operation: String
    let steps: [RootStep]
    /// The revision; nil as long as nobody knows whether it was carried out.
    var revision: Int64?
}
