package import Dispatch
import PrefsPropertyLists

/// The work of the members of a batch, which they commit together. Used by one thread at a time: the member whose turn
/// it is.
package protocol CommitGroup: AnyObject {
    /// Whether another member may join.
    var acceptsMembers: Bool { get }
    /// Whether the reads or writes of the last member depend on the commit.
    var dependsOnCommit: Bool { get }
    /// Commits the work of the members. Called once, after the last member.
    func commit() throws
}

/// Lets the threads of a process take turns, and commit together.
///
/// The thread whose turn it is adds to the open batch and, if other threads wait, passes the turn on. The last member
/// commits the batch, while the others wait for the outcome. So any number of threads pay for one commit, and each
/// returns only when its work is committed. Nothing is added to a batch while it is being committed.
///
/// The type does not require a `CommitGroup`: its first use would search all conformances, which costs a program 220,000
/// instructions.
package final class GroupCommit<Group: AnyObject>: Sendable {
    /// A group, and the threads that wait for its commit.
    package final class Batch: @unchecked Sendable {
        // Unchecked because the contents belong to the thread whose turn it is; the outcome is written and read with
        // the lock.

        package let group: Group
        fileprivate var members = 0
        fileprivate var outcome: Result<Void, any Error>?
        /// Signalled once the outcome is known, and again by each thread that has waited for it.
        fileprivate let committed = DispatchSemaphore(value: 0)
        fileprivate let process = ProcessMark()

        fileprivate init(_ group: Group) {
            self.group = group
        }
    }

    /// The thread's turn did not come in time.
    package struct Timeout: Error {}

    private struct State {
        /// The process whose threads this state describes. A forked child does not have them.
        var process = ProcessMark()
        var isBusy = false
        /// Signalled when the turn of their thread has come.
        var waiters: [DispatchSemaphore] = []
        /// The batch that the last turn passed on.
        var openBatch: Batch?

        /// After a fork, no thread of the child has the turn.
        mutating func forgetParent() {
            guard !process.isOfThisProcess else { return }
            // A thread of the parent may have been changing the batch, so the child neither reads it nor releases it.
            if let openBatch { _ = Unmanaged.passRetained(openBatch) }
            self = State()
        }

        mutating func passTurn() {
            if waiters.isEmpty { isBusy = false } else { waiters.removeFirst().signal() }
        }
    }

    private let state = Locked(State())
    /// Called after a wait has timed out, so that a test can interfere.
    private let didTimeOut: @Sendable () -> Void

    /// The most members of a batch.
    private static var largestBatch: Int { 64 }

    package init(didTimeOut: @escaping @Sendable () -> Void = {}) {
        self.didTimeOut = didTimeOut
    }

    /// The number of threads that wait for their turn, and may join the batch.
    var waiting: Int { state.withLock { $0.process.isOfThisProcess ? $0.waiters.count : 0 } }

    /// Waits for the turn. The first member of a batch begins its group.
    ///
    /// - Throws: `Timeout`, or what the closure throws.
    package func enter(until deadline: DispatchTime? = nil, _ begin: () throws -> Group) throws -> Batch {
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
            // If no batch is open, the batch before was committed.
            if let openBatch = state.withLock({ $0.openBatch }) { return openBatch }
        }
        do {
            return Batch(try begin())
        } catch {
            state.withLock { $0.passTurn() }
            throw error
        }
    }

    private func wait(_ waiter: DispatchSemaphore, until deadline: DispatchTime?) throws {
        guard let deadline else { return waiter.wait() }
        if waiter.wait(timeout: deadline) == .success { return }
        didTimeOut()
        let hasLeft = state.withLock { state in
            guard let index = state.waiters.firstIndex(where: { $0 === waiter }) else { return false }
            state.waiters.remove(at: index)
            return true
        }
        // If the thread has not left the queue, its turn has come in the meantime, and the thread must take its turn.
        if hasLeft { throw Timeout() }
    }
}

extension GroupCommit where Group: CommitGroup {
    /// Passes the open batch on, or commits it. Returns the outcome of this thread's work.
    package func leave(_ batch: Batch) -> Result<Void, any Error> {
        batch.members += 1
        let (acceptsMembers, dependsOnCommit) = (batch.group.acceptsMembers, batch.group.dependsOnCommit)
        let (isHandedOn, hasTurn) = state.withLock { state in
            // A child that was forked during the turn has the turn, unless another thread of the child was faster.
            let hasTurn = batch.process == state.process || !state.process.isOfThisProcess
            if !state.process.isOfThisProcess {
                state.forgetParent()
                state.isBusy = true
            }
            guard hasTurn else { return (false, false) }
            guard acceptsMembers, batch.members < Self.largestBatch, !state.waiters.isEmpty else {
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
