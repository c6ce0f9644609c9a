import Foundation
package import PrefsPropertyLists

/// The update in progress on a thread: the state that it started from, with its own changes so far.
///
/// A thread has at most one. It stays on its thread, so nested accesses find it.
package final class Transaction {
    /// The content of a domain: entries by root key, or nil if the domain does not exist.
    package typealias Content = [String: StoredValue]

    package let owner: TransactionQueue
    /// What it is a part of; nil once its closure has run.
    package private(set) var session: (any TransactionSession)?
    package private(set) var content: Content?
    private(set) var isChanged = false
    /// The highest durability that a write in it requires.
    var durability: CommitDurability
    /// The first rejection or error in this transaction. It rolls back the whole transaction, even if the body continues.
    private(set) var failure: (any Error)?
    /// Whether its thread has called `exit` in its closure, so that it will never be committed.
    private var isAbandoned = false
    /// Actions to run in order after all locks are released.
    private var afterwards: [() -> Void] = []

    init(owner: TransactionQueue, session: (any TransactionSession)?, content: Content?, durability: CommitDurability) {
        self.owner = owner
        self.session = session
        self.content = content
        self.durability = durability
    }

    /// The entry under a root key, as this transaction has left it.
    package subscript(root: String) -> StoredValue? {
        get { content?[root] }
        set {
            content = content ?? [:]
            content?[root] = newValue
            isChanged = true
        }
    }

    /// Replaces all entries.
    package func replaceAll(with entries: Content) {
        content = entries
        isChanged = true
    }

    /// Puts an entry in the place of what is stored under a key; nil removes it. One that is equal changes nothing.
    package func replace(_ key: String, with entry: StoredValue?) {
        if self[key] != entry { self[key] = entry }
    }

    /// Rejects a write by an `atexit` handler of the thread that has called `exit` inside the transaction.
    func refuseExit() throws {
        guard isAbandoned else { return }
        throw FileError.notStored(StorageFailure(path: "", reason: "the program has called exit inside an update"))
    }

    package func fail(_ error: any Error) {
        failure = failure ?? error
    }

    /// Runs the closure after the thread's transaction, when its locks are released; at once if there is no transaction.
    package static func afterwards(_ action: @escaping () -> Void) {
        if let current { current.addAfterwards(action) } else { action() }
    }

    /// The actions so far. The caller runs them instead.
    package func takeAfterwards() -> [() -> Void] {
        defer { afterwards = [] }
        return afterwards
    }

    func addAfterwards(_ action: @escaping () -> Void) {
        afterwards.append(action)
    }

    func runAfterwards() {
        afterwards.forEach { $0() }
    }

    // MARK: - The thread's own

    package static var current: Transaction? {
        threads.value.map { Unmanaged<Transaction>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Makes this the thread's transaction while the closure runs. The caller keeps it alive.
    func asCurrent<R>(_ body: () throws -> R) rethrows -> R {
        Self.watchEndOfThread()
        Self.threads.value = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
        defer { (Self.threads.value, session) = (nil, nil) }
        return try body()
    }

    /// Thread-local and not task-local: a task started inside an update must not take part in it.
    private static let threads = ThreadLocal()
    /// Not nil on threads whose end is watched.
    private static let watched = ThreadLocal()

    private static func watchEndOfThread() {
        guard watched.value == nil else { return }
        ThreadEnd.register { _ in Transaction.current?.isAbandoned = true }
        watched.value = UnsafeRawPointer(bitPattern: 1)
    }
}
