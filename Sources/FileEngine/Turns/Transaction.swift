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

    func addAfterwards(_ action: @escaping () -> Void) {
        afterwards.append(action)
    }

    package func runAfterwards() { Self.finish(afterwards) }

    fileprivate static func finish(_ actions: [() -> Void]) {
        if actions.isEmpty { return }
        guard let collector = ThreadState.place?.pointee.collector else {
            return LockWait.afterTheWait { actions.forEach { $0() } }
        }
        collector.pointee.actions += actions
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
    static var isInProgress: Bool { innermost != nil }

    private static var innermost: Transaction? { ThreadState.place?.pointee.transaction?.takeUnretainedValue() }

    /// Runs the closure with this as the thread's innermost transaction. The caller keeps it alive.
    ///
    /// - Throws: what the closure threw, or the first rejection in it. A transaction that throws joins no batch: this is
    ///   the rollback.
    package func run(_ body: (Transaction) throws -> Void) throws {
        Self.watchExit
        defer { session = nil }
        var state = ThreadState.current
        state.transaction = .passUnretained(self)
        try state.run {
            try LockWait.afterTheWait {
                try body(self)
                if failure == nil { for check in checks { try check.check(self) } }
            }
        }
        if let failure { throw failure }
    }

    /// The handlers of `exit` run on its thread, the newest first, so this one runs before those that were registered
    /// before the first transaction. In a newer one, a write still joins the transaction, and is lost: only private
    /// symbols of the system would tell.
    private static let watchExit: Void = {
        OtherCopies.answerQuestions(isLocked: Transaction.holdsLock)
        atexit { Transaction.current?.isAbandoned = true }
    }()
}

/// What a thread is in the middle of: the update that its writes are a part of, what its reads see, and when the actions that
/// they cause run.
///
/// A value on the stack of the call that changes it: the calls inside see the change, and nothing is allocated. Thread-local and
/// not task-local, because a task that is started inside an update must not take part in it. Inlined into other modules, because
/// a closure that is not specialized costs more than the rest.
package struct ThreadState {
    /// The innermost transaction. The call that runs it keeps it alive.
    @usableFromInline var transaction: Unmanaged<Transaction>?
    /// What reads see in place of the current state, an object of a higher floor; nil if they see the current state.
    package var reads: UnsafeRawPointer?
    /// The commit of the system's defaults that the thread is in, an object of a higher floor.
    package var defaultsCommit: UnsafeRawPointer?
    /// Whether every write is rejected. Reads still see the thread's transactions, which such a rejection does not roll back.
    private var rejectsWrites = false
    /// The outermost state that collects actions; nil if they run when their transaction has ended.
    fileprivate private(set) var collector: UnsafeMutablePointer<ThreadState>?
    private var collects = false
    fileprivate var actions: [() -> Void] = []

    @usableFromInline static let threads = ThreadLocal()

    private init() {}

    /// A copy of the state of this thread, to change and to run.
    @usableFromInline
    package static var current: ThreadState {
        var new = ThreadState()
        guard let place else { return new }
        (new.transaction, new.reads) = (place.pointee.transaction, place.pointee.reads)
        (new.defaultsCommit, new.rejectsWrites) = (place.pointee.defaultsCommit, place.pointee.rejectsWrites)
        new.collector = place.pointee.collector
        return new
    }

    /// nil if the thread is in the middle of nothing.
    @inlinable @inline(__always)
    static var place: UnsafePointer<ThreadState>? { threads.value?.assumingMemoryBound(to: ThreadState.self) }

    /// What the reads of this thread see; nil if they see the current state.
    @inlinable @inline(__always)
    package static var reads: UnsafeRawPointer? { place?.pointee.reads }

    /// Whether every write of this thread is rejected.
    package static var rejectsWrites: Bool { place?.pointee.rejectsWrites == true }

    /// This state, in which actions are collected, unless they are already. They run after it. For code that has locks of its
    /// own around its transactions.
    package var collectingActions: ThreadState {
        var state = self
        state.collects = collector == nil
        return state
    }

    /// This state, in which every write is rejected. Actions run after it.
    package var rejectingWrites: ThreadState {
        var state = collectingActions
        state.rejectsWrites = true
        return state
    }

    /// Runs a closure in this state of the thread, and what was collected after it.
    ///
    /// - Parameter beginning: runs before the body, in this state.
    @inlinable package consuming func run<R>(beginning: () -> Void = {}, _ body: () throws -> R) rethrows -> R {
        try withUnsafeMutablePointer(to: &self) { state in
            let outer = Self.begin(state)
            defer { Self.end(state, outer) }
            beginning()
            return try body()
        }
    }

    @usableFromInline static func begin(_ state: UnsafeMutablePointer<ThreadState>) -> UnsafeRawPointer? {
        let outer = threads.value
        if state.pointee.collects { state.pointee.collector = state }
        threads.value = UnsafeRawPointer(state)
        return outer
    }

    @usableFromInline static func end(_ state: UnsafeMutablePointer<ThreadState>, _ outer: UnsafeRawPointer?) {
        threads.value = outer
        if !state.pointee.actions.isEmpty { Transaction.finish(state.pointee.actions) }
    }
}
