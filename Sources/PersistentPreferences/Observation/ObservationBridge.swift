import Dispatch
import Observation
import PrefsFileEngine
import PrefsPropertyLists

/// Links an instance to the Observation framework: subscribes to its root when a tracked access reads it, and announces
/// changes of its values.
///
/// A change is announced right after the commit, on the thread that made it; on the main queue if it was made
/// elsewhere. `UnheardChanges` says which changes are announced a second time.
///
/// The framework does not report the end of the last tracking, so a subscription lasts until `end`, or as long as the
/// bridge.
final class ObservationBridge: Sendable, Observable {
    private let registrar = ObservationRegistrar()
    private let state = Locked(State())

    /// What happens around an announcement, which is the second argument.
    typealias Around = @Sendable (EntryChange, () -> Void) -> Void

    private struct State {
        /// The instance, if a tracked access has read it; nil once it is being released.
        weak var owner: (any ObservedInstance)?
        /// By the roots that replace the instance's own; nil stands for its own.
        var subscriptions: [ObjectIdentifier?: EntrySubscription] = [:]
        var unheard = UnheardChanges()
        /// Runs each announcement; nil if nothing is to happen around it.
        var around: Around?
    }

    /// Whether the probe decides what is tracked; if not, every read counts as tracked. Only tests assign it, before
    /// the first read.
    nonisolated(unsafe) var trustsProbe = TrackingProbe.works

    /// Called before a value is read. Does nothing outside of a tracking.
    ///
    /// - Parameter key: nil stands for all keys.
    /// - Returns: whether it is tracked. The subscription may then have reported an error.
    @inline(__always) @discardableResult
    func access(_ key: String?, of prefs: any ObservedInstance) -> Bool {
        guard isTracked else { return false }
        trackedAccess(key, of: prefs)
        return true
    }

    @inline(never) private func trackedAccess(_ key: String?, of prefs: any ObservedInstance) {
        listen(to: prefs)
        registrar.access(self, keyPath: \.[observed: key])
    }

    /// Whether accesses of this thread are tracked.
    @inline(__always)
    var isTracked: Bool { !trustsProbe || TrackingProbe.isTracked(by: registrar) }

    /// Subscribes to changes, also for accesses that come later. Remembers those that the tracking on the main thread cannot hear
    /// yet.
    func listen(to prefs: any ObservedInstance) {
        subscribe(to: prefs)
        if UnheardChanges.isOnMainThread, state.withLock({ $0.unheard.begin() }) {
            DispatchReadiness.shared.async(on: .main) { [weak self, weak prefs] in
                guard let self, prefs != nil else { return }
                announce(state.withLock { $0.unheard.take() })
            }
        }
    }

    /// Subscribes once. If it fails, the next call tries again.
    func subscribe(to prefs: any ObservedInstance) {
        // The subscription keeps the store alive, so no other store has the same address.
        let store = prefs.observers.replacement.map { ObjectIdentifier($0) }
        let isNew = state.withLock { state in
            state.owner = prefs
            return state.subscriptions[store] == nil
        }
        guard isNew else { return }
        guard let root = prefs.observedRoot(of: []),
            let new = prefs.subscribe(to: root, .each { self.announce($0, in: root) })
        else { return }
        // After the subscription has begun: a thread that finds it in the list relies on it.
        let isFirst = state.withLock {
            guard $0.subscriptions[store] == nil else { return false }
            $0.subscriptions[store] = new
            return true
        }
        if !isFirst { new.end() }
    }

    /// Ends all subscriptions.
    func end() {
        let last = state.withLock { state in
            defer { state.subscriptions = [:] }
            return state.subscriptions
        }
        for subscription in last.values { subscription.end() }
    }

    private func announce(_ change: EntryChange, in root: ObservedRoot) {
        let (owner, around) = state.withLock { ($0.owner, $0.around) }
        guard owner != nil, let visible = root.change(change) else { return }
        guard let around else { return announce(visible.keys) }
        around(change) { announce(visible.keys) }
    }

    /// Subscribes, and runs the closure around each announcement from now on.
    func announce(to prefs: any ObservedInstance, within around: @escaping Around) {
        state.withLock { $0.around = around }
        subscribe(to: prefs)
    }

    /// Announces a change of some keys, and of the key path that stands for all keys.
    private func announce(_ keys: [String]) {
        guard !keys.isEmpty else { return }
        // Before the announcement: if changes are no longer collected, the tracking on the main thread already listens.
        if !UnheardChanges.isOnMainThread { state.withLock { $0.unheard.add(keys) } }
        for key in keys { registrar.withMutation(of: self, keyPath: \.[observed: key]) {} }
        registrar.withMutation(of: self, keyPath: \.[observed: nil]) {}
    }
}
