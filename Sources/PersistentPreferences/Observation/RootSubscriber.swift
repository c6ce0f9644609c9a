import PrefsFileEngine
import PrefsPropertyLists

/// Receives a change. Called under the feed's lock. Returns an action to run once every lock is released, like
/// `EntrySubscriber.receive`.
package typealias EntryChangeReceiver = @Sendable (EntryChange) -> (@Sendable () -> Void)?

/// Subscribes to an instance's root for one receiver, and to another root when the instance's key is assigned.
///
/// The subscriber, the store's feed and the receiver keep each other until the subscription ends.
final class RootSubscriber: EntrySubscriber, MovingSubscriber {
    private let root: ObservedRoot
    private let receiver: EntryChangeReceiver
    private let failed: (@Sendable () -> (@Sendable () -> Void)?)?
    private let state: Locked<State>

    private struct State {
        var key: String
        var subscription: EntrySubscription?
        var isOver = false
    }

    /// - Parameter failed: called for a fault of the store, and for its end. It must return at once; what it returns runs
    ///   without a lock. nil for the failure handlers of the instance.
    init(
        _ root: ObservedRoot, failed: (@Sendable () -> (@Sendable () -> Void)?)? = nil,
        _ receiver: @escaping EntryChangeReceiver
    ) {
        self.root = root
        self.failed = failed
        self.receiver = receiver
        state = Locked(State(key: root.root.key))
    }

    func start() throws -> EntrySubscription {
        let first = try state.withLock { state in
            let first = try subscribe(to: state.key, from: nil)
            state.subscription = first
            return first
        }
        root.observers.register(self)
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
        for _ in Attempts.all {
            guard let key = root.instance.owner?.key, state.withLock({ !$0.isOver && $0.key != key }) else { return }
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
        guard var change = root.part(of: change) else { return nil }
        // A flat domain is the root under every key of the instance.
        if change.key.isEmpty { change.key = root.instance.key }
        return receiver(change)
    }

    /// Calls the failure handler. ``PersistentPrefs/lastError`` stays the outcome of the latest access.
    func failed(_ error: FileError?) -> (@Sendable () -> Void)? {
        if let failed { return failed() }
        guard let error else {
            _ = root.observers.record(nil, of: .fault())
            return nil
        }
        return WorkerThreads.observers.begin { [instance = root.instance] in
            instance.owner?.report(PrefsError(error), of: .fault())
        }
    }

    /// The failure handlers are told once for all subscribers of the instance.
    var reader: ObjectIdentifier { failed == nil ? ObjectIdentifier(root.instance) : ObjectIdentifier(self) }
}

// MARK: - What an observer sees

/// The part of an instance's root that one observer sees.
///
/// It may outlive the instance. It then uses the keys that were allowed when it was made.
struct ObservedRoot: Sendable {
    /// The root of the instance when this was made.
    let root: Root
    let observers: InstanceObservers
    /// The store of the innermost `withStore` when this was made.
    private let override: Roots?
    private let firstAllowed: AllowedKeys
    /// The keys that the observer asks for; nil for all allowed keys.
    private let keys: Set<String>?
    /// These keys, and those that show the shape of the root.
    private let neededKeys: Set<String>

    init(_ root: Root, of observers: InstanceObservers, allowed: AllowedKeys, keys: Set<String>?) {
        (self.root, self.observers) = (root, observers)
        override = StoreOverride.innermost
        firstAllowed = allowed
        self.keys = keys
        neededKeys = (keys ?? []).union(root.schema.ownKeys)
    }

    var instance: RootInstance { root.instance }

    /// The keys that a store has to watch.
    var storedKeys: [String] { (keys.map(Array.init) ?? firstAllowed.list) + root.schema.ownKeys }

    /// The part of a change that the observer may see; nil if there is none. Runs no code of the class.
    func part(of change: EntryChange) -> EntryChange? {
        if change.after.layers != nil { return change }
        guard let keys, showsMembers(of: change) else { return change.difference.isEmpty ? nil : change }
        guard keys.contains(where: change.difference.keys.contains) else { return nil }
        return change.part(neededKeys)
    }

    /// Whether the class shows the members of the entry as they are stored.
    private func showsMembers(of change: EntryChange) -> Bool {
        let schema = root.schema
        return change.after.layers == nil && root.roots.hasExactValues && schema.hasShape(change.before.members)
            && schema.hasShape(change.after.members)
    }

    /// A change as the instance shows it; nil if the change is invisible in the instance. Runs code of the class.
    func change(_ change: EntryChange) -> PrefsChange? {
        let allowed = instance.owner?.allowedKeys ?? firstAllowed
        guard showsMembers(of: change) else {
            return visible(
                DictionaryDifference(from: values(in: change.before, allowed), to: values(in: change.after, allowed)),
                of: change, allowed)
        }
        guard keys == nil else { return visible(change.difference, of: change, allowed) }
        return change.shared.withLock { shared in
            if let known = shared as? SharedChange, known.root == change.key,
                AllowedKeysCache.areSame(known.allowed, allowed.list)
            {
                return known.change
            }
            let new = visible(change.difference, of: change, allowed)
            shared = SharedChange(root: change.key, allowed: allowed.list, change: new)
            return new
        }
    }

    /// The visible part of a change for all observers that allow the same keys and ask for all of them.
    private struct SharedChange: Sendable {
        let root: String
        let allowed: [String]
        let change: PrefsChange?
    }

    private func visible(
        _ difference: DictionaryDifference, of change: EntryChange, _ allowed: AllowedKeys
    ) -> PrefsChange? {
        let visible = difference.filtered { allowed.contains($0) && keys?.contains($0) ?? true }
        return visible.isEmpty ? nil : PrefsChange(root: change.key, visible, of: change)
    }

    /// Runs an observer's closure in the `withStore` in which the observer started.
    func inItsStore(_ body: () -> Void) {
        if let override { StoreOverride.$innermost.withValue(override, operation: body) } else { body() }
    }

    /// The values that a subscription starts from: of the root or, if the class has not moved it yet, of the former
    /// root.
    func values(at subscription: EntrySubscription) -> [String: StoredValue] {
        if subscription.start.value?.dictionary != nil {
            return values(in: subscription.start, instance.owner?.allowedKeys ?? firstAllowed)
        }
        var outcome = AccessOutcome()
        return (try? root.view(&outcome).values(&outcome)) ?? [:]
    }

    /// A root as the instance shows it; empty if a migration fails.
    private func values(in entry: EntryState, _ allowed: AllowedKeys) -> [String: StoredValue] {
        var outcome = AccessOutcome()
        return (try? root.view(of: entry).values(allowed: allowed, &outcome)) ?? [:]
    }
}
