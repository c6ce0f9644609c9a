import Dispatch
package import Observation
import PrefsFileEngine
import PrefsPropertyLists

/// Links an object to the Observation framework: subscribes to the values that a tracked access reads, and announces
/// their changes.
///
/// A change is announced right after the commit, on the thread that made it; on the main queue if it was made
/// elsewhere. `UnheardChanges` says which changes are announced a second time.
///
/// The framework does not report the end of the last tracking, so a subscription lasts until `end`, or as long as the
/// bridge.
package final class ObservationBridge<Subject: Observable & AnyObject & Sendable>: Sendable {
    private let registrar = ObservationRegistrar()
    private let state = Locked(State())

    private struct State {
        var subscriptions: [String: EntrySubscription] = [:]
        var unheard = UnheardChanges()
    }

    package init() {}

    /// Whether the probe decides what is tracked; if not, every read counts as tracked. Only tests assign it, before
    /// the first read.
    nonisolated(unsafe) var trustsProbe = TrackingProbe.works

    /// Called before a value is read. Does nothing outside of a tracking.
    ///
    /// - Parameters:
    ///   - key: nil stands for all keys.
    ///   - subscribe: called in a tracking, each time.
    @inline(__always)
    package func access(_ key: String?, of subject: Subject, subscribing subscribe: () -> Void) {
        guard !trustsProbe || TrackingProbe.isTracked(by: registrar) else { return }
        subscribe()
        trackedAccess(key, of: subject)
    }

    private func trackedAccess(_ key: String?, of subject: Subject) {
        if UnheardChanges.isOnMainThread, state.withLock({ $0.unheard.begin() }) {
            DispatchQueue.main.async { [weak self, weak subject] in
                guard let self, let subject else { return }
                announce(state.withLock { $0.unheard.take() }, of: subject)
            }
        }
        registrar.access(subject, keyPath: \.[observed: key])
    }

    package func isSubscribed(to name: String) -> Bool { state.withLock { $0.subscriptions[name] != nil } }

    /// Subscribes once. If it fails, the next call tries again.
    ///
    /// - Parameter begin: begins the subscription; returns nil if that fails.
    package func subscribe(to name: String, _ begin: () -> EntrySubscription?) {
        guard !isSubscribed(to: name), let new = begin() else { return }
        // After the subscription has begun: a thread that finds it in the list relies on it.
        let isFirst = state.withLock {
            guard $0.subscriptions[name] == nil else { return false }
            $0.subscriptions[name] = new
            return true
        }
        if !isFirst { new.end() }
    }

    /// Ends all subscriptions.
    package func end() {
        let last = state.withLock { state in
            defer { state.subscriptions = [:] }
            return state.subscriptions
        }
        for subscription in last.values { subscription.end() }
    }

    /// Announces a change of some keys, and of the key path that stands for all keys.
    package func announce(_ keys: [String], of subject: Subject) {
        guard !keys.isEmpty else { return }
        // Before the announcement: if changes are no longer collected, the tracking on the main thread already listens.
        if !UnheardChanges.isOnMainThread { state.withLock { $0.unheard.add(keys) } }
        for key in keys { registrar.withMutation(of: subject, keyPath: \.[observed: key]) {} }
        registrar.withMutation(of: subject, keyPath: \.[observed: nil]) {}
    }
}
