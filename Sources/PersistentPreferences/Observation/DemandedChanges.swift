import Dispatch
import PrefsPropertyLists

/// Delivers no more changes to a subscriber than it has demanded: a Combine subscription without Combine.
///
/// Delivers one element at a time, in order. The first element is delivered by the `request` that demands it, on its thread;
/// all others are delivered on a queue. The subscriber may request and end inside a delivery. The owner must call `end()`.
final class DemandedChanges<Element>: ChangeReceiver, @unchecked Sendable {
    /// A demand without limit.
    static var unlimited: Int { .max }

    private let queue = DispatchQueue(label: "PersistentPreferences.publisher")
    private let lock = Lock()
    // Under the lock.
    private var follower: RootFollower?
    private var element: ((PendingChange) -> Element?)?
    private var receive: ((Element) -> Int)?
    private var first: Element?
    private var waiting = WaitingChanges()
    /// How many elements may be delivered.
    private var demand = 0
    /// Whether a delivery is under way or scheduled.
    private var isDelivering = false

    /// - Parameters:
    ///   - element: what the subscriber gets of a change; nil leaves it out.
    ///   - receive: the subscriber. Returns by how much its demand grows.
    init(
        _ follower: RootFollower, _ element: @escaping (PendingChange) -> Element?,
        _ receive: @escaping (Element) -> Int
    ) {
        self.follower = follower
        self.element = element
        self.receive = receive
    }

    /// Delivers an element before all changes. Called before anything is requested.
    func begin(with first: Element) {
        lock.withLock { self.first = first }
    }

    /// Adds to the demand.
    func request(_ count: Int) {
        let taken = lock.withLock { takeFirst(demanding: count) }
        guard let taken else { return }
        deliver(taken)
        lock.withLock {
            isDelivering = false
            schedule()
        }
    }

    /// Under the lock.
    ///
    /// - Returns: the first element, to be delivered by the caller; nil if the queue delivers what there is.
    private func takeFirst(demanding count: Int) -> Element? {
        guard receive != nil else { return nil }
        add(count)
        guard demand > 0, let first else {
            schedule()
            return nil
        }
        // Nothing is delivered before the first demand, so no other delivery is under way.
        self.first = nil
        isDelivering = true
        return first
    }

    func put(_ change: PendingChange) -> (@Sendable () -> Void)? {
        lock.withLock {
            guard receive != nil else { return }
            waiting.append(change)
            schedule()
        }
        return nil
    }

    /// Ends the deliveries, except one that another thread has begun or is about to begin.
    func end() {
        // The subscriber is released outside the lock: its deinit may call this.
        let (follower, last) = lock.withLock {
            defer { (self.follower, element, receive, waiting, first) = (nil, nil, nil, WaitingChanges(), nil) }
            return (self.follower, (element, receive, waiting, first))
        }
        follower?.end()
        withExtendedLifetime(last) {}
    }

    /// Under the lock.
    private func add(_ count: Int) {
        demand = count >= Self.unlimited - demand ? Self.unlimited : demand + count
    }

    /// Under the lock.
    private func schedule() {
        guard !isDelivering, demand > 0, !waiting.isEmpty else { return }
        isDelivering = true
        queue.async { self.deliverNext() }
    }

    private func deliverNext() {
        let next = lock.withLock { () -> (() -> Element?)? in
            guard let element, demand > 0, let change = waiting.popFirst() else { return nil }
            return { element(change) }
        }
        if let element = next?() { deliver(element) }
        lock.withLock {
            isDelivering = false
            schedule()
        }
    }

    /// Does nothing if the subscription has ended meanwhile.
    private func deliver(_ element: Element) {
        let subscriber = lock.withLock {
            if demand < Self.unlimited { demand -= 1 }
            return receive
        }
        guard let subscriber else { return }
        let more = subscriber(element)
        lock.withLock { add(more) }
    }
}
