import Dispatch
import Foundation
import PersistentPreferences
import PrefsFileEngine
import PrefsPropertyLists

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
    let state: Locked<State>

    init(_ client: EtcdClient, _ keys: EtcdKeys, limit: Duration, patience: Duration) {
        self.client = client
        self.keys = keys
        self.limit = limit
        self.patience = patience
        state = Locked(State(keys: keys))
    }

    private func withOwnState<R>(_ body: (inout State) -> R) -> R {
        state.withLock { state in
            state.forgetParent()
            return body(&state)
        }
    }

    /// How long one endpoint may take to send all roots. Short at first, so that the next is asked before the first read gives up.
    func timeToLoad(afterRounds rounds: Int) -> Duration {
        min(limit, patience / 4 * (1 << min(rounds, 20)))
    }

    /// Ends the thread.
    func stop() {
        state.withLock { state in
            state.isStopped = true
            // The descriptor of a parent's connection is the parent's.
            if state.process == LockRegistry.forks { state.connection?.interrupt() }
        }
    }

    /// Starts the thread if it does not run, and waits until the roots were read once.
    func start(until deadline: Deadline) throws(EtcdFailure) {
        let isLoaded = withOwnState { state in
            if state.isRunning { return state.isLoaded }
            let process = LockRegistry.forks
            state.isRunning = SpareStack.start { [weak self] in
                var follower = EtcdFollower()
                // Not held between two rounds, so that the object may end.
                while process == LockRegistry.forks, let self, !self.state.withLock({ $0.isStopped }) {
                    follower.follow(self)
                }
            }
            if !state.isRunning { state.failure = .noThread(at: client.endpoints[0]) }
            return false
        }
        if isLoaded { return }
        wait(until: deadline) { $0.isLoaded || !$0.isRunning || $0.hasGivenUp(after: self.patience) }
        let failure = state.withLock { state in
            state.isLoaded
                ? nil
                : state.failure
                    ?? EtcdFailure(kind: .unreachable, endpoint: "\(client.endpoints[0])", reason: "no answer in time")
        }
        if let failure { throw failure }
    }

    // MARK: - Reading

    /// - Throws: `PrefsError`.
    func objects(of root: String) throws(PrefsError) -> [String: Any]? {
        try state.withLock { state throws(PrefsError) in try state.objects(of: root) }
    }

    /// The last good values, whatever the root is now.
    func lastKnown(_ root: String) -> [String: Any]? {
        state.withLock { $0.lastGood(root) }?.objects
    }

    /// Keeps what a read past the watch has found, for the time when nothing can be read.
    ///
    /// - Parameter revision: the one in which it was found.
    func note(_ stored: StoredRoot, of root: String, in revision: Int64) {
        withOwnState { $0.note(stored, root, in: revision) }
    }

    /// The time since the copy was last known to be complete; nil if it never was.
    var age: Duration? {
        state.withLock { $0.provenAt }.map { .now - $0 }
    }

    // MARK: - Own transactions

    /// Announces the changes of a transaction of this process, before it is sent.
    ///
    /// - Parameter results: what it makes of each root; nil for a removal.
    func expect(_ operation: String, _ steps: [EntryChange], results: [String: [String: StoredValue]?]) {
        let results = results.mapValues { StoredRoot($0, modified: .max) }
        withOwnState { $0.own.append(.init(operation: operation, steps: steps, results: results)) }
    }

    /// It was not carried out.
    func forget(_ operation: String) {
        state.withLock { state in state.own.removeAll { $0.operation == operation } }
    }

    /// It was carried out. Reads have its result from now on.
    func confirm(_ operation: String, at revision: Int64) {
        withOwnState { $0.confirm(operation, at: revision) }
    }

    // MARK: - Waiting

    /// Waits until a ticket has ended, as far as the watch knows: its client changes its marker in the same transaction.
    func waitForEnd(ofTicket ticket: EtcdKeyValue, until deadline: Deadline) {
        guard let marker = keys.marker(ofTicket: ticket) else { return }
        wait(until: deadline) { $0.markers[marker] ?? 0 > ticket.created }
    }

    private func wait(until deadline: Deadline, for condition: @escaping (State) -> Bool) {
        let waiter = Waiter(condition)
        let isDone = state.withLock { state in
            if condition(state) { return true }
            state.waiters.append(waiter)
            return false
        }
        if isDone { return }
        _ = waiter.isDone.wait(timeout: .now() + max(0, (deadline - .now) / .seconds(1)))
        state.withLock { state in state.waiters.removeAll { $0 === waiter } }
    }

    // MARK: - Observing

    /// Reports the changes of a root from now on.
    func observe(_ root: String, _ observer: Mailbox<PrefsChange>, until deadline: Deadline) -> Bool {
        while true {
            // What this process has written before is no news.
            wait(until: deadline) { $0.isCaughtUp(root) }
            let isAdded = state.withLock { state in
                guard state.isCaughtUp(root) else { return false }
                state.observers[root, default: []].append(observer)
                return true
            }
            if isAdded || .now >= deadline { return isAdded }
        }
    }

    func remove(_ observer: Mailbox<PrefsChange>, from root: String) {
        state.withLock { state in
            state.observers[root]?.removeAll { $0 === observer }
            if state.observers[root]?.isEmpty == true { state.observers[root] = nil }
        }
    }
}

extension EtcdWatch {
    /// A thread that waits for a condition.
    final class Waiter {
        let condition: (State) -> Bool
        let isDone = DispatchSemaphore(value: 0)

        init(_ condition: @escaping (State) -> Bool) {
            self.condition = condition
        }
    }

    /// A transaction of this process that the watch has not heard of yet.
    struct OwnTransaction {
        let operation: String
        let steps: [EntryChange]
        let results: [String: StoredRoot]
        /// The revision; nil as long as nobody knows whether it was carried out.
        var revision: Int64?
    }
}
