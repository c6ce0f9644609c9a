import Dispatch
import PrefsFileEngine
import PrefsPropertyLists

/// A store of somebody else's as the base class sees it.
final class StoreAdapter: RootStore {
    let layout = DomainLayout.roots
    private let store: any PrefsStore

    init(_ store: any PrefsStore) {
        self.store = store
    }

    func snapshot(of root: String) throws -> RootSnapshot {
        RootSnapshot(of: root, in: try store.read(root: root).map { [root: $0] })
    }

    func update(root: String, _ body: (inout [String: Any]?) throws -> Void) throws {
        try store.update(root: root, body)
    }

    func replace(root: String, _ body: ([String: Any]?) throws -> [String: Any]?) throws {
        try store.update(root: root) { if let new = try body($0) { $0 = new } }
    }

    func acknowledge(_ revision: Revision?) -> Bool { false }

    func takeWarning() -> PrefsError? { nil }

    func forget() {}

    func follow(
        root: String, keys: [String], _ listener: any EntryListener, from known: LastKnownEntry?
    ) throws -> any Following {
        try PlainFollower(store, root, listener, from: known)
    }

    func refuse(_ error: PrefsError, root: String) {
        Transaction.current?.fail(error)
        // The store has its own idea of what is under way; an update that throws is how it hears.
        try? store.update(root: root) { _ in throw error }
    }
}

/// A listener at a store of somebody else's, which tells of the keys that have changed and not of the whole root.
private final class PlainFollower: Following, @unchecked Sendable {
    let subscriptionStart: ChangeFeed.SubscriptionStart
    private let adapter: ForeignRoot
    private let lock = Lock()
    /// Under the lock.
    private var observation: PrefsObservation?

    init(_ store: any PrefsStore, _ root: String, _ listener: any EntryListener, from known: LastKnownEntry?) throws {
        let adapter = ForeignRoot(listener)
        self.adapter = adapter
        observation = try store.observe(root: root) { adapter.hear($0) }
        let start = try adapter.start { try store.read(root: root) }
        let change = known.flatMap { EntryChange(of: root, from: $0.entry, to: start, isForeign: $0.isForeign) }
        subscriptionStart = ChangeFeed.SubscriptionStart(start: start, catchUp: change.flatMap(listener.note))
    }

    func end() -> LastKnownEntry? {
        let observation = lock.withLock {
            defer { self.observation = nil }
            return self.observation
        }
        observation?.cancel()
        return observation.map { _ in LastKnownEntry(entry: adapter.current) }
    }

    /// The root, as the listener has known of it.
    private final class ForeignRoot: @unchecked Sendable {
        private let listener: any EntryListener
        private let lock = Lock()
        // Under the lock.
        private var values: [String: Any]?
        private var hasStarted = false
        private var hasMissed = false

        init(_ listener: any EntryListener) {
            self.listener = listener
        }

        var current: [String: Any]? { lock.withLock { values } }

        /// Reads the root until nothing is known meanwhile: from then on what is known comes to it.
        func start(_ read: () throws -> [String: Any]?) throws -> [String: Any]? {
            while true {
                lock.withLock { hasMissed = false }
                let found = try read()
                let isMissing = lock.withLock {
                    if !hasMissed { (values, hasStarted) = (found, true) }
                    return hasMissed
                }
                if !isMissing { return found }
            }
        }

        func hear(_ change: PrefsChange) {
            let action = lock.withLock { () -> (@Sendable () -> Void)? in
                guard hasStarted else {
                    hasMissed = true
                    return nil
                }
                let after = change.difference.applied(to: values ?? [:])
                defer { values = after }
                return EntryChange(of: change.root, from: values, to: after, isForeign: change.origin == .elsewhere)
                    .flatMap(listener.note)
            }
            guard let action else { return }
            change.origin == .elsewhere ? DispatchQueue.main.async(execute: action) : action()
        }
    }
}
