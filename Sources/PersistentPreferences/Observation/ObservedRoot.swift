import PrefsFileEngine
import PrefsPropertyLists

/// The part of an instance's root that one observer sees.
///
/// It may outlive the instance. It then uses the keys that were allowed when it was made.
struct ObservedRoot: Sendable {
    /// The root of the instance when this was made.
    let root: Root
    /// The store of the innermost `withStore` when this was made.
    private let override: Roots?
    private let firstAllowed: AllowedKeys
    /// The keys that the observer asks for; nil for all allowed keys.
    private let keys: Set<String>?

    init(_ root: Root, allowed: AllowedKeys, keys: Set<String>?) {
        self.root = root
        override = StoreOverride.innermost
        firstAllowed = allowed
        self.keys = keys
    }

    var state: InstanceState { root.state }

    /// The keys that a store has to watch.
    var storedKeys: [String] { (keys.map(Array.init) ?? firstAllowed.list) + state.declarations.schema.ownKeys }

    /// The part of a change that concerns the observer; nil if there is no such part. Runs no code of the class.
    func pending(_ change: EntryChange) -> PendingChange? {
        let schema = state.declarations.schema
        let isLayered = change.after.layers != nil
        let hasShape =
            !isLayered && self.root.roots.form == .exact && schema.hasShape(change.before.members)
            && schema.hasShape(change.after.members)
        // A flat domain is the root under every key of the instance.
        let root = change.key.isEmpty ? state.key : change.key
        var pending = PendingChange(change, root: root, keepsWhole: !hasShape)
        if let keys, hasShape { pending.filter(to: keys) }
        return pending.difference.isEmpty && !isLayered ? nil : pending
    }

    /// A change as the instance shows it; nil if the change is invisible in the instance. Runs code of the class.
    func change(_ pending: PendingChange) -> PrefsChange? {
        let allowed = state.owner?.allowedKeys ?? firstAllowed
        guard let shared = pending.shared else { return change(pending, allowed) }
        return shared.withLock { shared in
            if let known = shared as? SharedChange, known.root == pending.root,
                AllowedKeysCache.areSame(known.allowed, allowed.list)
            {
                return known.change
            }
            let new = change(pending, allowed)
            shared = SharedChange(root: pending.root, allowed: allowed.list, change: new)
            return new
        }
    }

    /// The visible part of a change for all observers that allow the same keys and ask for all of them.
    private struct SharedChange: Sendable {
        let root: String
        let allowed: [String]
        let change: PrefsChange?
    }

    private func change(_ pending: PendingChange, _ allowed: AllowedKeys) -> PrefsChange? {
        var difference = pending.difference
        if let whole = pending.whole {
            difference = DictionaryDifference(
                from: values(in: whole.before, allowed), to: values(in: whole.after, allowed))
        }
        difference = difference.filtered { allowed.contains($0) && keys?.contains($0) ?? true }
        guard !difference.isEmpty else { return nil }
        return PrefsChange(root: pending.root, difference, isForeign: pending.isForeign, count: pending.count)
    }

    /// Runs an observer's closure in the `withStore` in which the observer started.
    func inItsStore(_ body: () -> Void) {
        if let override { StoreOverride.$innermost.withValue(override, operation: body) } else { body() }
    }

    /// The values that a subscription starts from: of the root or, if the class has not moved it yet, of the former
    /// root.
    func values(at subscription: EntrySubscription) -> [String: StoredValue] {
        if subscription.start.value?.dictionary != nil {
            return values(in: subscription.start, state.owner?.allowedKeys ?? firstAllowed)
        }
        var outcome = AccessOutcome(of: state)
        return (try? root.view(&outcome).values(&outcome)) ?? [:]
    }

    /// A root as the instance shows it; empty if a migration fails.
    private func values(in entry: EntryState, _ allowed: AllowedKeys) -> [String: StoredValue] {
        var outcome = AccessOutcome(of: state)
        return (try? root.view(of: entry).values(allowed: allowed, &outcome)) ?? [:]
    }
}
