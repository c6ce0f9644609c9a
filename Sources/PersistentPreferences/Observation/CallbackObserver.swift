import Dispatch
package import PrefsFileEngine
import PrefsPropertyLists

/// Calls a closure with one change after another, on a queue. A slow closure delays no other observer.
///
/// It subscribes to a store's root itself; an instance's root has a `RootSubscriber` before it.
package final class CallbackObserver: EntrySubscriber {
    private let queue: DispatchQueue
    private let state: Locked<State>

    private struct State {
        var waiting = WaitingChanges()
        var isScheduled = false
        /// nil once the observation has ended.
        var deliver: (@Sendable (PendingChange) -> Void)?

        /// One call at a time, also on a queue that is concurrent.
        ///
        /// - Returns: whether the caller has to schedule a delivery.
        mutating func schedule() -> Bool {
            guard !isScheduled, !waiting.isEmpty else { return false }
            isScheduled = true
            return true
        }
    }

    /// - Parameter queue: nil for a private queue.
    init(on queue: DispatchQueue?, _ deliver: @escaping @Sendable (PendingChange) -> Void) {
        self.queue = queue ?? DispatchQueue(label: "PersistentPreferences.observer")
        state = Locked(State(deliver: deliver))
    }

    /// The observer of a root of a store.
    package convenience init(of root: String, _ action: @escaping @Sendable (PrefsChange) -> Void) {
        self.init(on: nil) {
            action(PrefsChange(root: root, $0.difference, isForeign: $0.isForeign, count: $0.count))
        }
    }

    func receive(_ change: PendingChange) -> (@Sendable () -> Void)? {
        let isDue = state.withLock { state in
            guard state.deliver != nil else { return false }
            state.waiting.append(change)
            return state.schedule()
        }
        if isDue { scheduleDelivery() }
        return nil
    }

    package func receive(_ change: EntryChange) -> (@Sendable () -> Void)? {
        let pending = PendingChange(change, root: change.key, keepsWhole: false)
        return pending.difference.isEmpty ? nil : receive(pending)
    }

    package func end() {
        // Releases the closure outside the lock, because a deinit in it may call this object.
        let last = state.withLock { state in
            defer { (state.deliver, state.waiting) = (nil, WaitingChanges()) }
            return (state.deliver, state.waiting)
        }
        withExtendedLifetime(last) {}
    }

    private func scheduleDelivery() {
        queue.async { self.deliverNext() }
    }

    private func deliverNext() {
        let next = state.withLock { state -> (() -> Void)? in
            guard let deliver = state.deliver, let change = state.waiting.popFirst() else { return nil }
            return { deliver(change) }
        }
        next?()
        let isDue = state.withLock { state in
            state.isScheduled = false
            return state.schedule()
        }
        if isDue { scheduleDelivery() }
    }
}
