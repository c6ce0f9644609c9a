public import Observation
import PrefsFileEngine

extension PersistentPrefs: Observable {}

/// An instance subscribes to its root. Key-value observers are notified around an announcement.
extension ObservationBridge<PersistentPrefs> {
    /// - Parameter key: nil stands for all keys.
    func access(_ key: String?, of prefs: PersistentPrefs) {
        access(key, of: prefs) { subscribe(to: prefs) }
    }

    func subscribe(to prefs: PersistentPrefs) {
        let replacement = prefs.state.replacement
        // The subscription keeps the store alive, so no other store has the same address.
        subscribe(to: replacement.map { "\(ObjectIdentifier($0))" } ?? "") {
            guard let root = prefs.observedRoot(of: []) else { return nil }
            return prefs.subscribe(to: root) { change in
                { root.state.bridge.announce(change, in: root) }
            }
        }
    }

    private func announce(_ pending: PendingChange, in root: ObservedRoot) {
        guard let prefs = root.state.owner, let change = root.change(pending) else { return }
        prefs.tellKeyValueObservers(of: pending, in: root.root.at(prefs.key)) { announce(change.keys, of: prefs) }
    }
}
