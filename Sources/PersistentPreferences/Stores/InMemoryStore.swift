import PrefsFileEngine
import PrefsPropertyLists

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
/// A read costs a lock and a dictionary lookup.
///
/// ## Threads
/// Any thread.
public final class InMemoryStore: ReportingStore {
    private let domain = MemoryDomain()

    /// Creates an empty store.
    public init() {}

    /// Returns the dictionary under a root key, or nil if there is none.
    public func read(root: String) throws -> [String: Any]? {
        try read(throughReporting: root)
    }

    /// Changes a root in one transaction, on the calling thread. See ``PrefsStore/update(root:_:)``.
    public func update(root: String, _ body: (inout [String: Any]?) throws -> Void) throws {
        try transact(root) { try $0.update(body) }
    }

    func replace(root: String, _ body: ([String: Any]?) throws -> [String: Any]?) throws {
        try transact(root) { try $0.replace(body) }
    }

    private func transact(_ root: String, _ body: (RootTransaction) throws -> Void) throws {
        try NameVetting.checkRoot(root)
        try PrefsError.converting {
            try domain.transact(durability: .process) {
                try body(RootTransaction(transaction: $0, root: root, layout: .roots))
            }
        }
    }

    /// Calls the closure after each commit that changes the root, on a queue of its own. See
    /// ``PrefsStore/observe(root:_:)``.
    public func observe(root: String, _ action: @escaping @Sendable (PrefsChange) -> Void) throws -> PrefsObservation {
        try observation(root: root, action)
    }

    func follow(
        root: String, keys: [String], _ listener: any EntryListener, from known: LastKnownEntry?
    ) throws -> any Following {
        try NameVetting.checkRoot(root)
        return try FeedFollower(domain, root, listener, from: known)
    }

    func readReporting(root: String) throws -> RootSnapshot {
        try NameVetting.checkRoot(root)
        let (content, revision) = domain.current
        return RootSnapshot(of: root, in: content, revision: revision)
    }
}

/// The transactions of a domain that is on no disk.
private final class MemoryDomain: TransactionDomain, @unchecked Sendable {
    let queue = TransactionQueue()
    private let lock = Lock()
    private var content: Content = [:]
    private var revision = Revision()

    init() {
        queue.feed.start(self)
    }

    /// The thread's own transaction, which has no revision, else the last commit.
    var current: (Content?, Revision?) {
        if let transaction = ownTransaction { return (transaction.content, nil) }
        return lock.withLock { (content, revision) }
    }

    func committed() -> Content? {
        lock.withLock { content }
    }

    func begin() -> Content? {
        committed()
    }

    func commit(_ content: Content, durability: CommitDurability) {
        lock.withLock { (self.content, revision) = (content, Revision()) }
    }
}
