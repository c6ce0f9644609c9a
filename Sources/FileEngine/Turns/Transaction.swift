import Foundation
package import PrefsPropertyLists

/// The update in progress on a thread: the state that it started from, with its own changes so far.
///
/// It stays on its thread, so nested accesses find it. A thread has at most one transaction of a domain of this
/// package. Transactions of backends may be around it and inside it.
package final class Transaction {
    /// nil if the domain does not exist.
    package typealias Content = DomainContent

    /// The queue of the domain, or the backend that the transaction belongs to.
    private let owner: AnyObject
    /// Whether it belongs to a backend.
    private let isForeign: Bool
    private let outer: Transaction?
    /// The session that it belongs to; nil once its closure has run, and in a backend.
    package private(set) var session: (any TransactionSession)?
    package private(set) var content: Content?
    /// By how many bytes each root may still grow, as far as it is known.
    private var rooms: [String: Int] = [:]
    package private(set) var isChanged = false
    /// Whether it is an update, which runs code of the program. Its path is looked at again before the commit.
    package var isUpdate = false
    /// Why the commit keeps the state that it replaces under another name beside the file, and warns of it; nil if it
    /// does not. Only a file can be kept.
    package var reasonToKeepFormer: String?
    /// The highest durability that a write in it requires.
    var durability: CommitDurability
    /// The first rejection or error in this transaction. It rolls back the whole transaction, even if the body
    /// continues.
    private var failure: (any Error)?
    /// What objects keep for the time of the transaction, so that all its accesses see one state of each. The key
    /// identifies the object.
    private var states: [ObjectIdentifier: (owner: AnyObject, state: AnyObject)] = [:]
    /// Whether its thread has called `exit` in its closure, so that it will never be committed.
    private var isAbandoned = false
    /// Checks of the result, to run in order. One for each root of each owner.
    private var checks: [(root: String, owner: AnyObject, check: (Transaction) throws -> Void)] = []
    /// Actions to run in order after all locks are released.
    private var afterwards: [() -> Void] = []

    /// - Parameters:
    ///   - owner: the queue of the domain, or a backend.
    ///   - isForeign: whether it is a backend.
    package init(
        of owner: AnyObject, isForeign: Bool = false, session: (any TransactionSession)? = nil, content: Content?,
        durability: CommitDurability = .process
    ) {
        (self.owner, self.isForeign) = (owner, isForeign)
        outer = Self.innermost
        self.session = session
        self.content = content
        self.durability = durability
    }

    /// The entry under a root key, with the changes of this transaction.
    package subscript(root: String) -> StoredValue? {
        get { content?[root] }
        set {
            content = content ?? [:]
            content?[root] = newValue
            rooms[root] = nil
            isChanged = true
        }
    }

    /// Lets the closure change one root in place.
    ///
    /// - Parameter body: returns whether it has changed the content. `room` is by how many bytes the root may still
    ///   grow, nil if that is unknown; nothing else in the transaction measures roots.
    package func changeInPlace(
        of root: String, _ body: (inout Content?, _ room: inout Int?) throws -> Bool
    ) rethrows {
        // A dictionary that looks a key up to change it allocates, also if it stays empty.
        var room = rooms.isEmpty ? nil : rooms[root]
        defer { if let room { rooms[root] = room } }
        if try body(&content, &room) { isChanged = true }
    }

    /// Replaces all entries.
    package func replaceAll(with entries: Content) {
        content = entries
        rooms = [:]
        isChanged = true
    }

    /// Replaces the entry under a key; nil removes it. An equal entry changes nothing.
    package func replace(_ key: String, with entry: StoredValue?) {
        if self[key] != entry { self[key] = entry }
    }

    /// The state of another object that the accesses of this transaction see. The first access makes it.
    package func state(of owner: AnyObject, _ current: () -> AnyObject) -> AnyObject {
        let key = ObjectIdentifier(owner)
        if let known = states[key]?.state { return known }
        let new = current()
        // Keeps the object alive, so that no other object has its address.
        states[key] = (owner, new)
        return new
    }

    /// Runs the closure as a part of this transaction.
    package func join(
        _ queue: AnyObject, durability: CommitDurability, _ body: (Transaction) throws -> Void
    ) throws {
        try refuseExit()
        do {
            guard owner === queue else { throw FileError.updateOfAnotherFile }
            try body(self)
            self.durability = max(self.durability, durability)
        } catch {
            fail(error)
            throw error
        }
    }

    /// Adds a check that runs when the closure of the transaction has run, unless the owner has one for the root. If it
    /// throws, nothing is committed.
    ///
    /// - Parameter makeCheck: makes the check from the state before the change of the root.
    package func beforeCommit(
        of root: String, for owner: AnyObject, _ makeCheck: () throws -> (Transaction) throws -> Void
    ) rethrows {
        if checks.contains(where: { $0.owner === owner && $0.root == root }) { return }
        checks.append((root, owner, try makeCheck()))
    }

    /// Rejects a write by an `atexit` handler of the thread that has called `exit` inside the transaction.
    func refuseExit() throws {
        guard isAbandoned else { return }
        throw FileError.notStored(StorageFailure(path: "", reason: "the program has called exit inside an update"))
    }

    /// What its commit survives; nothing if there will be none, so that no write in it counts as made.
    var promise: CommitDurability { isAbandoned ? .notStored : durability }

    package var hasFailed: Bool { failure != nil }

    /// - Returns: the first error.
    @discardableResult
    package func fail(_ error: any Error) -> any Error {
        let first = failure ?? error
        failure = first
        return first
    }

    /// Runs the closure after the thread's transaction, when its locks are released. Without a transaction, runs it at
    /// once.
    package static func afterwards(_ action: @escaping () -> Void) {
        if let current { current.addAfterwards(action) } else { finish([action]) }
    }

    /// Runs the closure, and then the actions that were due inside it: a backend has locks around them.
    package static func delayingActions<R>(_ body: () throws -> R) rethrows -> R {
        let delayed = delayed
        guard delayed.value == nil else { return try body() }
        var actions: [() -> Void] = []
        defer { finish(actions) }
        return try withUnsafeMutablePointer(to: &actions) { place in
            delayed.value = UnsafeRawPointer(place)
            defer { delayed.value = nil }
            return try body()
        }
    }

    func addAfterwards(_ action: @escaping () -> Void) {
        afterwards.append(action)
    }

    package func runAfterwards() { Self.finish(afterwards) }

    private static func finish(_ actions: [() -> Void]) {
        if actions.isEmpty { return }
        guard let delayed = delayed.value else { return LockWait.afterTheWait { actions.forEach { $0() } } }
        UnsafeMutablePointer(mutating: delayed.assumingMemoryBound(to: [() -> Void].self)).pointee += actions
    }

    // MARK: - The thread's own

    /// The thread's transaction in a domain of this package.
    package static var current: Transaction? {
        var place = innermost
        while let transaction = place, transaction.isForeign { place = transaction.outer }
        return place
    }

    /// The thread's outermost transaction of a domain. Inner transactions are parts of it.
    ///
    /// - Parameter owner: the queue of the domain, or a backend.
    package static func current(of owner: AnyObject) -> Transaction? {
        var found: Transaction?
        var place = innermost
        while let transaction = place {
            if transaction.owner === owner { found = transaction }
            place = transaction.outer
        }
        return found
    }

    /// Whether a transaction of this thread holds the lock.
    ///
    /// - Parameter path: the path of the lock file.
    static func holdsLock(_ path: String) -> Bool {
        guard let innermost else { return false }
        return sequence(first: innermost, next: \.outer).contains { $0.session?.lockPath == path }
    }

    /// Whether the thread has a transaction of any owner.
    static var isInProgress: Bool { threads.value != nil }

    private static var innermost: Transaction? {
        threads.value.map { Unmanaged<Transaction>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Runs the closure with this as the thread's innermost transaction. The caller keeps it alive.
    ///
    /// - Throws: what the closure threw, or the first rejection in it. A transaction that throws joins no batch: this is
    ///   the rollback.
    package func run(_ body: (Transaction) throws -> Void) throws {
        Self.watchExit
        Self.threads.value = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
        defer {
            Self.threads.value = outer.map { UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) }
            session = nil
        }
        try LockWait.afterTheWait {
            try body(self)
            if failure == nil { for check in checks { try check.check(self) } }
        }
        if let failure { throw failure }
    }

    // MARK: - Reading only

    /// Whether writes of this thread are rejected.
    package static var rejectsWrites: Bool { readers.value != nil }

    /// Runs the closure, in which every write of this thread is rejected. Reads still see the thread's transactions,
    /// which such a rejection does not roll back.
    package static func rejectingWrites<R>(_ body: () throws -> R) rethrows -> R {
        try delayingActions {
            let readers = readers
            let outer = readers.value
            readers.value = UnsafeRawPointer(bitPattern: 1)
            defer { readers.value = outer }
            return try body()
        }
    }

    /// Thread-local and not task-local, because a task that is started inside an update must not take part in it.
    private static let threads = ThreadLocal()
    /// Not nil while the thread only reads.
    private static let readers = ThreadLocal()
    /// Where the thread collects actions; nil if they run when their transaction has ended.
    private static let delayed = ThreadLocal()

    /// The handlers of `exit` run on its thread, the newest first, so this one runs before those that were registered
    /// before the first transaction. In a newer one, a write still joins the transaction, and is lost: only private
    /// symbols of the system would tell.
    private static let watchExit: Void = {
        OtherCopies.answerQuestions(isLocked: Transaction.holdsLock)
        atexit { Transaction.current?.isAbandoned = true }
    }()
}
