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

    /// Whether the observer may see a change. Runs no code of the class.
    func concerns(_ change: EntryChange) -> Bool {
        if change.after.layers != nil { return true }
        guard let keys, showsMembers(of: change) else { return !change.difference.isEmpty }
        return keys.contains(where: change.difference.keys.contains)
    }

    /// Whether the class shows the members of the entry as they are stored.
    private func showsMembers(of change: EntryChange) -> Bool {
        let schema = state.declarations.schema
        return change.after.layers == nil && root.roots.form == .exact && schema.hasShape(change.before.members)
            && schema.hasShape(change.after.members)
    }

    /// A change as the instance shows it; nil if the change is invisible in the instance. Runs code of the class.
    func change(_ change: EntryChange) -> PrefsChange? {
        let allowed = state.owner?.allowedKeys ?? firstAllowed
        // A flat domain is the root under every key of the instance.
        let root = change.key.isEmpty ? state.key : change.key
        guard showsMembers(of: change) else {
            return visible(
                DictionaryDifference(from: values(in: change.before, allowed), to: values(in: change.after, allowed)),
                of: change, root, allowed)
        }
        guard keys == nil else { return visible(change.difference, of: change, root, allowed) }
        return change.shared.withLock { shared in
            if let known = shared as? SharedChange, known.root == root,
                AllowedKeysCache.areSame(known.allowed, allowed.list)
            {
                return known.change
            }
            let new = visible(change.difference, of: change, root, allowed)
            shared = SharedChange(root: root, allowed: allowed.list, change: new)
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
        _ difference: DictionaryDifference, of change: EntryChange, _ root: String, _ allowed: AllowedKeys
    ) -> PrefsChange? {
        let visible = difference.filtered { allowed.contains($0) && keys?.contains($0) ?? true }
        return visible.isEmpty ? nil : PrefsChange(root: root, visible, of: change)
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
