import PrefsFileEngine
package import PrefsPropertyLists

extension PrefsStore {
    /// Creates an empty store in memory, which lives as long as a copy of the value or an instance that uses it. Use it in
    /// tests and previews.
    ///
    /// ```swift
    /// let prefs = EditorPrefs(store: .memory())
    /// PersistentPrefs.withStore(.memory()) { runTheApp() }
    /// ```
    ///
    /// It checks values, nests and rolls back like the stores on files. Two calls make two stores, which share nothing;
    /// pass one value to share it. A read by an instance costs a lock and a dictionary lookup. Any thread.
    public static func memory() -> PrefsStore { memory([:], format: nil) }

    /// Creates a store of values from a source in a format.
    package static func memory(_ content: [String: StoredValue], format: FileFormat?) -> PrefsStore {
        PrefsStore(Roots(MemoryDomain(content, format: format), durability: .process))
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

    let format: FileFormat?
    private let state: Locked<State>

    init(_ content: Content, format: FileFormat?) {
        self.format = format
        state = Locked(State(content: content))
        queue = TransactionQueue(reportingTo: feed)
        feed.start(self)
    }

    func committedState(waits: Bool) -> DomainState { DomainState(state.withLock { $0.content }) }

    var transaction: Transaction? { queue.transaction }

    func state(of part: DomainPart, isForWriting: Bool) -> DomainState {
        if let transaction { return DomainState(transaction.content, isOfUpdate: true, format: format) }
        let (content, revision) = state.withLock { ($0.content, $0.revision) }
        return DomainState(content, revision: revision, format: format)
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
