package import Dispatch
import PrefsPropertyLists

/// Lets the threads of a process change one domain in turn, and commit together.
///
/// One commit, with one flush, serves all threads that wait. Each write is durable when its call returns. Eight threads
/// make 4.5 times as many writes per second as one thread (`Tests/Benchmarks`).
package final class TransactionQueue: Sendable {
    typealias Content = Transaction.Content

    /// The subscribers of the domain.
    package let feed = ChangeFeed()
    private let commits = GroupCommit<TransactionBatch>()

    package init() {}

    /// The number of threads that wait for their turn.
    var waiting: Int { commits.waiting }

    /// The transaction of this thread in this domain, if any.
    package var transaction: Transaction? { Transaction.current(of: self) }

    /// Runs the closure in this thread's transaction, or in a new one, which is committed before the call returns.
    ///
    /// - Parameters:
    ///   - path: the path of the lock file, for errors that name its holder.
    ///   - check: rejects an update after its body has run.
    ///   - begin: keeps other processes out until the session ends. Called by one thread at a time.
    /// - Throws: what the closure threw or rejected (then nothing has changed), or what `begin` or the commit throw.
    package func transact(
        durability: CommitDurability, lock path: String? = nil, begin: () throws -> any TransactionSession,
        _ body: (Transaction) throws -> Void, check: (Transaction) throws -> Void = { _ in }
    ) throws {
        if Transaction.rejectsWrites { throw FileError.writeInsideRead }
        if let current = Transaction.current { return try current.join(self, durability: durability, body) }
        let batch = try enter(path, begin)
        let transaction = Transaction(
            of: self, session: batch.group.session, content: batch.group.content, durability: durability)
        defer { transaction.runAfterwards() }
        let result = Result {
            try transaction.run { transaction in
                try body(transaction)
                if transaction.isUpdate { try check(transaction) }
            }
            // Alone, its commit shows what cannot be stored.
            let isShared = batch.group.hasMembers || waiting > 0
            try batch.group.add(transaction, isVetted: isShared)
        }
        let outcome = commits.leave(batch)
        try result.get()
        try outcome.get()
    }

    private func enter(_ path: String?, _ begin: () throws -> any TransactionSession) throws
        -> GroupCommit<TransactionBatch>.Batch
    {
        let wait = LockWait.current
        do {
            return try commits.enter(until: wait?.deadline) { TransactionBatch(try begin(), feed) }
        } catch let timeout as GroupCommit<TransactionBatch>.Timeout {
            throw wait?.lostTurn(path) ?? timeout
        }
    }
}

/// The transactions that are committed together.
private final class TransactionBatch: CommitGroup {
    typealias Content = Transaction.Content

    /// The session; nil once the batch is written, so that a member that returns late does not keep its files open.
    private(set) var session: (any TransactionSession)?
    private(set) var content: Content?
    private let feed: ChangeFeed
    /// The highest durability that a member requires. A member that fails requires none.
    private var durability = CommitDurability.notStored
    /// The transactions that have changed something, in order.
    private var changes: [(transaction: Transaction, step: ChangeFeed.Step)] = []

    init(_ session: any TransactionSession, _ feed: ChangeFeed) {
        self.session = session
        self.feed = feed
        content = session.content
    }

    /// Whether every change was vetted, so that one member's values cannot fail the commit of another.
    private(set) var acceptsMembers = true
    private(set) var hasMembers = false
    /// The encoded size of the changes.
    private var size = 0

    private var isChanged: Bool { !changes.isEmpty }

    /// A transaction that changed nothing may have read changes that the batch is about to write.
    var dependsOnCommit: Bool { isChanged || session?.isDurable(durability) == false }

    /// - Throws: why the file cannot store the changes.
    func add(_ transaction: Transaction, isVetted: Bool) throws {
        hasMembers = true
        if transaction.isChanged {
            if isVetted, let session {
                size += try session.vet(transaction.content ?? [:], after: content, beside: size)
            } else {
                acceptsMembers = false
            }
            changes.append((transaction, .init(before: content, after: transaction.content)))
            content = transaction.content
        }
        durability = max(durability, transaction.durability)
    }

    /// Writes the batch, and reports the changes of each member to the feed.
    func commit() throws {
        guard let session else { preconditionFailure("the batch is written") }
        defer {
            session.end()
            self.session = nil
        }
        guard isChanged else {
            if !session.isDurable(durability) { try session.ensureDurable() }
            return
        }
        feed.willCommit()
        let outcome: (any Error)?
        do {
            let reason = changes.lazy.compactMap(\.transaction.reasonToKeepFormer).first
            try session.commit(content ?? [:], keepingFormerBecause: reason, durability: durability)
            outcome = nil
        } catch {
            outcome = error
        }
        let stands = if case FileError.durabilityUnconfirmed? = outcome { true } else { outcome == nil }
        let actions = feed.didCommit(stands ? changes.map(\.step) : [], as: session.stored)
        // The members still wait, so actions can be added for their threads.
        for (change, actions) in zip(changes, actions) where !actions.isEmpty {
            change.transaction.addAfterwards { actions.forEach { $0() } }
        }
        if let outcome { throw outcome }
    }
}

// MARK: - Turns and batches

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
package final class GroupCommit<Group: CommitGroup>: Sendable {
    /// A group, and the threads that wait for its commit.
    package final class Batch: @unchecked Sendable {
        // Unchecked because the contents belong to the thread whose turn it is; the outcome is written and read with
        // the lock.

        package let group: Group
        fileprivate var members = 0
        fileprivate var outcome: Result<Void, any Error>?
        /// Signalled once the outcome is known, and again by each thread that has waited for it.
        fileprivate let committed = DispatchSemaphore(value: 0)
        fileprivate let process = LockRegistry.forkCount

        fileprivate init(_ group: Group) {
            self.group = group
        }
    }

    /// The thread's turn did not come in time.
    package struct Timeout: Error {}

    private struct State {
        /// The process whose threads this state describes. A forked child does not have them.
        var process = LockRegistry.forkCount
        var isBusy = false
        /// Signalled when the turn of their thread has come.
        var waiters: [DispatchSemaphore] = []
        /// The batch that the last turn passed on.
        var openBatch: Batch?

        /// After a fork, no thread of the child has the turn.
        mutating func forgetParent() {
            guard process != LockRegistry.forkCount else { return }
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
    var waiting: Int { state.withLock { $0.process == LockRegistry.forkCount ? $0.waiters.count : 0 } }

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

    /// Passes the open batch on, or commits it. Returns the outcome of this thread's work.
    package func leave(_ batch: Batch) -> Result<Void, any Error> {
        batch.members += 1
        let (acceptsMembers, dependsOnCommit) = (batch.group.acceptsMembers, batch.group.dependsOnCommit)
        let (isHandedOn, hasTurn) = state.withLock { state in
            // A child that was forked during the turn has the turn, unless another thread of the child was faster.
            let hasTurn = batch.process == state.process || state.process != LockRegistry.forkCount
            if state.process != LockRegistry.forkCount {
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
