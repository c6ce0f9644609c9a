import PrefsPropertyLists

/// A store that the instance chooses: at its creation for good, or else at each access.
package final class InstanceStore: PrefsStore {
    private let choose: @Sendable (PersistentPrefs) throws -> any PrefsStore
    private let owner = Locked(Owner())

    private struct Owner {
        weak var prefs: PersistentPrefs?
        /// The store chosen last, which its observers need and others of the same place share.
        var chosen: (any PrefsStore)?
    }

    /// - Parameter choose: returns the store of an instance. Called after the instance has been initialized, but for `start`.
    package init(_ choose: @escaping @Sendable (PersistentPrefs) throws -> any PrefsStore) {
        self.choose = choose
    }

    /// The store for a new instance: that of its class if it chooses this one.
    func store(for prefs: PersistentPrefs) -> any PrefsStore {
        owner.withLock { $0.prefs = prefs }
        let ofClass = type(of: prefs).store
        return (try? choose(prefs)) === ofClass ? ofClass : self
    }

    private func chosen() throws -> any PrefsStore {
        guard let prefs = owner.withLock({ $0.prefs }) else { throw PrefsError.userDefaultsUnavailable }
        let store = try choose(prefs)
        owner.withLock { $0.chosen = store }
        return store
    }

    package func read(root: String) throws -> [String: Any]? {
        try chosen().read(root: root)
    }

    package func update(root: String, _ body: (inout [String: Any]?) throws -> Void) throws {
        try chosen().update(root: root, body)
    }

    package func observe(root: String, _ action: @escaping @Sendable (PrefsChange) -> Void) throws -> PrefsObservation {
        try chosen().observe(root: root, action)
    }
}
