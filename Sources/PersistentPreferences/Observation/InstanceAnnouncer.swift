public import Observation

/// Tells the Observation framework, and where there is one the key-value observing, of an instance's changes: right after the
/// commit, on the thread that made it; on the main queue where it was made elsewhere.
///
/// Nothing tells when the last observer of either kind is gone: an instance that was observed once is followed until it is
/// released.
final class InstanceAnnouncer: ChangeReceiver, @unchecked Sendable {
    private let registrar = ObservationRegistrar()
    private let lock = Lock()
    // Under the lock.
    private var follower: RootFollower?

    // MARK: - Who reads

    /// Notes that a value is read, if anybody keeps track of it.
    func access(_ key: String, of prefs: PersistentPrefs) {
        if isTracked(prefs) { registrar.access(prefs, keyPath: \.[observed: key]) }
    }

    /// The same of all values.
    func accessAll(of prefs: PersistentPrefs) {
        if isTracked(prefs) { registrar.access(prefs, keyPath: \.values) }
    }

    /// Whether somebody keeps track of what the thread reads; then the instance is followed from here on.
    private func isTracked(_ prefs: PersistentPrefs) -> Bool {
        guard TrackingProbe.isTracked(prefs, registrar, Self.probe) else { return false }
        follow(prefs)
        return true
    }

    nonisolated(unsafe) private static let probe: KeyPath<PersistentPrefs, Void> = \.[probe: TrackingProbe()]

    // MARK: - What changes

    /// Follows the instance's root, once.
    func follow(_ prefs: PersistentPrefs) {
        guard lock.withLock({ follower == nil }), let new = prefs.follower(of: []) else { return }
        let isFirst = lock.withLock {
            guard follower == nil else { return false }
            follower = new
            return true
        }
        // What cannot be followed now may be at the next read.
        if isFirst, prefs.follow(new, self) == nil { end() }
    }

    /// Called when the instance is released.
    func end() {
        let last = lock.withLock {
            defer { follower = nil }
            return follower
        }
        last?.end()
    }

    func put(_ change: PendingChange) -> (@Sendable () -> Void)? {
        { [weak self] in self?.announce(change) }
    }

    private func announce(_ pending: PendingChange) {
        guard let follower = lock.withLock({ follower }), let prefs = follower.state.owner,
            let change = follower.change(pending)
        else { return }
        prefs.tellKeyValueObservers(of: pending) {
            for key in change.keys {
                registrar.withMutation(of: prefs, keyPath: \.[observed: key]) {}
            }
            registrar.withMutation(of: prefs, keyPath: \.values) {}
        }
    }
}

extension PersistentPrefs: Observable {}
