import Dispatch
package import PersistentPreferences
package import PrefsFileEngine

/// The roots of a remote store, as values.
/// Its methods throw `PrefsError`. Any thread.
package protocol RemoteRoots: AnyObject, Sendable {
    /// The updates that the update of this thread may be a part of.
    var updates: RemoteUpdates { get }

    /// The values of a root; nil if it is missing. Not called inside an update.
    ///
    /// - Parameter isNewest: whether they must be those of now.
    func values(of root: String, isNewest: Bool) throws -> RootValues?

    /// The names of the roots, sorted. Costs a request or more.
    func names() throws -> [String]

    /// The host, program and process that have made the newest change of a root; nil if nobody knows.
    func lastWriter(of root: String) -> String?

    /// The newest readable values that this process knows, without a request; nil if the root is missing or unknown.
    func lastKnown(_ root: String) -> RootValues?

    /// Calls the closure with a session, and commits what it returns before the call returns.
    ///
    /// - Parameter mayRepeat: whether the closure may run again, on a newer state, because it is no body of an update. The
    ///   store then needs no lock that keeps others out.
    func update(_ root: String, mayRepeat: Bool, _ member: RemoteMember) throws

    /// Reports each change of a root to the observer.
    func observe(_ root: String, _ observer: RemoteObserver) throws -> PrefsObservation
}

/// One update: returns the roots that it changes.
package typealias RemoteMember = (any RemoteSession) throws -> [RemoteChange]

/// Where updates find the roots that they access.
package protocol RemoteSession: AnyObject {
    /// The values of a root before the update; nil if it is missing. Called once for each root that an update accesses.
    func values(of root: String) throws -> RootValues?
}

/// Stores whose updates are parts of one another, if they are nested on a thread.
package final class RemoteUpdates: Sendable {
    /// The owner of their transactions. No thread waits in it.
    fileprivate let queue = TransactionQueue()

    package init() {}
}

/// The domain of a remote store.
///
/// An update is one transaction of this package, which joins nested accesses, checks and rolls back as in every store. It
/// reads a root from the session when it is accessed first.
package final class RemoteDomain: Domain {
    private let remote: any RemoteRoots

    package init(_ remote: any RemoteRoots) {
        self.remote = remote
    }

    package var transaction: Transaction? { remote.updates.queue.transaction }
    /// Two stores of one namespace are one place.
    package var source: AnyObject { remote.updates }

    // MARK: - Reading

    package func state(of part: DomainPart, isForWriting: Bool) throws -> DomainState {
        let root = part.name
        if let transaction {
            try load(root, in: transaction)
            return DomainState(transaction.content, hasAllEntries: false, isOfUpdate: true)
        }
        do {
            return state(of: root, try remote.values(of: root, isNewest: isForWriting))
        } catch PrefsError.unreadable(let failure) where !isForWriting {
            return state(of: root, remote.lastKnown(root), warning: .unreadable(failure))
        } catch PrefsError.rootIsNotDictionary {
            return DomainState([root: Self.otherType], hasAllEntries: false)
        }
    }

    private func state(of root: String, _ values: RootValues?, warning: FileError? = nil) -> DomainState {
        DomainState(values.map { [root: .dictionary($0)] }, hasAllEntries: false, warning: warning)
    }

    /// A root that is not a dictionary. The caller decides whether that is an error.
    private static let otherType = StoredValue.integer(0)

    package var hasOnlyRoots: Bool { true }
    package func rootNames() throws -> [String]? { try remote.names() }
    package func lastWriter(of root: String) -> String? { remote.lastWriter(of: root) }

    /// nil inside an update.
    package func knownEntry(of root: String) -> StoredValue?? {
        transaction == nil ? .some(remote.lastKnown(root).map(StoredValue.dictionary)) : nil
    }

    // MARK: - Writing

    /// The update that a transaction is.
    private final class Member {
        let session: any RemoteSession
        /// The entries of the roots that it has accessed, before.
        var before: [String: StoredValue?] = [:]

        init(_ session: any RemoteSession) {
            self.session = session
        }
    }

    package func transact(
        on root: String, durability: CommitDurability, _ body: (Transaction) throws -> Void
    ) throws {
        try update(root, mayRepeat: false, body)
    }

    package func change(
        _ root: String, durability: CommitDurability, _ body: (Transaction) throws -> Void
    ) throws {
        try update(root, mayRepeat: true, body)
    }

    private func update(_ root: String, mayRepeat: Bool, _ body: (Transaction) throws -> Void) throws {
        if ThreadState.rejectsWrites { throw FileError.writeInsideRead }
        let updates = remote.updates
        if let current = Transaction.current {
            // Rejects an update inside of one of another store, before it waits.
            return try current.join(updates.queue, durability: .process) { transaction in
                try load(root, in: transaction)
                try body(transaction)
            }
        }
        // The store has locks around its updates.
        try ThreadState.current.collectingActions.run {
            try remote.update(root, mayRepeat: mayRepeat) { session in
                let member = Member(session)
                let transaction = Transaction(of: updates.queue, content: [:])
                defer { transaction.runAfterwards() }
                _ = transaction.state(of: updates) { member }
                try transaction.run { transaction in
                    try load(root, in: transaction)
                    try body(transaction)
                }
                return changes(by: member, in: transaction)
            }
        }
    }

    /// Puts a root into the transaction, unless it is there. A failure ends the whole update, even if its body continues.
    private func load(_ root: String, in transaction: Transaction) throws {
        let member = transaction.state(of: remote.updates) { preconditionFailure("an update has a session") }
        guard let member = member as? Member, member.before[root] == nil else { return }
        let entry: StoredValue?
        do {
            entry = try member.session.values(of: root).map(StoredValue.dictionary)
        } catch PrefsError.rootIsNotDictionary {
            entry = Self.otherType
        } catch {
            throw transaction.fail(error)
        }
        member.before[root] = .some(entry)
        if let entry { transaction[root] = entry }
    }

    private func changes(by member: Member, in transaction: Transaction) -> [RemoteChange] {
        member.before.sorted { $0.key < $1.key }.compactMap { root, before in
            let after = transaction[root]
            if let before, let after, before.isIdentical(to: after) { return nil }
            return before == after
                ? nil : RemoteChange(root: root, before: before?.dictionary, after: after?.dictionary)
        }
    }

    // MARK: - Observation

    package func subscribe(to part: DomainPart, _ observer: EntryObserver) throws -> EntrySubscription {
        let remoteObserver = RemoteObserver(of: part.name, observer)
        let observation = try remote.observe(part.name, remoteObserver)
        return remoteObserver.subscription { observation.cancel() }
    }
}
