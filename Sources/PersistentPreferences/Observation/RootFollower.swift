import PrefsFileEngine
import PrefsPropertyLists

/// Takes in the changes that a `RootFollower` brings.
protocol ChangeReceiver: AnyObject, Sendable {
    /// Called under the feed's lock. Gives what `EntryListener.note` does.
    func put(_ change: PendingChange) -> (@Sendable () -> Void)?
}

/// Brings the changes of an instance's root to one observer, and goes with the instance where its key is assigned.
///
/// It outlives the instance, whose keys of the beginning it then sticks to. It and its receiver keep each other until `end`.
final class RootFollower: EntryListener, @unchecked Sendable {
    let state: InstanceState
    private let firstAllowed: AllowedKeys
    /// The keys that the observer asks for; nil for all that are allowed.
    private let keys: Set<String>?
    /// Set before anything is heard. Not weak: under the feed's lock nothing may be released whose end comes back to it.
    private var receiver: (any ChangeReceiver)?

    private let lock = Lock()
    // Under the lock.
    private var root: String
    private var following: (any Following)?
    private var isOver = false

    init(_ prefs: PersistentPrefs, root: String, allowed: AllowedKeys, keys: Set<String>?) {
        state = prefs.state
        firstAllowed = allowed
        self.root = root
        self.keys = keys
    }

    private var wantedKeys: [String] { (keys.map(Array.init) ?? firstAllowed.list) + state.declarations.schema.ownKeys }

    /// - Returns: the root that it starts from, and why changes made elsewhere are not heard.
    func start(_ receiver: any ChangeReceiver) throws -> (values: [String: Any]?, failure: StorageFailure?) {
        let new = try lock.withLock {
            self.receiver = receiver
            let new = try state.store.follow(root: root, keys: wantedKeys, self, from: nil)
            following = new
            return new
        }
        state.register(self)
        // The instance may have gone to another root before it knew of this.
        goAlong()
        return (new.subscriptionStart.start as? [String: Any], new.subscriptionStart.failure)
    }

    /// Goes where the instance is. Two that assign its key at once may come here in either order.
    func goAlong() {
        // An override may give another key each time.
        for _ in 0..<100 {
            guard let root = state.owner?.key, lock.withLock({ !isOver && self.root != root }) else { return }
            move(to: root)
        }
    }

    /// Follows another root, and hears of the difference.
    private func move(to newRoot: String) {
        let catchUp: (@Sendable () -> Void)? = lock.withLock {
            guard !isOver else { return nil }
            root = newRoot
            var heard = following?.end()
            heard?.isForeign = false
            following = nil
            // A root that cannot be followed is one whose every access says so.
            following = try? state.store.follow(root: newRoot, keys: wantedKeys, self, from: heard)
            return following?.subscriptionStart.catchUp
        }
        catchUp?()
    }

    func end() {
        let following = lock.withLock {
            isOver = true
            defer { self.following = nil }
            return self.following
        }
        following?.end()
    }

    func note(_ change: EntryChange) -> (@Sendable () -> Void)? {
        let schema = state.declarations.schema
        let hasShape =
            schema.hasShape(change.before as? [String: Any]) && schema.hasShape(change.after as? [String: Any])
        // A flat domain is the root under whatever key the instance has.
        var pending = PendingChange(
            change, root: change.key.isEmpty ? state.key : change.key, keepsWhole: !hasShape)
        if let keys, hasShape { pending.filter(keys.contains) }
        return pending.difference.isEmpty ? nil : receiver?.put(pending)
    }

    /// A change as the instance shows it; nil where it shows nothing of it. Runs code of the class.
    func change(_ pending: PendingChange) -> PrefsChange? {
        let allowed = state.owner?.allowedKeys ?? firstAllowed
        var difference = pending.difference
        if let whole = pending.whole {
            difference = DictionaryDifference(from: shown(whole.before), to: shown(whole.after))
        }
        difference = difference.filtered { allowed.contains($0) && keys?.contains($0) ?? true }
        guard !difference.isEmpty else { return nil }
        return PrefsChange(root: pending.root, difference, isForeign: pending.isForeign, count: pending.count)
    }

    /// A root in the shape of now; nothing where a migration fails.
    func shown(_ stored: [String: Any]?) -> [String: Any] {
        (try? state.declarations.schema.current(stored, root: "")) ?? [:]
    }
}
