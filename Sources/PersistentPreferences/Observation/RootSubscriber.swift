import PrefsFileEngine
import PrefsPropertyLists

/// Receives a change. Called under the feed's lock. Returns an action to run once every lock is released, like
/// `EntrySubscriber.receive`.
package typealias EntryChangeReceiver = @Sendable (EntryChange) -> (@Sendable () -> Void)?

/// Subscribes to an instance's root for one receiver, and to another root when the instance's key is assigned.
///
/// The subscriber, the store's feed and the receiver keep each other until the subscription ends.
final class RootSubscriber: EntrySubscriber {
    private let root: ObservedRoot
    private let receiver: EntryChangeReceiver
    private let state: Locked<State>

    private struct State {
        var key: String
        var subscription: EntrySubscription?
        var isOver = false
    }

    init(_ root: ObservedRoot, _ receiver: @escaping EntryChangeReceiver) {
        self.root = root
        self.receiver = receiver
        state = Locked(State(key: root.root.key))
    }

    func start() throws -> EntrySubscription {
        let first = try state.withLock { state in
            let first = try subscribe(to: state.key, from: nil)
            state.subscription = first
            return first
        }
        root.state.register(self)
        // The instance may have moved to another root before it knew of this subscriber.
        moveWithInstance()
        return EntrySubscription(start: first.start, failure: first.failure) { self.end() }
    }

    private func subscribe(to key: String, from known: LastKnownEntry?) throws -> EntrySubscription {
        try root.root.roots.subscribe(to: key, keys: root.storedKeys, self, from: known)
    }

    /// Moves to the current root of the instance. Two threads that assign the key at once may arrive here in either
    /// order.
    func moveWithInstance() {
        // An override may return another key each time.
        for _ in 0..<100 {
            guard let key = root.state.owner?.key, state.withLock({ !$0.isOver && $0.key != key }) else { return }
            move(to: key)
        }
    }

    /// Subscribes to another root, and receives the difference.
    private func move(to newKey: String) {
        let catchUp: (@Sendable () -> Void)? = state.withLock { state in
            guard !state.isOver else { return nil }
            state.key = newKey
            var known = state.subscription?.end()
            known?.isForeign = false
            // If the subscription fails, every access reports the reason.
            state.subscription = try? subscribe(to: newKey, from: known)
            return state.subscription?.catchUp
        }
        catchUp?()
    }

    private func end() -> LastKnownEntry? {
        let subscription = state.withLock { state in
            state.isOver = true
            defer { state.subscription = nil }
            return state.subscription
        }
        return subscription?.end()
    }

    func receive(_ change: EntryChange) -> (@Sendable () -> Void)? {
        root.concerns(change) ? receiver(change) : nil
    }

    /// Calls the failure handler. ``PersistentPrefs/lastError`` stays the outcome of the latest access.
    func failed(_ error: FileError?) {
        guard let error else { return root.state.endFaultOfStore() }
        WorkerThreads.observers.run { [state = root.state] in state.owner?.tell(PrefsError(error)) }
    }

    var reader: ObjectIdentifier { ObjectIdentifier(root.state) }
}
