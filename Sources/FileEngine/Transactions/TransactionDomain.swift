/// The subject of a transaction queue: a file, a domain of `UserDefaults`, or memory.
///
/// `begin`, `commit` or `confirm`, and `end` are called in this order, by one thread at a time. Only `begin`, `commit` and `committed`
/// have to be implemented.
package protocol TransactionDomain: AnyObject, Sendable {
    typealias Content = Transaction.Content

    /// The queue of this domain alone. The conformer calls `queue.feed.start(self)` once.
    var queue: TransactionQueue { get }

    /// Keeps other processes out and returns the committed state; nil if there is no domain.
    func begin() throws -> Content?
    /// Stores the new state. Throws before anything has changed, or `FileError.durabilityUnconfirmed` after.
    func commit(_ content: Content, durability: CommitDurability) throws
    /// The committed state, outside of a transaction or inside of one; nil if there is no domain.
    func committed() throws -> Content?

    /// Throws if the thread would wait for itself. Called outside of a transaction.
    func checkTurn() throws
    /// Whether the committed state has the required durability: false after a commit that required less, and after a failed flush.
    func isConfirmed(_ durability: CommitDurability) -> Bool
    /// Makes the committed state survive a power cut.
    func confirm() throws
    /// Lets other processes in again.
    func end()
    /// Whether no other process changes the domain between `begin` and `end`.
    var keepsOthersOut: Bool { get }
    /// The form in which the domain stores a content. Called between `begin` and `end`.
    func stored(_ content: Content?) -> Content?
    /// Calls the closure, from any thread, when others may have changed an entry, until the returned object is released. Returns nil
    /// if no other process can change it.
    func watch(_ key: String, _ changed: @escaping @Sendable () -> Void) throws(StorageFailure) -> AnyObject?
}

extension TransactionDomain {
    package func checkTurn() {}
    package func isConfirmed(_ durability: CommitDurability) -> Bool { true }
    package func confirm() {}
    package func end() {}
    package var keepsOthersOut: Bool { true }
    package func stored(_ content: Content?) -> Content? { content }
    package func watch(_ key: String, _ changed: @escaping @Sendable () -> Void) -> AnyObject? { nil }

    /// The transaction of this thread, if it is one of this domain.
    package var ownTransaction: Transaction? {
        guard let transaction = Transaction.current, transaction.owner === queue else { return nil }
        return transaction
    }

    /// Runs the closure in this thread's transaction; a new one is committed before the call returns.
    ///
    /// - Throws: what the closure threw or rejected (then nothing has changed), or what `begin` or `commit` throw.
    package func transact<R>(durability: CommitDurability, _ body: (Transaction) throws -> R) throws -> R {
        try queue.transact(on: self, durability: durability, body)
    }
}

/// The failures that a commit survives after it returns.
package enum CommitDurability: Int, Comparable {
    /// Nothing. The state is not in the file at all: the file is malformed, and the state is known from elsewhere.
    case notStored
    /// The process being killed at any instant.
    case process
    /// A power cut.
    case powerCut

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
