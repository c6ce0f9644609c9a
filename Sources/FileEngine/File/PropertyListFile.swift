import Foundation
import PrefsPropertyLists

/// A file with a property list, with the turns of its writers and its observers. There is one object of each file in a process,
/// so that all stores on the file share its lock, its cache and its commits.
///
/// It joins what is cached (`FileCache`), what reads the file and stands for it (`FileLook`), what writes it under its lock
/// (`LockedFile`), the turns of threads (`TransactionQueue`) and the observers (`ChangeFeed`).
package final class PropertyListFile: Sendable {
    package typealias Content = DomainContent

    let names: FileNames
    let topLevel: TopLevel
    let system: SystemCalls
    let cache: FileCache
    let look: FileLook
    private let disk: FileCommit
    package let feed = ChangeFeed()
    package let queue: TransactionQueue

    /// - Parameter path: absolute, without links.
    init(path: String, holds topLevel: TopLevel = .domain, system: SystemCalls = .real) {
        names = FileNames(path: path)
        self.topLevel = topLevel
        self.system = system
        let writer = FileWriter(names: names, system: system)
        let copies = LastGoodCopies(names: names, system: system, writer: writer)
        look = FileLook(names, holds: topLevel, copies: copies, system: system)
        cache = look.cache
        disk = FileCommit(look, writer: writer)
        queue = TransactionQueue(reportingTo: feed)
        feed.start(self)
    }

    // MARK: - Reading

    /// How long an access waits for a file that another program may be saving.
    package enum Patience {
        /// Not at all. For files that the program only falls back on.
        case none
        /// Only if the process knows no state that it could return instead.
        case ofRead
        /// Until no program is saving the file, because the truth is asked for.
        case untilSaved
        /// As long, but within the time of the task's writes, because a write depends on it.
        case ofWrite
    }

    /// The current state: the thread's own transaction, or the last commit of any process. Costs one `fstat` if nothing
    /// has changed, and an `open` on a server. A file that cannot be read gives what is known of it, with the error, but
    /// not to a write. Throws `FileError.unreadable` or `.pathChanged`.
    ///
    /// - Parameter formerTarget: what is known instead, if the path has led to another file.
    func read(_ patience: Patience = .ofRead, _ formerTarget: FileLook.FormerTarget? = nil) throws -> DomainState {
        if let transaction = queue.transaction {
            return DomainState(
                transaction.content, isOfUpdate: true, format: transaction.session?.format,
                durability: transaction.promise)
        }
        let (cached, hasWarning) = cache.state.withLock { ($0.newest, $0.warning != nil) }
        // A file that was missing before may be coming now.
        guard let cached, formerTarget == nil || cached.status != nil, let current = validated(cached) else {
            do {
                return try load(patience, formerTarget)
            } catch FileError.unreadable(let failure) where patience != .ofWrite {
                guard let known = look.recovery.knownOfUnreadable(by: look.coder) else {
                    throw FileError.unreadable(failure)
                }
                return DomainState(known, warning: .unreadable(failure))
            }
        }
        if current !== cached {
            cache.state.withLock { if $0.newest === cached { $0.newest = current } }
        }
        return cache.reading(of: current, hasWarning: hasWarning)
    }

    @inline(__always)
    func validated(_ cached: FileState) -> FileState? { cache.validated(cached, atPath: names.path) }

    private func load(_ patience: Patience, _ formerTarget: FileLook.FormerTarget?) throws -> DomainState {
        var wait = SaveWait()
        while true {
            switch try look(formerTarget, waits: patience != .none) {
            case .state(let state): return cache.reading(of: state, hasWarning: true)
            case .saving(_, let lastKnownState?) where patience == .none || patience == .ofRead: return lastKnownState
            // The limits of waits are for writes.
            case .saving where patience == .ofWrite: try wait.pause(for: names.path, system)
            case .saving: system.pause()
            }
        }
    }

    /// - Throws: `FileError.pathChanged` if the file has become a link.
    func requireNoLink() throws {
        if try system.status(ofPath: names.path, followsLinks: false)?.kind == .link { throw FileError.pathChanged }
    }

    package func takeWarning() -> FileError? { cache.takeWarning() }

    // MARK: - Writing

    /// Locks the file for a transaction.
    func begin() throws -> LockedFile { try FileLocker(disk: disk).begin() }

    /// Locks the file for a tool that replaces its bytes, whatever they are. The caller ends the lock.
    package func beginReplacement() throws -> LockedFile { try FileLocker(disk: disk).beginReplacement() }

    package func setRules(_ change: (inout FileRules) -> Void) { cache.setRules(change) }

    /// Runs the body, in which writes of this process also replace a malformed file.
    ///
    /// - Parameter isForeign: whether a file that is not ours is replaced, too.
    package func replacingMalformedFile<R>(isForeign: Bool = false, _ body: () throws -> R) rethrows -> R {
        let count = isForeign ? \FileRules.replacesForeign : \FileRules.replacesMistakes
        setRules { $0[keyPath: count] += 1 }
        defer { setRules { $0[keyPath: count] -= 1 } }
        return try body()
    }
}

extension PropertyListFile: FeedSource {
    /// The last commit by anyone. Its warning is kept for the next access. Unlike a read, it resolves the path, because
    /// the folder may have been replaced.
    package func committedState(waits: Bool) throws -> DomainState {
        if let transaction = queue.transaction { return DomainState(transaction.session?.content) }
        let state: FileState
        if let cached = cache.newest.flatMap(validated),
            cached.status == (try? system.status(ofPath: names.path, followsLinks: false))
        {
            state = cached
        } else {
            var result = try look()
            while waits, case .saving(_, lastKnownState: nil) = result {
                system.pause()
                result = try look()
            }
            switch result {
            case .state(let found): state = found
            case .saving(let time, let known):
                return DomainState(known?.content, isDuringSave: true, nextLook: time)
            }
        }
        return DomainState(
            state.content, warning: state.fault, nextLook: state.expiresAt.map { $0 - system.monotonicNow() })
    }

    package func watch(
        entry: String, _ changed: @escaping @Sendable () -> Void
    ) throws(StorageFailure) -> AnyObject? {
        try FileWatch(names, system: system, changed)
    }
}
