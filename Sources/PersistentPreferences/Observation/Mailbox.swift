package import Dispatch
package import PrefsFileEngine
import PrefsPropertyLists

/// The changes that wait for one subscriber: a closure, a sequence or a publisher. A slow subscriber delays no other.
///
/// Delivers one element at a time, in order, and no more than the subscriber has demanded. The
/// subscriber may request and end inside a delivery. The owner must call `end()`.
package final class Mailbox<Element>: EntrySubscriber {
    /// A demand without limit.
    package static var unlimited: Int { .max }

    /// nil delivers on `WorkerThreads.observers`.
    private let queue: DispatchQueue?
    private let state: Locked<State>

    private struct State {
        var subscription: EntrySubscription?
        var element: ((EntryChange) -> Element?)?
        /// nil once the subscription has ended.
        var deliver: ((Element) -> Int)?
        var first: Element?
        var waiting = WaitingChanges()
        /// How many elements may be delivered.
        var demand: Int
        /// Whether a delivery is running or scheduled.
        var isDelivering = false

        mutating func add(_ count: Int) {
            demand = count >= unlimited - demand ? unlimited : demand + count
        }

        /// - Returns: whether the caller must schedule a delivery.
        mutating func schedule() -> Bool {
            guard !isDelivering, demand > 0, !waiting.isEmpty else { return false }
            isDelivering = true
            return true
        }

        /// - Returns: the first element, if it is demanded; the caller delivers it.
        mutating func takeFirst() -> Element? {
            guard deliver != nil, demand > 0, let first else { return nil }
            // Nothing is delivered before the first demand, so no other delivery is running.
            self.first = nil
            isDelivering = true
            return first
        }
    }

    /// - Parameters:
    ///   - queue: the queue of the deliveries; nil for the threads that all subscribers without a queue share.
    ///   - demand: how many elements the subscriber takes without a request.
    ///   - element: makes the subscriber's element of a change; nil leaves the change out.
    ///   - deliver: the subscriber. Returns by how much its demand grows.
    package init(
        on queue: DispatchQueue? = nil, demand: Int = 0, _ element: @escaping (EntryChange) -> Element?,
        _ deliver: @escaping (Element) -> Int
    ) {
        self.queue = queue
        state = Locked(State(element: element, deliver: deliver, demand: demand))
    }

    /// Keeps the subscription until the end. Called once, before anything is requested.
    ///
    /// - Parameter first: delivered before all changes, by the request that demands it, on its thread.
    package func begin(_ subscription: EntrySubscription, with first: Element? = nil) {
        state.withLock { ($0.subscription, $0.first) = (subscription, first) }
    }

    /// Adds to the demand.
    package func request(_ count: Int) {
        let (first, isDue) = state.withLock { state in
            guard state.deliver != nil else { return (nil as Element?, false) }
            state.add(count)
            let first = state.takeFirst()
            return (first, first == nil && state.schedule())
        }
        if isDue { scheduleDelivery() }
        guard let first else { return }
        deliver(first)
        endDelivery()
    }

    package func receive(_ change: EntryChange) -> (@Sendable () -> Void)? {
        // A change of what is around the entry may be visible, too.
        if change.difference.isEmpty, change.after.context == nil { return nil }
        let isDue = state.withLock { state in
            guard state.deliver != nil else { return false }
            state.waiting.append(change)
            return state.schedule()
        }
        return isDue ? beginDelivery() : nil
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
    private func beginDelivery() -> (@Sendable () -> Void)? {
        guard let queue else { return WorkerThreads.observers.begin { self.deliverNext() } }
        DispatchReadiness.shared.async(on: queue) { self.deliverNext() }
        return nil
    }

    private func deliverNext() {
        let next = state.withLock { state -> (() -> Element?)? in
            guard let element = state.element, state.demand > 0, let change = state.waiting.popFirst() else {
                return nil
            }
            return { element(change) }
        }
        if let element = next?() { deliver(element) }
        endDelivery()
    }

    /// Does nothing if the subscription has ended in between.
    private func deliver(_ element: Element) {
        let deliver = state.withLock { state in
            if state.demand < Self.unlimited { state.demand -= 1 }
            return state.deliver
        }
        guard let deliver else { return }
        let more = deliver(element)
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

extension Mailbox<PrefsChange> {
    /// For a closure that a store calls after each change of a root.
    package convenience init(of root: String, _ action: @escaping @Sendable (PrefsChange) -> Void) {
        self.init(demand: Self.unlimited) {
            PrefsChange(root: root, $0.difference, of: $0)
        } _: {
            action($0)
            return 0
        }
    }
}

/// Changes that an observer has not yet received, in order. If there are too many, the newest are merged.
struct WaitingChanges {
    static let capacity = 1_024
    /// The most bytes that wait, apart from one change that may be larger.
    static let byteCapacity = 2 * PropertyListLimits.rootBytes

    private var changes: [EntryChange?] = []
    private var first = 0
    private var bytes = 0

    var isEmpty: Bool { first == changes.count }

    mutating func append(_ change: EntryChange) {
        if isEmpty || changes.count - first < Self.capacity && bytes + change.bytes <= Self.byteCapacity {
            bytes += change.bytes
            changes.append(change)
        } else {
            // Taken out of the array, so that it is changed in place.
            var last = changes.removeLast()
            bytes -= last?.bytes ?? 0
            last?.append(change)
            bytes += last?.bytes ?? 0
            changes.append(last)
        }
    }

    mutating func popFirst() -> EntryChange? {
        guard !isEmpty else { return nil }
        defer {
            bytes -= changes[first]?.bytes ?? 0
            changes[first] = nil
            first += 1
            if isEmpty {
                self = WaitingChanges()
            } else if first == Self.capacity {
                changes.removeFirst(first)
                first = 0
            }
        }
        return changes[first]
    }
}
