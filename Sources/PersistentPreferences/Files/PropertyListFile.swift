import Foundation

/// One property-list file: locked, atomic, cached. There is one of these for a file in a process (`FileRegistry`), so
/// that every store on it shares its lock, its cache and its commits.
///
/// `+Session` is what goes on under the cross-process lock, `+Load` reads the file, `+Commit` replaces it, `+Recovery` deals
/// with one that is damaged.
final class PropertyListFile: TransactionQueue, @unchecked Sendable {
    let names: FileNames
    let root: Root
    let system: SystemCalls

    /// What the top level of a file is.
    enum Root {
        /// A dictionary of roots and other entries: the content.
        case domain
        /// Anything: the content's one entry, under `documentKey`.
        case document
    }

    static let documentKey = "document"

    /// Other code that writes the same file and has to be brought in step.
    protocol Companion: AnyObject, Sendable {
        /// Called under the cross-process lock, before the file is looked at for a change.
        func willChange()
        /// Called under the cross-process lock, after the file was replaced.
        func didChange()
    }

    private let lock = Lock()
    private var snapshot: Snapshot?
    private var notice: FileError?
    private var wasLoaded = false
    private var flushes = FlushRecord()
    private var companion: (any Companion)?
    private var formatOfNewFile = PropertyListFormat.binary

    /// What is being changed, and the lock on it. Belongs to the thread whose turn it is. For `+Session`.
    var session: (lock: FileSession, base: Snapshot)?

    /// - Parameter path: absolute, without links.
    init(path: String, holds root: Root = .domain, system: SystemCalls = .real) {
        names = FileNames(path: path)
        self.root = root
        self.system = system
    }

    // MARK: - Reading

    /// What a read gives: the state, and something that it has to report besides.
    struct Reading {
        let content: Content?
        /// nil for what is still being changed.
        var revision: Revision?
        var notice: FileError?
        /// How sure the state is to last.
        var durability = Durability.process
    }

    /// The state of now: the thread's own transaction, else the last commit by anyone. One `fstat` where nothing
    /// changed. Throws `FileError.unreadable`, or `.pathChanged`.
    func read() throws -> Reading {
        if let transaction = Transaction.current, transaction.owner === self {
            return Reading(content: transaction.content)
        }
        if let (cached, durability, hasNotice) = validated() {
            return Reading(
                content: cached.content, revision: cached.revision, notice: hasNotice ? takeNotice() : nil,
                durability: durability)
        }
        switch try load(under: nil) {
        case .state(let snapshot):
            return Reading(
                content: snapshot.content, revision: snapshot.revision, notice: takeNotice(),
                durability: durability(of: snapshot))
        case .stuck(let damage, let lastGood):
            return Reading(content: lastGood, notice: .damaged(damage))
        }
    }

    /// What is cached, if the file still is what it was read from.
    func validated() -> (snapshot: Snapshot, durability: Durability, hasNotice: Bool)? {
        let (cached, durability, hasNotice) = lock.withLock {
            (snapshot, snapshot.map { flushes.durability(of: $0.status) }, notice != nil)
        }
        guard let cached, let durability, let current = cached.validated(atPath: names.path) else { return nil }
        if current !== cached {
            lock.withLock { if snapshot === cached { snapshot = current } }
        }
        return (current, durability, hasNotice)
    }

    /// The last commit by anyone. What there is to report of it is left for the next access. Unlike a read it looks at the
    /// path: the folder may be another.
    override func committed() throws -> Content? {
        if let transaction = Transaction.current, transaction.owner === self { return session?.base.content }
        if let cached = validated()?.snapshot,
            cached.status == (try? system.status(ofPath: names.path, followsLinks: false))
        {
            return cached.content
        }
        switch try load(under: nil) {
        case .state(let snapshot): return snapshot.content
        case .stuck(_, let lastGood): return lastGood
        }
    }

    /// - Throws: `FileError.pathChanged` where the file has become a link.
    func checkPath() throws {
        if try system.status(ofPath: names.path, followsLinks: false)?.kind == .link { throw FileError.pathChanged }
    }

    override func watch(
        _ key: String, _ changed: @escaping @Sendable () -> Void
    ) throws(StorageFailure) -> AnyObject? {
        try FileWatch(names, system: system, changed)
    }

    /// Forgets what is cached, so that the next read loads the file.
    func forget() {
        lock.withLock { snapshot = nil }
    }

    var committedStatus: FileStatus? {
        lock.withLock { snapshot?.status }
    }

    /// True at the first call.
    func isFirstLoad() -> Bool {
        lock.withLock {
            defer { wasLoaded = true }
            return !wasLoaded
        }
    }

    func durability(of snapshot: Snapshot) -> Durability {
        lock.withLock { flushes.durability(of: snapshot.status) }
    }

    func isFlushRefused(for status: FileStatus) -> Bool {
        lock.withLock { flushes.isRefused(for: status) }
    }

    func noteFlush(of status: FileStatus, hasSucceeded: Bool) {
        lock.withLock { flushes.note(status, hasSucceeded: hasSucceeded) }
    }

    /// Makes the entry of the folder outlast a power cut, at the first flush and for a new file: who made the folder may
    /// have been killed before.
    func flushFolderEntry(isNew: Bool) throws(StorageFailure) {
        guard isNew || !lock.withLock({ flushes.hasFlushedFolder }) else { return }
        try FileSession.flushFolder(FileNames(path: names.folder).folder, system)
        lock.withLock { flushes.hasFlushedFolder = true }
    }

    /// Makes the state of now as sure to last as asked, for a write that found itself equal to it.
    func confirm(_ durability: Durability) throws {
        if let transaction = Transaction.current, transaction.owner === self {
            transaction.durability = max(transaction.durability, durability)
            return
        }
        switch try validated().map({ .state($0.snapshot) }) ?? load(under: nil) {
        case .state(let snapshot):
            // Needs no lock: whatever replaces the state meanwhile is newer.
            if self.durability(of: snapshot) < durability, try !flushInPlace(snapshot) {
                try transact(durability: durability) { _ in }
            }
        case .stuck(let damage, _):
            throw FileError.damaged(damage)
        }
    }

    func publish(_ snapshot: Snapshot?) {
        lock.withLock { self.snapshot = snapshot }
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

    // MARK: - One transaction

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
        try refuseFork(of: session.lock)
        try replace(session.base, with: content, durability: durability, under: session.lock)
    }

    override func confirm() throws {
        guard let session else { preconditionFailure("confirm outside begin and end") }
        try refuseFork(of: session.lock)
        if try !flushInPlace(session.base), let content = session.base.content {
            try store(content, replacing: session.base, durability: .powerCut, under: session.lock)
        }
    }

    override func end() {
        session?.lock.end()
        session = nil
    }

    /// Whether what the session started from is as sure to last as asked.
    override func isConfirmed(_ durability: Durability) -> Bool {
        guard let session else { preconditionFailure("isConfirmed outside begin and end") }
        return self.durability(of: session.base) >= durability
    }

    override func stored(_ content: Content?) -> Content? {
        guard let session else { preconditionFailure("stored outside begin and end") }
        return content.map { PropertyListCoder.storable($0, as: session.base.format ?? newFileFormat) }
    }
}
