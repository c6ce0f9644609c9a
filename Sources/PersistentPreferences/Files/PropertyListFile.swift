import Foundation

/// One property-list file: locked, atomic, cached. There is one of these for a file in a process (`FileRegistry`), so
/// that every store on it shares its lock, its cache and its commits.
///
/// `+Load` reads the file, `+Commit` replaces it, `+Recovery` deals with one that is damaged. The order of a commit is
/// `begin`, closures, `commit`, `end`, by `TransactionQueue`.
final class PropertyListFile: TransactionQueue, @unchecked Sendable {
    let names: FileNames
    let system: SystemCalls

    /// Other code that writes the same file and has to be brought in step.
    protocol Companion: AnyObject, Sendable {
        /// Called under the cross-process lock, before the file is looked at for a change.
        func willChange()
        /// Called under the cross-process lock, after the file was replaced.
        func didChange()
    }

    private let lock = Lock()
    private var committed: Snapshot?
    private var notice: FileError?
    private var wasLoaded = false
    /// The state that this process has flushed last, or tried to. Of any other nothing is known: its writer may have
    /// been killed between the rename and the flush.
    private var lastFlush: (status: FileStatus, hasSucceeded: Bool)?
    private var companion: (any Companion)?
    private var formatOfNewFile = PropertyListFormat.binary

    /// What is being changed, and the lock on it. Belongs to the thread whose turn it is.
    private var session: (lock: FileSession, base: Snapshot)?

    /// - Parameter path: absolute, without links.
    init(path: String, system: SystemCalls = .real) {
        names = FileNames(path: path)
        self.system = system
    }

    // MARK: - Reading

    /// What a read gives: the state, and something that it has to report besides.
    struct Reading {
        let content: Content?
        let notice: FileError?
    }

    /// The state of now: the thread's own transaction, else the last commit by anyone. One `fstat` where nothing
    /// changed. Throws `FileError.unreadable`, or `.pathChanged`.
    func read() throws -> Reading {
        if let transaction = Transaction.current, transaction.owner === self {
            return Reading(content: transaction.content, notice: nil)
        }
        switch try look() {
        case .state(let snapshot):
            return Reading(content: snapshot.content, notice: takeNotice())
        case .stuck(let damage, let lastGood):
            return Reading(content: lastGood, notice: .damaged(damage))
        }
    }

    private func look() throws -> Loaded {
        if let cached = lock.withLock({ committed }), cached.isCurrent(atPath: names.path) { return .state(cached) }
        return try load(under: nil)
    }

    /// Forgets what is cached, so that the next read loads the file.
    func forget() {
        lock.withLock { committed = nil }
    }

    var committedStatus: FileStatus? {
        lock.withLock { committed?.status }
    }

    /// True at the first call.
    func isFirstLoad() -> Bool {
        lock.withLock {
            defer { wasLoaded = true }
            return !wasLoaded
        }
    }

    /// Whether the state of now is as sure to last as asked.
    override func isConfirmed(_ durability: Durability) -> Bool {
        guard durability == .powerCut else { return true }
        return lock.withLock {
            guard let committed else { return false }
            // Where there is no file, there is nothing to lose.
            guard let status = committed.status else { return true }
            return lastFlush.map { $0.hasSucceeded && $0.status == status } ?? false
        }
    }

    /// After a flush that failed the system may take the bytes for written: only writing them anew is sure.
    func isFlushRefused(for status: FileStatus) -> Bool {
        lock.withLock { lastFlush.map { !$0.hasSucceeded && $0.status == status } ?? false }
    }

    func noteFlush(of status: FileStatus, hasSucceeded: Bool) {
        lock.withLock { lastFlush = (status, hasSucceeded) }
    }

    /// Makes the state of now as sure to last as asked, for a write that found itself equal to it. No system call where
    /// this process knows that it is.
    func confirm(_ durability: Durability) throws {
        guard !isConfirmed(durability) else { return }
        if let transaction = Transaction.current, transaction.owner === self {
            transaction.durability = max(transaction.durability, durability)
            return
        }
        switch try look() {
        case .state(let snapshot):
            // Needs no lock: whatever replaces the state meanwhile is newer.
            if !isConfirmed(durability), try !flushInPlace(snapshot) { try transact(durability: durability) { _ in } }
        case .stuck(let damage, _):
            throw FileError.damaged(damage)
        }
    }

    func publish(_ snapshot: Snapshot?) {
        lock.withLock { committed = snapshot }
    }

    func leaveNotice(_ error: FileError) {
        lock.withLock { notice = error }
    }

    override func takeNotice() -> FileError? {
        lock.withLock {
            defer { notice = nil }
            return notice
        }
    }

    // MARK: - Settings shared by the stores on this file

    func setCompanion(_ companion: any Companion) {
        lock.withLock { self.companion = companion }
    }

    func setFormatOfNewFile(_ format: PropertyListFormat) {
        lock.withLock { formatOfNewFile = format }
    }

    var newFileFormat: PropertyListFormat {
        lock.withLock { formatOfNewFile }
    }

    var currentCompanion: (any Companion)? {
        lock.withLock { companion }
    }

    // MARK: - One commit

    override func begin() throws -> Content? {
        let session: FileSession
        do {
            session = try FileSession(names, makesFolder: true, system: system)
        } catch {
            throw FileError.notStored(error)
        }
        do {
            if let companion = currentCompanion {
                // Damage has to be met before the companion, which writes over it.
                _ = try current(under: session)
                companion.willChange()
            }
            let snapshot = try current(under: session)
            self.session = (session, snapshot)
            return snapshot.content
        } catch {
            session.end()
            throw error
        }
    }

    override func commit(_ content: Content, durability: Durability) throws {
        guard let session else { preconditionFailure("commit outside begin and end") }
        try replace(session.base, with: content, durability: durability, under: session.lock)
    }

    override func confirm() throws {
        guard let session else { preconditionFailure("confirm outside begin and end") }
        if try !flushInPlace(session.base), let content = session.base.content {
            try store(content, replacing: session.base, durability: .powerCut, under: session.lock)
        }
    }

    override func end() {
        session?.lock.end()
        session = nil
    }

    private func current(under session: FileSession) throws -> Snapshot {
        let cached = lock.withLock { committed }
        // The folder that is locked may not be the one that the cache is from.
        if let cached, let status = cached.status,
            let there = try? system.status(ofPath: names.file, in: session.folder, followsLinks: false),
            there == status, cached.isCurrent(atPath: names.path)
        {
            return cached
        }
        switch try load(under: session) {
        case .state(let snapshot): return snapshot
        case .stuck(let damage, _): throw FileError.damaged(damage)
        }
    }
}
