public import Observation

extension PersistentPrefs: Observable {}

/// An instance subscribes to its root. Its changes are also told to key-value observers, where there are any.
extension ObservationBridge<PersistentPrefs> {
    /// - Parameter key: nil stands for all keys.
    func access(_ key: String?, of prefs: PersistentPrefs) {
        access(key, of: prefs) { subscribe(to: prefs) }
    }

    func subscribe(to prefs: PersistentPrefs) {
        subscribe(to: "") {
            guard let follower = prefs.follower(of: []), prefs.follow(follower, InstanceReceiver(follower)) != nil else {
                return nil
            }
            return { follower.end() }
        }
    }

    fileprivate func announce(_ pending: PendingChange, _ follower: RootFollower) {
        guard let prefs = follower.state.owner, let change = follower.change(pending) else { return }
        prefs.tellKeyValueObservers(of: pending) { announce(change.keys, of: prefs) }
    }
}

private final class InstanceReceiver: ChangeReceiver {
    private let follower: RootFollower

    init(_ follower: RootFollower) {
        self.follower = follower
    }

    func put(_ change: PendingChange) -> (@Sendable () -> Void)? {
        { [follower] in follower.state.bridge.announce(change, follower) }
    }
}
