import PrefsFileEngine
package import PrefsPropertyLists

/// A store that keeps its roots in memory, as long as the object lives. Use it in tests and previews.
///
/// ```swift
/// let prefs = EditorPrefs(store: InMemoryStore())
/// PersistentPrefs.withStore(InMemoryStore()) { runTheApp() }
/// ```
///
/// ## Behavior
/// It checks values, nests and rolls back like the stores on files. Two stores share nothing; pass the same object to
/// share values.
///
/// ## Performance
/// A read by an instance costs a lock and a dictionary lookup. ``PrefsStore/read(root:)`` and ``PrefsStore/update(root:_:)`` also cost time
/// linear in the size of the root.
///
/// ## Threads
/// Any thread.
public final class InMemoryStore: RootsStore {
    package let ownRoots: Roots

    /// Creates an empty store.
    public convenience init() { self.init([:]) }

    /// Creates a store of values in the form of their source.
    package init(_ content: [String: StoredValue], form: ValueForm = .exact) {
        ownRoots = Roots(MemoryDomain(content, form: form), durability: .process)
    }
}

/// A domain in memory.
final class MemoryDomain: Domain, FeedSource {
    let feed = ChangeFeed()
    let queue: TransactionQueue

    private struct State {
        var content: Content
        var revision = Revision()
    }

    let form: ValueForm
    private let state: Locked<State>

    init(_ content: Content, form: ValueForm) {
        self.form = form
        state = Locked(State(content: content))
        queue = TransactionQueue(reportingTo: feed)
        feed.start(self)
    }

    func committedState(waits: Bool) -> DomainState { DomainState(state.withLock { $0.content }) }

    var transaction: Transaction? { queue.transaction }

    func state(of part: DomainPart, isForWriting: Bool) -> DomainState {
        if let transaction { return DomainState(transaction.content, isOfUpdate: true, form: form) }
        let (content, revision) = state.withLock { ($0.content, $0.revision) }
        return DomainState(content, revision: revision, form: form)
    }

    var revision: Revision? {
        transaction == nil ? state.withLock { $0.revision } : nil
    }

    func transact(on root: String, durability: CommitDurability, _ body: (Transaction) throws -> Void) throws {
        try queue.transact(
            durability: durability, begin: { Session(domain: self, content: state.withLock { $0.content }) }, body)
    }

    func subscribe(to part: DomainPart, _ observer: EntryObserver) throws -> EntrySubscription {
        try feed.subscribe(to: part.name, observer)
    }

    private struct Session: TransactionSession {
        let domain: MemoryDomain
        let content: Content?

        func commit(_ content: Content, durability: CommitDurability) {
            domain.state.withLock { $0 = State(content: content) }
        }
    }
}
