import Foundation
import PrefsPropertyLists

/// One property-list file: locked, atomic, cached. `FileRegistry` keeps one object for each file in a process, so that
/// all stores on the file share its lock, its cache and its commits.
///
/// It joins what reads, writes and mends the file on the disk, and has what is cached. `+Transaction` has the steps of a
/// transaction, and those under the cross-process lock; `+Load` those of a look, with `+Presence`; `+Commit` those of a
/// replacement; `+Recovery` the state in place of a malformed file.
package final class PropertyListFile: Sendable {
    package typealias Content = DomainContent

    package let queue = TransactionQueue()
    let names: FileNames
    let topLevel: TopLevel
    let system: SystemCalls

    struct State {
        var snapshot: FileState?
        var known: FileState?
        /// What the next access reports, and the state of the file that it is about; nil if it is about something that has
        /// happened.
        var warning: (error: FileError, status: FileStatus?)?
        var hasBegun = false
        var flushes = FlushRecord()
        var rules = FileRules()
        var presence = Presence()
        /// When the file had the state that was published last, by the monotonic clock.
        var publishedAt: Duration?
        /// The state that is read while another program saves the file, and the copy that it was compared with.
        var lastKnownState: (copy: FileStatus?, state: DomainState)?
        /// The status of the malformed file that was read last, and what its bytes have shown.
        var malformed: (status: FileStatus, absence: Presence.Absence, changed: FileStatus.Time?)?
        /// What was known of the file until it was found missing or empty.
        var stateBeforeLoss: FileState?
        /// The folder of the last write, open.
        var folder: OpenFile?

        @inline(__always)
        func durability(of snapshot: FileState) -> CommitDurability {
            snapshot.fault == nil ? flushes.durability(of: snapshot.status) : .notStored
        }
    }

    let state = Locked(State())

    // What reads, writes and mends the file on the disk.
    var coder: ContentCoder { ContentCoder(topLevel: topLevel, rules: rules, path: names.path) }
    let reader: FileReader
    let writer: FileWriter
    let copies: LastGoodCopies
    let quarantine: Quarantine

    /// - Parameter path: absolute, without links.
    init(path: String, holds topLevel: TopLevel = .domain, system: SystemCalls = .real) {
        names = FileNames(path: path)
        self.topLevel = topLevel
        self.system = system
        reader = FileReader(names: names, system: system)
        writer = FileWriter(names: names, system: system)
        copies = LastGoodCopies(names: names, system: system, writer: writer)
        quarantine = Quarantine(names: names, system: system, copies: copies, writer: writer)
        queue.feed.start(self)
    }

    // MARK: - Reading

    /// The current state: the thread's own transaction, or the last commit of any process. Costs one `fstat` if nothing
    /// has changed, and an `open` on a server. A file that cannot be read gives what is known of it, with the error, but
    /// not to a write. Throws `FileError.unreadable` or `.pathChanged`.
    ///
    /// - Parameter previousTarget: what is known instead, if the path has led to another file.
    func read(_ patience: Patience = .ofRead, previousTarget: PreviousTarget? = nil) throws -> DomainState {
        if let transaction = queue.transaction {
            return DomainState(transaction.content, form: transaction.session?.form ?? .exact)
        }
        let (cached, hasWarning) = state.withLock { ($0.snapshot, $0.warning != nil) }
        // A file that was missing before may be coming now.
        guard let cached, previousTarget == nil || cached.status != nil, let current = validated(cached) else {
            do {
                return try load(patience, previousTarget)
            } catch FileError.unreadable(let failure) where patience != .ofWrite {
                guard let known = knownOfUnreadable() else { throw FileError.unreadable(failure) }
                return DomainState(known, warning: .unreadable(failure))
            }
        }
        if current !== cached {
            state.withLock { if $0.snapshot === cached { $0.snapshot = current } }
        }
        return reading(of: current, hasWarning: hasWarning)
    }

    /// The state, if it is still that of the file at the path: see `FileState.validated(atPath:)`.
    @inline(__always)
    func validated(_ cached: FileState) -> FileState? {
        // An open file that shows its replacement shows enough.
        if cached.volume.openFilesShowReplacement { return cached.validated(atPath: names.path) }
        let begin = system.monotonicNow()
        let current = cached.validated(atPath: names.path)
        if current?.fault == nil, current?.content != nil { state.withLock { $0.presence.sawWhole(at: begin) } }
        return current
    }

    private func load(_ patience: Patience, _ previousTarget: PreviousTarget?) throws -> DomainState {
        var wait = SaveWait()
        while true {
            switch try loadState(under: nil, waits: patience != .none, previousTarget: previousTarget) {
            case .state(let snapshot): return reading(of: snapshot, hasWarning: true)
            case .saving(_, let lastKnownState?) where patience == .none || patience == .ofRead: return lastKnownState
            // The limits of waits are for writes.
            case .saving where patience == .ofWrite: try wait.pause(for: names.path, system)
            case .saving: system.pause()
            }
        }
    }

    @inline(__always)
    private func reading(of snapshot: FileState, hasWarning: Bool) -> DomainState {
        DomainState(
            snapshot.content, revision: snapshot.revision,
            warning: snapshot.fault?.error ?? (hasWarning ? takeWarning() : nil),
            form: form(of: snapshot))
    }

    /// The state that reads return, if the file has not changed since it was read.
    var cached: FileState? { state.withLock { $0.snapshot } }

    /// - Throws: `FileError.pathChanged` if the file has become a link.
    func requireNoLink() throws {
        if try system.status(ofPath: names.path, followsLinks: false)?.kind == .link { throw FileError.pathChanged }
    }

    /// Drops the cache, so that the next read loads the file.
    package func forget() {
        state.withLock { $0.snapshot = nil }
    }

    /// The state that a transaction starts with. `isFirst` is true at the first call.
    func stateForTransaction() -> (cached: FileState?, mirror: FileRules.DefaultsMirror?, isFirst: Bool) {
        state.withLock { state in
            defer { state.hasBegun = true }
            return (state.snapshot, state.rules.mirror, !state.hasBegun)
        }
    }

    func durability(of snapshot: FileState) -> CommitDurability {
        state.withLock { $0.durability(of: snapshot) }
    }

    func isFlushRefused(for status: FileStatus) -> Bool {
        state.withLock { $0.flushes.isRefused(for: status) }
    }

    func noteFlush(of status: FileStatus, hasSucceeded: Bool) {
        state.withLock { $0.flushes.note(status, hasSucceeded: hasSucceeded) }
    }

    /// Flushes the entry of the folder, at the first flush and for a new file, because the process that made the folder
    /// may have been killed before its flush.
    func flushFolderEntry(isNew: Bool) throws(StorageFailure) {
        guard isNew || !state.withLock({ $0.flushes.hasFlushedFolder }) else { return }
        try WriteLock.flushFolder(FileNames(path: names.folder).folder, system)
        state.withLock { $0.flushes.hasFlushedFolder = true }
    }

    /// Makes the state of a read durable. Called by a write that is equal to that state.
    ///
    /// - Parameters:
    ///   - revision: the revision of that state. If it is still cached and durable, no system call is made.
    ///   - begin: begins a session, as for a transaction.
    /// - Returns: false if the cached state was durable already, so that the file was not read again.
    func ensureDurable(
        _ revision: Revision?, _ durability: CommitDurability, begin: () throws -> any TransactionSession
    ) throws -> Bool {
        if let transaction = queue.transaction {
            try transaction.refuseExit()
            transaction.durability = max(transaction.durability, durability)
            return false
        }
        let isDurable = state.withLock { state in
            guard let snapshot = state.snapshot, snapshot.revision == revision else { return false }
            return state.durability(of: snapshot) >= durability
        }
        if isDurable { return false }
        let snapshot = try cached.flatMap(validated) ?? loadForWriting()
        if self.durability(of: snapshot) >= durability { return true }
        // A flush needs no lock, because a state that replaces this one before the flush ends is newer.
        if snapshot.fault == nil, try flushInPlace(snapshot) { return true }
        try queue.transact(durability: durability, begin: begin) { _ in }
        return true
    }

    /// Makes a state the one that reads return. nil makes the next read load the file.
    ///
    /// - Parameter time: when the file had this state, by the monotonic clock; nil if there is no state.
    func publish(_ snapshot: FileState?, at time: Duration? = nil) {
        state.withLock { state in
            // A slow thread must not bring back an older state than a faster one has published.
            if let time, let last = state.publishedAt, time < last { return }
            if let time { state.publishedAt = time }
            state.snapshot = snapshot
            if let warned = state.warning?.status, snapshot?.status != warned { state.warning = nil }
            guard let snapshot, snapshot.fault == nil else { return }
            guard let remembered = snapshot.remembered else {
                // Reads no longer return what was known, but a write keeps it beside the file.
                state.stateBeforeLoss = state.known ?? state.stateBeforeLoss
                state.known = nil
                return
            }
            state.known = remembered
            if let time { state.presence.saw(snapshot, at: time, system) }
            (state.lastKnownState, state.stateBeforeLoss) = (nil, nil)
        }
    }

    /// Notes that this program has removed the file: nothing is lost, and no program is saving the file.
    func noteRemoval() {
        state.withLock { state in
            (state.known, state.stateBeforeLoss, state.lastKnownState) = (nil, nil, nil)
            (state.snapshot, state.publishedAt) = (FileState(system: system), system.monotonicNow())
        }
    }

    /// What was known of a file before it was found missing or empty.
    func lost(before base: FileState) -> FileState? {
        state.withLock { base.fault == nil ? $0.stateBeforeLoss : $0.known }
    }

    var knownState: FileState? { state.withLock { $0.known } }

    func note(_ known: FileState) {
        state.withLock { $0.known = known }
    }

    /// Leaves a warning for the next access.
    ///
    /// - Parameter status: the state of the file that it is about. If the file changes before that access, the warning goes.
    func leaveWarning(_ error: FileError, of status: FileStatus? = nil) {
        state.withLock { $0.warning = (error, status) }
    }

    package func takeWarning() -> FileError? {
        state.withLock { state in
            defer { state.warning = nil }
            return state.warning?.error
        }
    }
}

// MARK: - Rules

extension PropertyListFile {
    package func setRules(_ change: (inout FileRules) -> Void) {
        state.withLock { state in
            let former = state.rules
            change(&state.rules)
            if state.rules.read(like: former) { return }
            let isReadLess = state.rules.formats.count < former.formats.count
            let isReadForText = state.snapshot?.format == .xml && !state.rules.keepsText(like: former)
            if isReadLess || isReadForText || state.snapshot?.fault != nil { state.snapshot = nil }
        }
    }

    var rules: FileRules { state.withLock { $0.rules } }

    var currentMirror: FileRules.DefaultsMirror? { state.withLock { $0.rules.mirror } }

    /// The format of a commit that replaces a state.
    func format(replacing base: FileState) -> FileFormat { state.withLock { $0.rules.format(replacing: base) } }

    /// The accepted form of the values in a state. A write of a missing file makes a file of the format of a new one.
    @inline(__always)
    func form(of snapshot: FileState) -> ValueForm {
        snapshot.form ?? format(replacing: snapshot).form
    }

    /// The accepted form of the values in the file when it was last read; before the first read, in a new file.
    var form: ValueForm { cached.map(form) ?? rules.form }

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
    package func committedState(waits: Bool) throws -> ChangeFeed.CommittedState {
        if let transaction = queue.transaction {
            return ChangeFeed.CommittedState(content: transaction.session?.content)
        }
        let snapshot: FileState
        if let cached = cached.flatMap(validated),
            cached.status == (try? system.status(ofPath: names.path, followsLinks: false))
        {
            snapshot = cached
        } else {
            var result = try loadState(under: nil)
            while waits, case .saving(_, lastKnownState: nil) = result {
                system.pause()
                result = try self.loadState(under: nil)
            }
            switch result {
            case .state(let state): snapshot = state
            case .saving(let time, let lastKnownState):
                return ChangeFeed.CommittedState(content: lastKnownState?.content, isBeingSaved: true, next: time)
            }
        }
        return ChangeFeed.CommittedState(
            content: snapshot.content, fault: snapshot.fault?.error,
            next: snapshot.expiresAt.map { $0 - system.monotonicNow() })
    }

    package func watch(
        entry: String, _ changed: @escaping @Sendable () -> Void
    ) throws(StorageFailure) -> AnyObject? {
        try FileWatch(names, system: system, changed)
    }
}
