import PrefsFileEngine
import PrefsPropertyLists

/// Subscribes an observer to an instance's root, and to another root when the instance's key is assigned.
///
/// The subscriber, the store's feed and the observer keep each other until the subscription ends.
final class RootSubscriber: MovingSubscriber {
    private let root: ObservedRoot
    private let observer: EntryObserver
    private let state: Locked<State>

    private struct State {
        var key: String
        var subscription: EntrySubscription?
        var isOver = false
    }

    /// - Parameter fault: called for a fault of the store, and for its end, as of an `EntryObserver`. nil for the failure
    ///   handlers of the instance, which are told once for all its observers.
    init(
        _ root: ObservedRoot, _ delivery: EntryObserver.Delivery,
        fault: (@Sendable (FileError?) -> EntryObserver.Action?)? = nil
    ) {
        self.root = root
        observer = EntryObserver(
            of: root.seen, in: root.root.key, delivery, reader: fault == nil ? root.instance : nil,
            fault: fault ?? root.report)
        state = Locked(State(key: root.root.key))
    }

    func start() throws -> EntrySubscription {
        let first = try state.withLock { state in
            let first = try subscribe(to: state.key)
            state.subscription = first
            return first
        }
        root.observers.register(self)
        // The instance may have moved to another root before it knew of this subscriber.
        moveWithInstance()
        return EntrySubscription(of: observer, start: first.start, failure: first.failure) { self.end() }
    }

    private func subscribe(to key: String) throws -> EntrySubscription {
        try root.root.roots.subscribe(to: key, keys: root.storedKeys, observer)
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

    /// Subscribes to another root. The observer gets the difference.
    private func move(to newKey: String) {
        let catchUp: EntryObserver.Action? = state.withLock { state in
            guard !state.isOver else { return nil }
            state.key = newKey
            state.subscription?.end()
            observer.moveByAssignment(to: newKey)
            // If the subscription fails, every access reports the reason.
            state.subscription = try? subscribe(to: newKey)
            return state.subscription?.catchUp
        }
        catchUp?()
    }

    private func end() {
        let subscription = state.withLock { state in
            state.isOver = true
            defer { state.subscription = nil }
            return state.subscription
        }
        subscription?.end()
    }
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
    init(_ root: Root, of observers: InstanceObservers, allowed: AllowedKeys, keys: Set<String>?) {
        (self.root, self.observers) = (root, observers)
        override = StoreOverride.innermost
        firstAllowed = allowed
        self.keys = keys
    }

    var instance: RootInstance { root.instance }

    /// The keys that a store has to watch.
    var storedKeys: [String] { (keys.map(Array.init) ?? firstAllowed.list) + root.schema.ownKeys }

    /// The members of the entry that show the keys that the observer asks for; nil for all, which layers need.
    var seen: SeenMembers? {
        guard let keys, root.roots.layers == nil else { return nil }
        return SeenMembers(keys, of: root.schema.shape)
    }

    /// Whether the class shows the members of the entry as they are stored.
    private func showsMembers(of change: EntryChange) -> Bool {
        let schema = root.schema
        return change.after.layers == nil && root.roots.hasExactValues && schema.hasShape(change.before.members)
            && schema.hasShape(change.after.members)
    }

    /// A change as the instance shows it; nil if the change is invisible in the instance. Runs code of the class.
    func change(_ change: EntryChange) -> PrefsChange? {
        // A change of what is around the entry may be visible, too.
        if change.difference.isEmpty, change.after.context == nil { return nil }
        let allowed = instance.owner?.allowed ?? firstAllowed
        guard showsMembers(of: change) else {
            return visible(
                DictionaryDifference(from: values(in: change.before, allowed), to: values(in: change.after, allowed)),
                of: change, allowed)
        }
        return change.shared.withLock { shared in
            if let known = shared as? SharedChange, known.root == change.key, known.keys == keys,
                AllowedKeysCache.areSame(known.allowed, allowed.list)
            {
                return known.change
            }
            let new = visible(change.difference, of: change, allowed)
            shared = SharedChange(root: change.key, keys: keys, allowed: allowed.list, change: new)
            return new
        }
    }

    /// The visible part of a change for all observers that allow the same keys and ask for the same ones.
    private struct SharedChange: Sendable {
        let root: String
        let keys: Set<String>?
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
    func inItsStore<R>(_ body: () -> R) -> R {
        if let override { StoreOverride.$innermost.withValue(override, operation: body) } else { body() }
    }

    /// Calls the failure handlers for a fault of the store. ``PersistentPrefs/lastError`` stays the outcome of the latest access.
    func report(_ error: FileError?) -> EntryObserver.Action? {
        guard let error else {
            _ = observers.record(nil, of: .fault())
            return nil
        }
        return WorkerThreads.observers.begin { [instance] in instance.owner?.report(PrefsError(error), of: .fault()) }
    }

    /// The values that a subscription starts from: of the root or, if the class has not moved it yet, of the former
    /// root.
    func values(at subscription: EntrySubscription) -> [String: StoredValue] {
        if subscription.start.value?.dictionary != nil {
            return values(in: subscription.start, instance.owner?.allowed ?? firstAllowed)
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
