import Dispatch
import PrefsPropertyLists

/// What the members of a batch have done, and commit together. Used by one thread at a time: by the member whose turn it is.
package protocol CommitGroup: AnyObject {
    /// Whether another member may join.
    var hasRoom: Bool { get }
    /// Whether what the last member saw or did depends on the commit.
    var dependsOnCommit: Bool { get }
    /// Commits what the members have done. Called once, after the last of them.
    func commit() throws
}

/// Lets the threads of a process take turns, and commit together.
///
/// The thread whose turn it is adds to the open batch and, if others wait, hands the turn on. The last of the batch commits for all, while
/// the others wait for the outcome. So the threads pay for one commit however many they are, and each still returns only when its work is
/// committed. Nothing is added to a batch while it is being committed.
package final class GroupCommit<Group: CommitGroup>: Sendable {
    /// A group, and who waits for its commit.
    package final class Batch: @unchecked Sendable {
        // Unchecked because the contents belong to the thread whose turn it is; the outcome is written and read with the lock.

        package let group: Group
        fileprivate var members = 0
        fileprivate var outcome: Result<Void, any Error>?
        /// Signalled once the outcome is there, and again by each thread that has waited for it.
        fileprivate let committed = DispatchSemaphore(value: 0)
        fileprivate let process = LockRegistry.forks

        fileprivate init(_ group: Group) {
            self.group = group
        }
    }

    /// The turn has not come in time.
    package struct Timeout: Error {}

    private struct State {
        /// Whose threads the rest is about: a forked child has none of them.
        var process = LockRegistry.forks
        var isBusy = false
        /// Signalled when the turn of their thread has come.
        var waiters: [DispatchSemaphore] = []
        /// The batch that the last turn handed on.
        var openBatch: Batch?

        /// After a fork, no thread of the child has the turn.
        mutating func forgetParent() {
            guard process != LockRegistry.forks else { return }
            // A thread of the parent may have been changing the batch, so the child neither reads it nor releases it.
            if let openBatch { _ = Unmanaged.passRetained(openBatch) }
            self = State()
        }

        mutating func passTurn() {
            if waiters.isEmpty { isBusy = false } else { waiters.removeFirst().signal() }
        }
    }

    private let state = Locked(State())

    /// The first of a batch waits for so many others at most.
    private static var largestBatch: Int { 64 }

    package init() {}

    /// Waits for the turn. The first of a batch begins its group.
    ///
    /// - Throws: `Timeout`, or what the closure throws.
    package func enter(until deadline: ContinuousClock.Instant? = nil, _ begin: () throws -> Group) throws -> Batch {
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
            try wait(waiter, until: deadline)
            // Without one the batch before this is committed.
            if let openBatch = state.withLock({ $0.openBatch }) { return openBatch }
        }
        do {
            return Batch(try begin())
        } catch {
            state.withLock { $0.passTurn() }
            throw error
        }
    }

    private func wait(_ waiter: DispatchSemaphore, until deadline: ContinuousClock.Instant?) throws {
        guard let deadline else { return waiter.wait() }
        if waiter.wait(timeout: .now() + max(0, (deadline - .now) / .seconds(1))) == .success { return }
        let hasLeft = state.withLock { state in
            guard let index = state.waiters.firstIndex(where: { $0 === waiter }) else { return false }
            state.waiters.remove(at: index)
            return true
        }
        // Otherwise the turn has come meanwhile, and has to be taken.
        if hasLeft { throw Timeout() }
    }

    /// Hands the open batch on, or commits it. Gives the outcome of what this thread saw and did.
    package func leave(_ batch: Batch) -> Result<Void, any Error> {
        batch.members += 1
        let (hasRoom, dependsOnCommit) = (batch.group.hasRoom, batch.group.dependsOnCommit)
        let (isHandedOn, hasTurn) = state.withLock { state in
            // A child that was forked inside of the turn has it, unless another thread of the child was faster.
            let hasTurn = batch.process == state.process || state.process != LockRegistry.forks
            if state.process != LockRegistry.forks {
                state.forgetParent()
                state.isBusy = true
            }
            guard hasTurn else { return (false, false) }
            guard hasRoom, batch.members < Self.largestBatch, !state.waiters.isEmpty else {
                state.openBatch = nil
                return (false, true)
            }
            state.openBatch = batch
            state.passTurn()
            return (true, true)
        }
        if isHandedOn {
            guard dependsOnCommit else { return .success(()) }
            batch.committed.wait()
            batch.committed.signal()
            guard let outcome = state.withLock({ _ in batch.outcome }) else {
                preconditionFailure("the batch has no outcome")
            }
            return outcome
        }
        let outcome = Result { try batch.group.commit() }
        state.withLock {
            batch.outcome = outcome
            if hasTurn { $0.passTurn() }
        }
        batch.committed.signal()
        return outcome
    }
}
