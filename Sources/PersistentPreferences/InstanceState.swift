/// What an instance holds: everything but values.
final class InstanceState: @unchecked Sendable {
    private let lock = Lock()
    private var rootKey = ""
    private var outcome: PrefsError?
    private var startStore: (any ReportingStore)?
    /// Whose state it is; nil once that is being released.
    private(set) weak var owner: PersistentPrefs?

    /// Called once, by the initializer, before the instance is anybody else's.
    func start(_ owner: PersistentPrefs, key: String, store: any PrefsStore) {
        self.owner = owner
        rootKey = key
        startStore = store as? any ReportingStore ?? PlainStore(store)
    }

    var store: any ReportingStore {
        guard let startStore else { preconditionFailure("used before its initializer has run") }
        return startStore
    }

    var key: String {
        get { lock.withLock { rootKey } }
        set { lock.withLock { rootKey = newValue } }
    }

    var lastError: PrefsError? {
        get { lock.withLock { outcome } }
        set { lock.withLock { outcome = newValue } }
    }
}
