import Dispatch
import PrefsFileEngine
import PrefsPropertyLists

/// Calls a closure with one change after another, on a queue: slow as it may be, it delays nobody else.
///
/// It is the listener of a store's observer, and the receiver of an instance's.
final class CallbackObserver: ChangeReceiver, EntryListener, @unchecked Sendable {
    private let queue: DispatchQueue
    private let lock = Lock()
    // Under the lock.
    private var waiting = WaitingChanges()
    private var isScheduled = false
    private var deliver: (@Sendable (PendingChange) -> Void)?

    /// - Parameter queue: nil for one of its own.
    init(on queue: DispatchQueue?, _ deliver: @escaping @Sendable (PendingChange) -> Void) {
        self.queue = queue ?? DispatchQueue(label: "PersistentPreferences.observer")
        self.deliver = deliver
    }

    func put(_ change: PendingChange) -> (@Sendable () -> Void)? {
        lock.withLock {
            guard deliver != nil else { return }
            waiting.append(change)
            schedule()
        }
        return nil
    }

    func note(_ change: EntryChange) -> (@Sendable () -> Void)? {
        let pending = PendingChange(change, root: change.key, keepsWhole: false)
        return pending.difference.isEmpty ? nil : put(pending)
    }

    func end() {
        // The closure is released outside the lock: somebody's deinit may come back here.
        let last = lock.withLock {
            defer { (deliver, waiting) = (nil, WaitingChanges()) }
            return (deliver, waiting)
        }
        withExtendedLifetime(last) {}
    }

    /// Under the lock. One call at a time, also on a queue that is concurrent.
    private func schedule() {
        guard !isScheduled, !waiting.isEmpty else { return }
        isScheduled = true
        queue.async { self.deliverNext() }
    }

    private func deliverNext() {
        let next = lock.withLock { () -> (() -> Void)? in
            guard let deliver, let change = waiting.popFirst() else { return nil }
            return { deliver(change) }
        }
        next?()
        lock.withLock {
            isScheduled = false
            schedule()
        }
    }
}
