import Dispatch
import PrefsPropertyLists

/// Lets the threads of a process change one domain in turn, and commit together.
///
/// Group commit: the thread whose turn it is runs its closure on the batch's working state and, if others wait, hands
/// the turn on; the last of the batch writes for all, while the others wait for the outcome. So a commit costs one
/// fsync however many threads ask for one, each still durable when its call returns: eight threads make 4.5 times as many
/// writes per second as one (`Tests/Benchmarks`). No closure runs while its batch is being written.
///
/// `TransactionDomain.transact` is the way in.
package final class TransactionQueue: Sendable {
    typealias Content = Transaction.Content

    /// Who cares about the domain.
    package let feed = ChangeFeed()

    package init() {}

    private struct State {
        /// Whose threads the rest is about: a forked child has none of them.
        var process = LockRegistry.forks
        var isBusy = false
        /// Signalled when the turn of their thread has come.
        var waiters: [DispatchSemaphore] = []
        /// The batch that the last turn handed on. Its contents belong to the thread whose turn it is.
        var openBatch: Batch?

        /// After a fork, no thread of the child is inside a transaction.
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

    /// So many closures share a commit at most, so that the first of them is not kept waiting for ever.
    private static let largestBatch = 64

    fileprivate final class Batch {
        /// nil once the batch is written, so that no member that returns late keeps its files open.
        var session: (any TransactionSession)?
        var content: Content?
        var isChanged = false
        /// The surest that a member asks for; one that fails asks for nothing.
        var durability = CommitDurability.notStored
        var members = 0
        var outcome: Result<Void, any Error>?
        /// The closures that have changed something, in order.
        var changes: [(transaction: Transaction, step: ChangeFeed.Step)] = []
        /// Signalled once the outcome is there, and again by each thread that has waited for it.
        let written = DispatchSemaphore(value: 0)
        let process = LockRegistry.forks

        init(_ session: any TransactionSession) {
            self.session = session
            content = session.content
        }
    }

    /// Waits for the turn; the first of a batch opens it.
    fileprivate func enter(_ domain: some TransactionDomain) throws -> Batch {
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
            // Without one the batch before this has been written.
            if let openBatch = state.withLock({ $0.openBatch }) { return openBatch }
        }
        do {
            return Batch(try domain.begin())
        } catch {
            state.withLock { $0.passTurn() }
            throw error
        }
    }

    /// Hands the open batch on, or writes it. Gives the outcome of what this thread's closure saw and did.
    fileprivate func leave(_ batch: Batch) -> Result<Void, any Error> {
        guard let session = batch.session else { preconditionFailure("the batch is written") }
        batch.members += 1
        // A closure that changed nothing may have seen what the batch is about to write.
        let dependsOnBatch = batch.isChanged || !session.isConfirmed(batch.durability)
        let isHandedOn = state.withLock { state in
            if batch.process != LockRegistry.forks { state.waiters = [] }
            guard batch.members < Self.largestBatch, !state.waiters.isEmpty else {
                state.openBatch = nil
                return false
            }
            state.openBatch = batch
            state.passTurn()
            return true
        }
        if isHandedOn {
            guard dependsOnBatch else { return .success(()) }
            batch.written.wait()
            batch.written.signal()
            guard let outcome = state.withLock({ _ in batch.outcome }) else {
                preconditionFailure("the batch has no outcome")
            }
            return outcome
        }
        let outcome = Result {
            if batch.isChanged {
                try commitAndTell(batch, session)
            } else if !session.isConfirmed(batch.durability) {
                try session.confirm()
            }
        }
        session.end()
        batch.session = nil
        state.withLock {
            batch.outcome = outcome
            $0.passTurn()
        }
        batch.written.signal()
        return outcome
    }

    /// Writes the batch. If that succeeds, reports the changes of each member to the feed.
    private func commitAndTell(_ batch: Batch, _ session: any TransactionSession) throws {
        feed.willCommit()
        let outcome = Result { try session.commit(batch.content ?? [:], durability: batch.durability) }
        let stands: Bool
        switch outcome {
        case .success, .failure(FileError.durabilityUnconfirmed): stands = true
        case .failure: stands = false
        }
        let actions = feed.didCommit(stands ? batch.changes.map(\.step) : [], as: session.stored)
        // The members wait: what their threads do afterwards may still be added to.
        for (change, actions) in zip(batch.changes, actions) where !actions.isEmpty {
            change.transaction.addAfterwards { actions.forEach { $0() } }
        }
        try outcome.get()
    }
}

extension TransactionDomain {
    /// Runs the closure in this thread's transaction; a new one is committed before the call returns.
    ///
    /// - Throws: what the closure threw or refused (then nothing has changed), or what `begin` or `commit` throw.
    package func transact<R>(durability: CommitDurability, _ body: (Transaction) throws -> R) throws -> R {
        if let current = Transaction.current {
            guard current.owner === queue else {
                current.fail(FileError.updateOfAnotherFile)
                throw FileError.updateOfAnotherFile
            }
            do {
                let result = try body(current)
                current.durability = max(current.durability, durability)
                return result
            } catch {
                current.fail(error)
                throw error
            }
        }
        try checkTurn()
        let batch = try queue.enter(self)
        let transaction = Transaction(
            owner: queue, session: batch.session, content: batch.content, durability: durability)
        defer { transaction.runAfterwards() }
        let result = Result { try transaction.asCurrent { try body(transaction) } }
        let failure = transaction.failure
        if case .success = result, failure == nil {
            if transaction.isChanged {
                batch.changes.append((transaction, .init(before: batch.content, after: transaction.content)))
                batch.content = transaction.content
                batch.isChanged = true
            }
            batch.durability = max(batch.durability, transaction.durability)
        }
        let outcome = queue.leave(batch)
        let value = try result.get()
        if let failure { throw failure }
        try outcome.get()
        return value
    }
}
