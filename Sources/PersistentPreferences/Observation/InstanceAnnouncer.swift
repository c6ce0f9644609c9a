import Dispatch
public import Observation
import PrefsPropertyLists

/// Tells the Observation framework, and where there is one the key-value observing, of an instance's changes: right after the
/// commit, on the thread that made it; on the main queue where it was made elsewhere. `UnheardChanges` says which changes are
/// announced to the Observation framework a second time.
///
/// Nothing tells when the last observer of either kind is gone: an instance that was observed once is followed until it is
/// released.
final class InstanceAnnouncer: ChangeReceiver, @unchecked Sendable {
    private let registrar = ObservationRegistrar()
    private let lock = Lock()
    // Under the lock.
    private var follower: RootFollower?
    private var unheard = UnheardChanges()

    /// Whether the probe decides what is tracked; if not, every read counts as tracked. Only tests assign it, before the first
    /// read.
    var trustsProbe = TrackingProbe.works

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
        guard !trustsProbe || TrackingProbe.isTracked(prefs, registrar, Self.probe) else { return false }
        follow(prefs)
        if UnheardChanges.isOnMainThread, lock.withLock({ unheard.begin() }) {
            DispatchQueue.main.async { [weak self] in self?.announceUnheard() }
        }
        return true
    }

    nonisolated(unsafe) private static let probe: KeyPath<PersistentPrefs, Void> = \.[probe: TrackingProbe()]

    // MARK: - What changes

    /// Follows the instance's root, once.
    func follow(_ prefs: PersistentPrefs) {
        // What cannot be followed now may be at the next read.
        guard lock.withLock({ follower == nil }), let new = prefs.follower(of: []), prefs.follow(new, self) != nil
        else { return }
        // Not before: a thread that finds it here relies on hearing.
        let isFirst = lock.withLock {
            guard follower == nil else { return false }
            follower = new
            return true
        }
        if !isFirst { new.end() }
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
        // Before the announcement: if changes are no longer collected, the tracking on the main thread already listens.
        if !UnheardChanges.isOnMainThread { lock.withLock { unheard.add(change.keys) } }
        prefs.tellKeyValueObservers(of: pending) { announce(change.keys, of: prefs) }
    }

    private func announceUnheard() {
        let keys = lock.withLock { unheard.take() }
        guard !keys.isEmpty, let prefs = lock.withLock({ follower })?.state.owner else { return }
        announce(keys, of: prefs)
    }

    private func announce(_ keys: [String], of prefs: PersistentPrefs) {
        for key in keys {
            registrar.withMutation(of: prefs, keyPath: \.[observed: key]) {}
        }
        registrar.withMutation(of: prefs, keyPath: \.values) {}
    }
}

extension PersistentPrefs: Observable {}
