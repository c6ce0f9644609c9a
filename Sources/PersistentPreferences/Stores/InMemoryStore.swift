import PrefsFileEngine
package import PrefsPropertyLists

/// A store that keeps its roots in memory, as long as the object lives. For tests and previews.
///
/// ```swift
/// let prefs = EditorPrefs(store: InMemoryStore())
/// PersistentPrefs.withStore(InMemoryStore()) { runTheApp() }
/// ```
///
/// ## Behavior
/// It checks values, nests and rolls back like the stores on files. Two stores share nothing; pass the same object to share
/// values.
///
/// ## Performance
/// A read by an instance costs a lock and a dictionary lookup. ``read(root:)`` and ``update(root:_:)`` also cost time linear in the size
/// of the root.
///
/// ## Threads
/// Any thread.
public final class InMemoryStore: DomainBackedStore {
    let domainStore = DomainStore(MemoryDomain(), durability: .process)

    /// Creates an empty store.
    public init() {}

    /// Returns the dictionary under a root key, or nil if there is none.
    public func read(root: String) throws -> [String: Any]? {
        try domainStore.values(of: root)?.objects
    }

    /// Changes a root in one transaction, on the calling thread. See ``PrefsStore/update(root:_:)``.
    public func update(root: String, _ body: (inout [String: Any]?) throws -> Void) throws {
        try domainStore.update(root: root, body)
    }

    /// The values whose objects ``read(root:)`` returns.
    package func values(of root: String) throws -> [String: StoredValue]? {
        try domainStore.values(of: root)
    }

    package func setValues(_ values: [String: StoredValue], of root: String) throws {
        try domainStore.update(root: root) { $0 = values }
    }

    /// Calls the closure after each commit that changes the root, on the threads of observers without a queue. See
    /// ``PrefsStore/observe(root:_:)``.
    public func observe(root: String, _ action: @escaping @Sendable (PrefsChange) -> Void) throws -> PrefsObservation {
        try domainStore.observe(root: root, action)
    }
}

/// A domain that is on no disk.
private final class MemoryDomain: TransactionDomain, DomainStorage {
    let queue = TransactionQueue()

    private struct State {
        var content: Content = [:]
        var revision = Revision()
    }

    private let state = Locked(State())

    init() {
        queue.feed.start(self)
    }

    /// A transaction of this thread has no revision.
    func read(_ root: String, _ layout: DomainLayout) -> RootSnapshot {
        if let transaction = ownTransaction { return RootSnapshot(of: root, in: transaction.content, layout: layout) }
        let (content, revision) = state.withLock { ($0.content, $0.revision) }
        return RootSnapshot(of: root, in: content, layout: layout, revision: revision)
    }

    func subscribe(
        to part: String, keys: [String], _ subscriber: any EntrySubscriber, from known: LastKnownEntry?
    ) throws -> EntrySubscription {
        try queue.feed.subscribe(to: part, subscriber, from: known)
    }

    func committed() -> Content? {
        state.withLock { $0.content }
    }

    private struct Session: TransactionSession {
        let domain: MemoryDomain
        let content: Content?

        func commit(_ content: Content, durability: CommitDurability) {
            domain.state.withLock { $0 = State(content: content) }
        }
    }

    func begin() -> any TransactionSession {
        Session(domain: self, content: committed())
    }
}
