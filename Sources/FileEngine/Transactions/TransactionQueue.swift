import Foundation

/// Lets the threads of a process change one domain in turn, and commit together.
///
/// Group commit: the thread whose turn it is runs its closure on the batch's working state and, if others wait, hands
/// the turn on; the last of the batch writes for all, while the others wait for the outcome. So a commit costs one
/// fsync however many threads ask for one, each still durable when its call returns. No closure runs while its batch is
/// being written.
///
/// A subclass supplies the domain: `begin`, `commit` and `end`, called in this order by one thread at a time.
class TransactionQueue: @unchecked Sendable {
    typealias Content = Transaction.Content

    /// How sure a commit has to be before it returns.
    enum Durability: Int, Comparable {
        /// The state is not in the file at all: the file is malformed, and the state is known from elsewhere.
        case notStored
        /// The state survives the process, killed at any instant.
        case process
        /// The state survives a power cut.
        case powerCut

        static func < (left: Durability, right: Durability) -> Bool { left.rawValue < right.rawValue }
    }

    /// Throws if the thread would wait for itself. Called outside of a transaction.
    func checkTurn() throws {}
    /// Keeps other processes out and gives the committed state.
    func begin() throws -> Content? { nil }
    /// Stores the new state. Throws before anything changed, or `FileError.durabilityUnconfirmed` after.
    func commit(_ content: Content, durability: Durability) throws {}
    /// Whether the committed state is as sure to last as asked; it is not after a commit that asked for less, or whose
    /// last flush failed.
    func isConfirmed(_ durability: Durability) -> Bool { true }
    /// Makes the committed state sure to outlast a power cut.
    func confirm() throws {}
    /// Whether nobody else changes the domain between `begin` and `end`.
    var keepsOthersOut: Bool { true }
    /// Lets other processes in again.
    func end() {}
    /// A warning for the next successful access; returned once.
    func takeWarning() -> FileError? { nil }
    /// What the domain makes of a content when it stores it. Called between `begin` and `end`.
    func stored(_ content: Content?) -> Content? { content }
    /// The committed state, outside of a transaction or inside of one; nil where the domain does not exist.
    func committed() throws -> Content? { nil }
    /// Calls the closure, from any thread, when others may have changed an entry, until the object that is returned is
    /// released; nil where nobody else can.
    func watch(_ key: String, _ changed: @escaping @Sendable () -> Void) throws(StorageFailure) -> AnyObject? { nil }

    /// Who cares about the domain.
    let feed = ChangeFeed()

    init() {
        feed.start(self)
    }

    private let lock = Lock()
    /// Under the lock. Whose threads the rest is about: a forked child has none of them.
    private var process = LockRegistry.forks
    /// Under the lock.
    private var isBusy = false
    /// Under the lock.
    private var waiters: [Waiter] = []
    /// Belongs to the thread whose turn it is, and is assigned under the lock, since a fork must find it whole.
    private var openBatch: Batch?

    /// So many closures share a commit at most, so that the first of them is not kept waiting for ever.
    private static let largestBatch = 64

    private final class Waiter {
        var hasTurn = false
        let condition = Condition()
    }

    private final class Batch {
        var content: Content?
        var isChanged = false
        /// The surest that a member asks for; one that fails asks for nothing.
        var durability = Durability.notStored
        var members = 0
        var outcome: Result<Void, any Error>?
        /// The closures that have changed something, in order.
        var changes: [(transaction: Transaction, step: ChangeFeed.Step)] = []
        let written = Condition()
        let process = LockRegistry.forks

        init(content: Content?) {
            self.content = content
        }
    }

    /// Runs the closure in this thread's transaction; a new one is committed before the call returns.
    ///
    /// - Throws: what the closure threw or refused (then nothing has changed), or what `begin` or `commit` throw.
    final func transact<R>(durability: Durability, _ body: (Transaction) throws -> R) throws -> R {
        if let current = Transaction.current {
            guard current.owner === self else {
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
        let batch = try enter()
        let transaction = Transaction(owner: self, content: batch.content, durability: durability)
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
        let outcome = leave(batch)
        let value = try result.get()
        if let failure { throw failure }
        try outcome.get()
        return value
    }

    /// Waits for the turn; the first of a batch opens it.
    private func enter() throws -> Batch {
        lock.withLock {
            forgetParent()
            guard isBusy else {
                isBusy = true
                return
            }
            let waiter = Waiter()
            waiters.append(waiter)
            while !waiter.hasTurn { waiter.condition.wait(lock) }
        }
        if let openBatch { return openBatch }
        do {
            let batch = Batch(content: try begin())
            lock.withLock { openBatch = batch }
            return batch
        } catch {
            lock.withLock { passTurn() }
            throw error
        }
    }

    /// Hands the open batch on, or writes it. Gives the outcome of what this thread's closure saw and did.
    private func leave(_ batch: Batch) -> Result<Void, any Error> {
        batch.members += 1
        // A closure that changed nothing may have seen what the batch is about to write.
        let dependsOnBatch = batch.isChanged || !isConfirmed(batch.durability)
        let isHandedOn = lock.withLock {
            if batch.process != LockRegistry.forks { waiters = [] }
            guard batch.members < Self.largestBatch, !waiters.isEmpty else { return false }
            passTurn()
            return true
        }
        if isHandedOn {
            guard dependsOnBatch else { return .success(()) }
            return lock.withLock {
                while true {
                    if let outcome = batch.outcome { return outcome }
                    batch.written.wait(lock)
                }
            }
        }
        lock.withLock { openBatch = nil }
        let outcome = Result {
            if batch.isChanged {
                try commitAndTell(batch)
            } else if !isConfirmed(batch.durability) {
                try confirm()
            }
        }
        end()
        lock.withLock {
            batch.outcome = outcome
            batch.written.broadcast()
            passTurn()
        }
        return outcome
    }

    /// Writes the batch, and tells the feed what each of its members has made, if it stands.
    private func commitAndTell(_ batch: Batch) throws {
        feed.willCommit()
        let outcome = Result { try commit(batch.content ?? [:], durability: batch.durability) }
        let stands: Bool
        switch outcome {
        case .success, .failure(FileError.durabilityUnconfirmed): stands = true
        case .failure: stands = false
        }
        let actions = feed.didCommit(stands ? batch.changes.map(\.step) : [], as: stored)
        // The members wait: what their threads do afterwards may still be added to.
        for (change, actions) in zip(batch.changes, actions) where !actions.isEmpty {
            change.transaction.addAfterwards { actions.forEach { $0() } }
        }
        try outcome.get()
    }

    /// Under the lock. After a fork, nobody is in the middle of anything here.
    private func forgetParent() {
        guard process != LockRegistry.forks else { return }
        // A thread of the parent may have been changing the batch, so the child neither reads it nor releases it.
        if let openBatch { _ = Unmanaged.passRetained(openBatch) }
        (process, isBusy, waiters, openBatch) = (LockRegistry.forks, false, [], nil)
    }

    /// Under the lock.
    private func passTurn() {
        guard !waiters.isEmpty else {
            isBusy = false
            return
        }
        let next = waiters.removeFirst()
        next.hasTurn = true
        next.condition.broadcast()
    }
}
