import Dispatch
import PrefsPropertyLists

/// Lets the threads of a process change one domain in turn, and commit together.
///
/// One commit, with one flush, serves all threads that wait. Each write is durable when its call returns. Eight threads
/// make 4.5 times as many writes per second as one thread (`Tests/Benchmarks`).
package final class TransactionQueue: Sendable {
    typealias Content = DomainContent

    private let listener: (any CommitListener)?
    private let commits = GroupCommit<TransactionBatch>()

    /// - Parameter listener: nil if nobody observes the domain.
    package init(reportingTo listener: (any CommitListener)? = nil) {
        self.listener = listener
    }

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
        if ThreadState.rejectsWrites { throw FileError.writeInsideRead }
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
            return try commits.enter(until: wait?.deadline) { TransactionBatch(try begin(), listener) }
        } catch let timeout as GroupCommit<TransactionBatch>.Timeout {
            throw wait?.lostTurn(path) ?? timeout
        }
    }
}

/// The transactions that are committed together.
private final class TransactionBatch: CommitGroup {
    typealias Content = DomainContent

    /// The session; nil once the batch is written, so that a member that returns late does not keep its files open.
    private(set) var session: (any TransactionSession)?
    private(set) var content: Content?
    private let listener: (any CommitListener)?
    /// The highest durability that a member requires. A member that fails requires none.
    private var durability = CommitDurability.notStored
    /// The transactions that have changed something, in order.
    private var changes: [(transaction: Transaction, step: CommitStep)] = []

    init(_ session: any TransactionSession, _ listener: (any CommitListener)?) {
        self.session = session
        self.listener = listener
        content = session.content
    }

    /// Whether every change was vetted, so that one member's values cannot fail the commit of another.
    private(set) var acceptsMembers = true
    private(set) var hasMembers = false
    /// The encoded size of the changes.
    private var size = 0

    private var isChanged: Bool { !changes.isEmpty }

    /// A transaction that changed nothing may have read changes that the batch is about to write, or ask for a flush that is
    /// owed.
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

    /// Writes the batch, and reports the changes of each member.
    func commit() throws {
        guard let session else { preconditionFailure("the batch is written") }
        defer {
            session.end()
            self.session = nil
        }
        guard isChanged else {
            // The domain owes this state a flush, or does not have it.
            if !session.isDurable(durability) { try session.commit(content ?? [:], durability: durability) }
            return
        }
        listener?.willCommit()
        let outcome: (any Error)?
        do {
            let reason = changes.lazy.compactMap(\.transaction.reasonToKeepFormer).first
            try session.commit(content ?? [:], keepingFormerBecause: reason, durability: durability)
            outcome = nil
        } catch {
            outcome = error
        }
        let stands = if case FileError.durabilityUnconfirmed? = outcome { true } else { outcome == nil }
        let actions = listener?.didCommit(stands ? changes.map(\.step) : [], as: session.stored) ?? []
        // The members still wait, so actions can be added for their threads.
        for (change, actions) in zip(changes, actions) where !actions.isEmpty {
            change.transaction.addAfterwards { actions.forEach { $0() } }
        }
        if let outcome { throw outcome }
    }
}
