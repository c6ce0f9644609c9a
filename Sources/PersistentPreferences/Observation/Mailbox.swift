package import Dispatch
package import PrefsFileEngine
import PrefsPropertyLists

/// Delivers the changes that wait for one observer to a closure, a sequence or a publisher. A slow one delays no other.
///
/// Delivers one change at a time, in order, and no more than the subscriber has demanded. The
/// subscriber may request and end inside a delivery. The owner must call `end()`.
package final class Mailbox: Sendable {
    /// A demand without limit.
    package static var unlimited: Int { .max }

    /// The call of a subscriber. Returns by how much its demand grows.
    package typealias Call = () -> Int

    /// nil delivers on `WorkerThreads.observers`.
    private let queue: DispatchQueue?
    private let state: Locked<State>

    private struct State {
        var subscription: EntrySubscription?
        /// nil once the subscription has ended.
        var prepare: ((EntryChange) -> Call?)?
        var first: Call?
        /// How many changes may be delivered.
        var demand: Int
        /// Whether a delivery is running or scheduled.
        var isDelivering = false

        mutating func add(_ count: Int) {
            demand = count >= unlimited - demand ? unlimited : demand + count
        }

        /// - Returns: whether the caller must schedule a delivery.
        mutating func schedule() -> Bool {
            guard !isDelivering, demand > 0, subscription?.observer.hasWaiting == true else { return false }
            isDelivering = true
            return true
        }

        /// - Returns: the first call, if it is demanded; the caller makes it.
        mutating func takeFirst() -> Call? {
            guard prepare != nil, demand > 0, let first else { return nil }
            // Nothing is delivered before the first demand, so no other delivery is running.
            self.first = nil
            isDelivering = true
            return first
        }
    }

    /// - Parameters:
    ///   - queue: the queue of the deliveries; nil for the threads that all subscribers without a queue share.
    ///   - demand: how many changes the subscriber takes without a request.
    ///   - prepare: makes the call for a change; nil leaves the change out. There is no call after the end, even if it comes
    ///     in between.
    package init(
        on queue: DispatchQueue? = nil, demand: Int = 0, _ prepare: @escaping (EntryChange) -> Call?
    ) {
        self.queue = queue
        state = Locked(State(prepare: prepare, demand: demand))
    }

    /// How the observer gets its changes, whose subscription `begin` gets.
    package var delivery: EntryObserver.Delivery { .waiting { self.wake() } }

    /// Keeps the subscription until the end. Called once, before anything is requested.
    ///
    /// - Parameter first: made before all others, by the request that demands it, on its thread.
    package func begin(_ subscription: EntrySubscription, with first: Call? = nil) {
        let isDue = state.withLock { state in
            (state.subscription, state.first) = (subscription, first)
            return state.schedule()
        }
        if isDue { scheduleDelivery() }
    }

    /// Adds to the demand.
    package func request(_ count: Int) {
        let (first, isDue) = state.withLock { state in
            guard state.prepare != nil else { return (nil as Call?, false) }
            state.add(count)
            let first = state.takeFirst()
            return (first, first == nil && state.schedule())
        }
        if isDue { scheduleDelivery() }
        guard let first else { return }
        deliver(first)
        endDelivery()
    }

    private func wake() -> EntryObserver.Action? {
        state.withLock { $0.schedule() } ? beginDelivery() : nil
    }

    /// Ends the deliveries, except one that another thread has begun or is about to begin.
    package func end() {
        // The subscriber is released outside the lock: its deinit may call this.
        let last = state.withLock { state in
            defer { state = State(demand: 0) }
            return state
        }
        last.subscription?.end()
    }

    private func scheduleDelivery() { beginDelivery()?() }

    /// - Returns: the delivery, if no thread can be started for it. It must run when the caller holds no lock.
    private func beginDelivery() -> EntryObserver.Action? {
        guard let queue else { return WorkerThreads.observers.begin { self.deliverNext() } }
        DispatchReadiness.shared.async(on: queue) { self.deliverNext() }
        return nil
    }

    private func deliverNext() {
        let next = state.withLock { state -> (prepare: (EntryChange) -> Call?, change: EntryChange)? in
            guard let prepare = state.prepare, state.demand > 0,
                let change = state.subscription?.observer.takeFirst()
            else { return nil }
            return (prepare, change)
        }
        if let next, let call = next.prepare(next.change) { deliver(call) }
        endDelivery()
    }

    /// Does nothing if the subscription has ended in between.
    private func deliver(_ call: Call) {
        let isOver = state.withLock { state in
            if state.demand < Self.unlimited { state.demand -= 1 }
            return state.prepare == nil
        }
        if isOver { return }
        let more = call()
        state.withLock { $0.add(more) }
    }

    private func endDelivery() {
        let isDue = state.withLock { state in
            state.isDelivering = false
            return state.schedule()
        }
        if isDue { scheduleDelivery() }
    }
}
