import Dispatch
import PrefsPropertyLists

/// Lets the threads of a process change a place in turn, and commit together.
///
/// The thread whose turn it is runs its body in the session of the batch. If others wait, it hands the batch on; the last one commits for
/// all, while the others wait for the outcome.
final class TransactionTurns: Sendable {
    /// Not shared but by the lock: its contents belong to the thread whose turn it is.
    final class Batch: @unchecked Sendable {
        let session: EtcdSession
        fileprivate var members = 0
        fileprivate var outcome: Result<Void, any Error>?
        /// Signalled once the outcome is there, and again by each thread that has waited for it.
        fileprivate let committed = DispatchSemaphore(value: 0)

        init(_ session: EtcdSession) {
            self.session = session
        }
    }

    private struct State {
        /// Whose threads the rest is about: a forked child has none of them.
        var process = LockRegistry.forks
        var isBusy = false
        var waiters: [DispatchSemaphore] = []
        /// The batch that the last turn handed on.
        var openBatch: Batch?

        mutating func forgetParent() {
            guard process != LockRegistry.forks else { return }
            // A thread of the parent may have been changing the batch, so the child does not even release it.
            if let openBatch { _ = Unmanaged.passRetained(openBatch) }
            self = State()
        }

        mutating func passTurn() {
            if waiters.isEmpty { isBusy = false } else { waiters.removeFirst().signal() }
        }
    }

    private let state = Locked(State())

    private static let largestBatch = 64

    /// Waits for the turn. The first of a batch begins its session.
    func enter(_ begin: () throws -> EtcdSession) throws -> Batch {
        let waiter: DispatchSemaphore? = state.withLock { state in
            state.forgetParent()
            guard state.isBusy else {
                state.isBusy = true
                return nil
            }
            let waiter = DispatchSemaphore(value: 0)
            state.waiters.append(waiter)
            return waiter
        }
        if let waiter {
            waiter.wait()
            if let openBatch = state.withLock({ $0.openBatch }) { return openBatch }
        }
        do {
            return Batch(try begin())
        } catch {
            state.withLock { $0.passTurn() }
            throw error
        }
    }

    /// Hands the batch on, or commits it.
    ///
    /// - Parameter mayBeJoined: whether there is room for others in it.
    /// - Returns: the outcome of what this thread's body saw and did.
    func leave(_ batch: Batch, mayBeJoined: Bool) -> Result<Void, any Error> {
        batch.members += 1
        let dependsOnBatch = batch.session.isChanged
        let isHandedOn = state.withLock { state in
            if batch.session.isOfParent { state.forgetParent() }
            guard mayBeJoined, batch.members < Self.largestBatch, !state.waiters.isEmpty else {
                state.openBatch = nil
                return false
            }
            state.openBatch = batch
            state.passTurn()
            return true
        }
        if isHandedOn {
            guard dependsOnBatch else { return .success(()) }
            batch.committed.wait()
            batch.committed.signal()
            guard let outcome = state.withLock({ _ in batch.outcome }) else {
                preconditionFailure("the batch has no outcome")
            }
            return outcome
        }
        let outcome = Result { try batch.session.end() }
        state.withLock {
            batch.outcome = outcome
            $0.passTurn()
        }
        batch.committed.signal()
        return outcome
    }
}
