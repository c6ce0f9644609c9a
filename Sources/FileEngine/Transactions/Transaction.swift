import Foundation
import PrefsPropertyLists

/// The update under way on a thread: the state that it started from, with what it has written so far.
///
/// There is at most one on a thread. It stays on its thread, which is what makes nested accesses find it.
package final class Transaction {
    /// What a domain holds: entries by root key, or nil where it does not exist.
    package typealias Content = [String: Any]

    package let owner: TransactionQueue
    /// What it is a part of; nil once its closure has run.
    package private(set) var session: (any TransactionSession)?
    package private(set) var content: Content?
    private(set) var isChanged = false
    /// What the surest of the writes in it asks for.
    var durability: CommitDurability
    /// The first refusal or error in this transaction. It rolls the whole back, even if the body goes on.
    private(set) var failure: (any Error)?
    /// What to tell others once every lock is released, in order.
    private var afterwards: [() -> Void] = []

    init(owner: TransactionQueue, session: (any TransactionSession)?, content: Content?, durability: CommitDurability) {
        self.owner = owner
        self.session = session
        self.content = content
        self.durability = durability
    }

    /// The entry under a root key, as this transaction has left it.
    package subscript(root: String) -> Any? {
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
    package func replace(_ key: String, with object: Any?) {
        switch (self[key], object) {
        case (nil, nil): return
        case (let old?, let new?) where CanonicalValue.areEqual(old, new): return
        default: self[key] = object
        }
    }

    package func fail(_ error: any Error) {
        failure = failure ?? error
    }

    /// Runs the closure when the thread's transaction is over and its locks are released; now, where there is none.
    package static func afterwards(_ action: @escaping () -> Void) {
        if let current { current.addAfterwards(action) } else { action() }
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
        Self.threads.value = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
        defer { (Self.threads.value, session) = (nil, nil) }
        return try body()
    }

    /// Thread-local and not task-local: a task started inside an update must not take part in it.
    private static let threads = ThreadLocal()
}
