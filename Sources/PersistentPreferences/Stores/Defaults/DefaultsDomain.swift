import Foundation
import PrefsFileEngine
import PrefsPropertyLists

/// The transactions of one domain of `UserDefaults` in this process.
///
/// The daemon owns the file. This class adds vetting, updates that are atomic within the process, and observers that receive
/// each commit once. A commit is one `set` for each changed entry, so that two processes that change different entries do not
/// undo each other's changes.
final class DefaultsDomain: Domain {
    let queue = TransactionQueue()
    private let system: any SystemDefaults
    private let entries: DefaultsEntryCache
    private let readability: DomainReadability

    private struct State {
        var warning: FileError?
        var underWay: CommitUnderWay?
        var commits = 0
    }

    private let state = Locked(State())

    /// The one object of a domain in a process.
    static func of(_ system: any SystemDefaults) -> DefaultsDomain {
        system.slot.domain { DefaultsDomain(system) }
    }

    private init(_ system: any SystemDefaults) {
        self.system = system
        entries = DefaultsEntryCache(system)
        readability = DomainReadability(system)
        queue.feed.start(
            self, mayOthersWrite: true, committed: { try $0.committed() },
            watch: { (domain, part, changed) in domain.watch(part, changed) })
        system.observeOwnChanges { [weak self] in self?.entries.drop(nil) }
        system.observeUnlock { [weak self] in
            guard let self else { return }
            // First, because the observers that the cache notifies read the domain again.
            readability.didUnlock()
            entries.drop(nil)
        }
    }

    // MARK: - As a domain

    var transaction: Transaction? { queue.transaction }

    func state(of part: DomainPart, isForWriting: Bool) throws -> DomainState {
        if let transaction { return DomainState(transaction.content ?? [:]) }
        switch part {
        case .everything: return DomainState(try content())
        case .entries(let keys):
            // Also if no key is asked for.
            try checkReadable()
            var content: Content = [:]
            for key in keys { content[key] = try entry(key).value }
            return DomainState(content, isWhole: false)
        case .root(let key):
            let entry = try entry(key)
            return DomainState(entry.value.map { [key: $0] }, isWhole: false, revision: entry.revision)
        }
    }

    func transact(on root: String, durability: CommitDurability, _ body: (Transaction) throws -> Void) throws {
        if Transaction.current == nil { try checkTurn() }
        try queue.transact(durability: durability, begin: begin, body)
    }

    func subscribe(
        to part: DomainPart, _ subscriber: any EntrySubscriber, from known: LastKnownEntry?
    ) throws -> EntrySubscription {
        if case .entries(let keys) = part { expect(keys) }
        return try queue.feed.subscribe(to: part.name, subscriber, from: known)
    }

    // MARK: - Reading

    /// An entry, from the cache if nothing has changed.
    ///
    /// - Throws: `FileError.unreadable`.
    private func entry(_ key: String) throws(FileError) -> DefaultsEntryCache.Entry {
        try outsideOfCommits { commit throws(FileError) in
            if let commit, let value = commit.value(forKey: key, isOwn: isCommitting) {
                return DefaultsEntryCache.Entry(value: value, revision: nil)
            }
            if let entry = entries.cached(key) { return entry }
            try checkReadable()
            return entries.load(key)
        }
    }

    /// A commit sets one entry after another; a read sees none of them or all.
    ///
    /// - Parameter read: called with the commit in progress, if any.
    private func outsideOfCommits<R>(
        _ read: (CommitUnderWay?) throws(FileError) -> R
    ) throws(FileError) -> R {
        while true {
            let (commit, count) = state.withLock { ($0.underWay, $0.commits) }
            let result = try read(commit)
            if state.withLock({ $0.commits == count }) { return result }
        }
    }

    /// The values that reads return for the entries of a commit until all of them are set.
    private struct CommitUnderWay {
        let keys: [String]
        let before: Content
        let after: Content

        /// - Parameter isOwn: whether the commit's own thread reads: `UserDefaults` notifies other code of each entry there, and that
        ///   code reads the new value.
        /// - Returns: nil if the commit does not change the entry; nil inside if the entry does not exist.
        func value(forKey key: String, isOwn: Bool) -> StoredValue?? {
            guard keys.contains(key) else { return nil }
            return .some((isOwn ? after : before)[key])
        }
    }

    /// - Throws: `FileError.unreadable`.
    private func checkReadable() throws(FileError) {
        // Observers receive the values even if the system does not announce the unlock.
        if try readability.check() { entries.drop(nil) }
    }

    /// All entries; nil if there are none.
    ///
    /// - Throws: `FileError.unreadable`.
    private func content() throws(FileError) -> Content? {
        let content = try outsideOfCommits { commit throws(FileError) in
            try checkReadable()
            var content = stored()
            for key in commit?.keys ?? [] { content[key] = commit?.value(forKey: key, isOwn: isCommitting) ?? nil }
            return content
        }
        return content.isEmpty ? nil : content
    }

    /// Reports changes that other processes make to an entry that does not exist yet to the observers of the whole domain.
    private func expect(_ keys: [String]) {
        keys.forEach { entries.observe($0) }
    }

    // MARK: - For the feed

    /// The content of the watched parts. The feed does not use the others.
    private func committed() throws -> Content? {
        if let transaction { return transaction.session?.content }
        let parts = entries.watchedParts
        if parts.contains("") {
            let content = try content()
            expect(content.map { Array($0.keys) } ?? [])
            return content
        }
        var content: Content = [:]
        for key in parts { content[key] = try entry(key).value }
        return content
    }

    private func watch(_ part: String, _ changed: @escaping @Sendable () -> Void) -> AnyObject? {
        if part.isEmpty { expect(Array(system.allEntries().keys)) }
        return entries.watch(part, changed)
    }

    // MARK: - One transaction

    /// A commit in progress on a thread, perhaps inside one of another domain whose changes `UserDefaults` announces.
    private final class CommitFrame {
        let domain: DefaultsDomain
        let outer: CommitFrame?

        init(_ domain: DefaultsDomain, in outer: CommitFrame?) {
            (self.domain, self.outer) = (domain, outer)
        }

        private static let threads = ThreadLocal()

        static var current: CommitFrame? {
            get { threads.value.map { Unmanaged<CommitFrame>.fromOpaque($0).takeUnretainedValue() } }
            set { threads.value = newValue.map { UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) } }
        }
    }

    /// Whether this thread is in the middle of a commit of the domain.
    private var isCommitting: Bool {
        var frame = CommitFrame.current
        while let inner = frame, inner.domain !== self { frame = inner.outer }
        return frame != nil
    }

    /// Other code may write when `UserDefaults` announces an entry in the middle of a commit. It would wait for itself.
    private func checkTurn() throws {
        guard isCommitting else { return }
        let reason = "another write is under way on this thread: write after the notification of UserDefaults"
        throw FileError.notStored(StorageFailure(path: "", reason: reason))
    }

    private struct Session: TransactionSession {
        let domain: DefaultsDomain
        /// The domain as the transaction found it.
        let base: Content

        var content: Content? { base }

        func commit(_ content: Content, durability: CommitDurability) throws {
            try domain.commit(content, replacing: base)
        }
    }

    private func begin() throws -> any TransactionSession {
        try checkReadable()
        return Session(domain: self, base: stored())
    }

    private func commit(_ content: Content, replacing base: Content) throws {
        try checkSize(content, replacing: base)
        let changed = Set(content.keys).union(base.keys).filter { base[$0] != content[$0] }
        // Other processes may have changed some of them since the transaction began.
        let before = changed.compactMap { key in entries.stored(key).map { (key, $0) } }
        state.withLock {
            $0.underWay = CommitUnderWay(
                keys: Array(changed), before: Dictionary(uniqueKeysWithValues: before), after: content)
            $0.commits += 1
        }
        let frame = CommitFrame(self, in: .current)
        CommitFrame.current = frame
        defer {
            CommitFrame.current = frame.outer
            state.withLock { $0.underWay = nil }
        }
        for key in changed { system.set(content[key]?.object, forKey: key) }
        entries.didCommit(Array(changed))
        readability.didCommit(isEmpty: content.isEmpty)
    }

    func takeWarning() -> FileError? {
        state.withLock { state in
            defer { state.warning = nil }
            return state.warning
        }
    }

    /// The content of this domain alone: arguments and registered defaults must not be written back.
    private func stored() -> Content {
        var entries = system.allEntries()
        entries[DefaultsEntryCache.mark] = nil
        return entries.mapValues(PropertyListVetter.value(ofStored:))
    }

    /// - Throws: `FileError.notStored` if the domain would be too large for the system.
    private func checkSize(_ content: Content, replacing base: Content) throws(FileError) {
        let (warningSize, maximum) = system.sizeLimits
        let limit = warningSize ?? maximum
        // An estimate that is cheap and never far off; the exact size only near the limit.
        guard content.estimatedBytes > limit / 2 else { return }
        let size = Self.size(of: content)
        guard size >= limit else { return }
        guard size < maximum else {
            // A domain that others have made too large may still shrink.
            if size < Self.size(of: base) { return }
            let reason = "the domain would have \(size) bytes; this system allows less than \(maximum)"
            throw .notStored(StorageFailure(path: "", reason: reason))
        }
        state.withLock { $0.warning = .nearLimit(bytes: size, limit: maximum) }
    }

    /// In bytes; an estimate if other code has stored an entry that this package would not store.
    private static func size(of content: Content) -> Int {
        (try? PropertyListCoder.encode(.dictionary(content), as: .binary).count) ?? content.estimatedBytes
    }
}
