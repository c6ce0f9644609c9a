import Foundation
import PrefsFileEngine
import PrefsPropertyLists

/// The transactions of one domain of `UserDefaults` in this process.
///
/// The daemon owns the file. This class adds vetting, updates that are atomic within the process, and observers that
/// receive each commit of this process once, unless they fall behind. A commit is one `set` for each changed entry, so
/// that two processes that change different entries do not undo each other's changes.
package final class DefaultsDomain: Domain {
    let feed = ChangeFeed()
    let queue: TransactionQueue
    let system: any SystemDefaults
    let entries: DefaultsEntryCache
    let readability: DomainReadability

    struct State {
        var warning: FileError?
        var underWay: CommitUnderWay?
        var commits = 0
    }

    let state = Locked(State())

    /// The one object of a domain in a process.
    package static func of(_ system: any SystemDefaults) -> DefaultsDomain {
        system.slot.domain { DefaultsDomain(system) }
    }

    private init(_ system: any SystemDefaults) {
        self.system = system
        entries = DefaultsEntryCache(system)
        readability = DomainReadability(system)
        queue = TransactionQueue(reportingTo: feed)
        feed.start(self)
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
        if let transaction { return DomainState(transaction.content ?? [:], isOfUpdate: true) }
        switch part {
        case .everything: return DomainState(try content())
        case .entries(let keys):
            // Checked even if the part has no keys.
            try checkReadable()
            var content: Content = [:]
            for key in keys { content[key] = try entry(key).value }
            return DomainState(content, hasAllEntries: false)
        case .root(let key):
            let entry = try entry(key)
            return DomainState(entry.value.map { [key: $0] }, hasAllEntries: false, revision: entry.revision)
        }
    }

    func transact(on root: String, durability: CommitDurability, _ body: (Transaction) throws -> Void) throws {
        if Transaction.current == nil { try checkTurn() }
        try queue.transact(durability: durability, begin: begin, body)
    }

    func subscribe(to part: DomainPart, _ observer: EntryObserver) throws -> EntrySubscription {
        if case .entries(let keys) = part { expect(keys) }
        return try feed.subscribe(to: part.name, observer)
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

    /// Runs a read so that it sees all entries of a commit or none, although a commit sets one entry after another.
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
    struct CommitUnderWay {
        let keys: [String]
        let before: Content
        let after: Content

        /// - Parameter isOwn: whether the commit's own thread reads: `UserDefaults` notifies other code of each entry
        ///   there, and that code reads the new value.
        /// - Returns: nil if the commit does not change the entry; a nested nil if the commit removes the entry.
        func value(forKey key: String, isOwn: Bool) -> StoredValue?? {
            guard keys.contains(key) else { return nil }
            return .some((isOwn ? after : before)[key])
        }
    }

    /// - Throws: `FileError.unreadable`.
    func checkReadable() throws(FileError) {
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

    /// Watches entries that do not exist yet, so that observers of the whole domain receive the changes of other
    /// processes to them.
    private func expect(_ keys: [String]) {
        keys.forEach { entries.observe($0) }
    }
}

extension DefaultsDomain: FeedSource {
    var mayOthersWrite: Bool { true }
    var watchesEntries: Bool { true }

    /// The content of the watched parts. The feed does not use the others.
    func committedState(waits: Bool) throws -> DomainState {
        if let transaction { return DomainState(transaction.session?.content) }
        let parts = entries.watchedParts
        if parts.contains("") {
            let content = try content()
            expect(content.map { Array($0.keys) } ?? [])
            return DomainState(content)
        }
        var content: Content = [:]
        for key in parts { content[key] = try entry(key).value }
        return DomainState(content)
    }

    func watch(entry: String, _ changed: @escaping @Sendable () -> Void) -> AnyObject? {
        if entry.isEmpty { expect(Array(system.allEntries().keys)) }
        return entries.watch(entry, changed)
    }
}
