package import PrefsPropertyLists

/// A place with entries: a file, memory, a domain of `UserDefaults`, a server, or what a backend keeps. Any thread.
///
/// Throws `FileError`; a backend throws its own errors.
package protocol Domain: AnyObject, Sendable {
    /// The thread's own transaction in the domain, if any.
    var transaction: Transaction? { get }

    /// Whether all entries are roots, as those of a backend.
    var hasOnlyRoots: Bool { get }

    /// The entry of a root as this process knows it, which saves a remote domain a request. nil if a change has to start
    /// from the newest state.
    func knownEntry(of root: String) -> StoredValue??

    /// The object that has the entries. Two domains with one source have the same entries.
    var source: AnyObject { get }

    /// The current state of a part, or of a larger part. Inside the thread's own transaction, the state includes its
    /// changes so far.
    ///
    /// - Parameter isForWriting: whether a write depends on the state. The state is then never a former one, and the
    ///   call waits for programs that are storing the domain.
    func state(of part: DomainPart, isForWriting: Bool) throws -> DomainState

    /// The revision of the current state, if this process has read it and a read would report nothing. nil inside a
    /// transaction. If it is nil, the caller must read the state.
    var revision: Revision? { get }

    /// Runs the closure in this thread's transaction, or in a new one, which is committed before the call returns.
    ///
    /// - Parameter root: the root that may change. Other entries may change only if the domain has more than roots.
    func transact(on root: String, durability: CommitDurability, _ body: (Transaction) throws -> Void) throws

    /// As `transact`, for a closure that may run again, on a newer state.
    func change(_ root: String, durability: CommitDurability, _ body: (Transaction) throws -> Void) throws

    /// Rolls back the update of this thread that a rejected write is a part of, if it is one that no transaction of this
    /// package shows.
    func refuse(_ error: any Error, root: String)

    /// The names of the roots, sorted; nil if the domain does not list them. Costs a request or more.
    func rootNames() throws -> [String]?

    /// The host, program and process that have made the newest change of a root; nil if nobody knows. Costs two
    /// requests.
    func lastWriter(of root: String) -> String?

    /// A warning of a write that has succeeded; returned once.
    func takeWarning() -> FileError?

    /// Whether another program is saving the domain, so that reads return its last known state.
    var isBeingSaved: Bool { get }

    /// Why changes of other processes cannot be watched now, although there are observers.
    var watchFailure: StorageFailure? { get }

    /// Waits while another program is saving the domain. A second at most.
    ///
    /// - Returns: what a read would have reported, because the next one may not report it again.
    @discardableResult func waitForSave() -> FileError?

    /// Drops the cache.
    func forget()

    /// The format that tells the accepted form of the values that observers get: that of the last state that was read;
    /// before the first read, that of a new file; nil for the exact form.
    var format: FileFormat? { get }

    /// Subscribes to each commit that changes the part, in order. An observer that moves here gets the difference to what it
    /// knew first.
    func subscribe(to part: DomainPart, _ observer: EntryObserver) throws -> EntrySubscription
}

extension Domain {
    package typealias Content = DomainContent

    package var hasOnlyRoots: Bool { false }
    package func knownEntry(of root: String) -> StoredValue?? { nil }
    package var source: AnyObject { self }
    package var revision: Revision? { nil }
    package func change(_ root: String, durability: CommitDurability, _ body: (Transaction) throws -> Void) throws {
        try transact(on: root, durability: durability, body)
    }
    package func refuse(_ error: any Error, root: String) {}
    package func rootNames() throws -> [String]? { nil }
    package func lastWriter(of root: String) -> String? { nil }
    package func takeWarning() -> FileError? { nil }
    package var isBeingSaved: Bool { false }
    package var watchFailure: StorageFailure? { nil }
    package func waitForSave() -> FileError? { nil }
    package func forget() {}
    package var format: FileFormat? { nil }
}

/// A part of a domain.
package enum DomainPart: Sendable {
    case root(String)
    /// Entries by name. An observer of them may get changes of other entries, too.
    case entries([String])
    case everything

    /// The name in the feed of a domain: the root key, or an empty text for all entries, because no root key is empty.
    package var name: String { if case .root(let key) = self { key } else { "" } }
}
