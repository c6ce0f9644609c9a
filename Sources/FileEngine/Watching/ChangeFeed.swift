import Foundation
import PrefsPropertyLists

/// Reports the changes of one domain's entries to subscribers: each commit of this process, in order, and the changes
/// of others when the domain's watch reports something.
///
/// The feed keeps the last reported state of each entry. A commit is reported as the differences that its updates made.
/// If a commit did not start from the last reported state, others have changed the entry, and their change is reported
/// first. Discards a reload that overlapped one of our own commits.
package final class ChangeFeed: Sendable {
    package typealias Content = Transaction.Content
    typealias Action = @Sendable () -> Void

    /// One update of a commit.
    struct Step {
        let before: Content?
        let after: Content?
    }

    private let queue = DispatchQueue(label: "PersistentPreferences.ChangeFeed")
    private let state = Locked(State())
    private let watches = EntryWatches()

    /// How long a file may be missing before that is reported, because editors move the old file away before they make
    /// a new one.
    private static let grace = DispatchTimeInterval.milliseconds(50)

    /// Called once, by the domain's initializer.
    ///
    /// - Parameters:
    ///   - mayOthersWrite: whether another process may change the domain during a session.
    ///   - committed: returns the committed state, outside and inside of a transaction; nil if the domain is missing.
    ///   - fault: returns why `committed` could not return the stored state, but the last known one; nil if it could.
    ///   - watch: calls its closure, from any thread, when others may have changed an entry, until the returned object
    ///     is released. Returns nil if no other process can change it.
    package func start<Domain: AnyObject & Sendable>(
        _ domain: Domain, mayOthersWrite: Bool = false, committed: @escaping @Sendable (Domain) throws -> Content?,
        fault: @escaping @Sendable (Domain) -> Fault? = { _ in nil },
        watch:
            @escaping @Sendable (Domain, String, @escaping @Sendable () -> Void) throws(StorageFailure) -> AnyObject? =
            {
                _, _, _ in nil
            }
    ) {
        state.withLock { $0.source = Source(domain, mayOthersWrite, committed, fault, watch) }
    }

    /// Why a state is not what others have stored.
    package struct Fault {
        package let error: FileError
        /// When the state must be looked at again although nothing changes, in seconds from now; nil for never.
        package let next: Double?
    }

    /// The domain of the feed, and its closures.
    struct Source {
        /// The domain, which the feed does not keep alive.
        private(set) weak var domain: (any AnyObject & Sendable)?
        let mayOthersWrite: Bool
        let committed: @Sendable () throws -> Content?
        let fault: @Sendable () -> Fault?
        let watch: @Sendable (String, @escaping @Sendable () -> Void) throws(StorageFailure) -> AnyObject?

        init<Domain: AnyObject & Sendable>(
            _ domain: Domain, _ mayOthersWrite: Bool, _ committed: @escaping @Sendable (Domain) throws -> Content?,
            _ fault: @escaping @Sendable (Domain) -> Fault?,
            _ watch:
                @escaping @Sendable (Domain, String, @escaping @Sendable () -> Void) throws(StorageFailure) ->
                AnyObject?
        ) {
            self.domain = domain
            self.mayOthersWrite = mayOthersWrite
            self.committed = { [weak domain] in try domain.flatMap { try committed($0) } }
            self.fault = { [weak domain] in domain.flatMap(fault) }
            self.watch = { [weak domain] (key, changed) throws(StorageFailure) in
                guard let domain else { return nil }
                return try watch(domain, key, changed)
            }
        }
    }

    private var source: Source? { state.withLock { $0.source } }

    var hasSubscribers: Bool { state.withLock { !$0.entries.isEmpty } }

    // MARK: - Subscriptions

    /// Subscribes to the commits that begin from now on. The subscription keeps the domain alive.
    ///
    /// - Parameter known: the entry as the subscriber knows it. The subscriber receives the difference first.
    /// - Throws: `FileError.pathChanged`.
    package func subscribe(
        to key: String, _ subscriber: any EntrySubscriber, from known: LastKnownEntry? = nil
    ) throws -> EntrySubscription {
        state.withLock { $0.entries[key, default: Entry()].users += 1 }
        let failure = updateWatch(of: key)
        if failure == nil { watchAgain() }
        do {
            while true {
                let count = state.withLock { $0.commits }
                // An entry that cannot be read counts as missing; accesses report the error.
                let (content, fault) = try readable()
                // Accesses have reported it, unless there are other subscribers, which only observe.
                state.withLock { if $0.hasOneUser { $0.lastFault = fault?.error } }
                // Without a watch, the feed's queue may have no thread.
                if failure == nil { look(againAt: fault) }
                // A file that cannot be read says nothing of its entries.
                let found =
                    if let known, fault != nil, content == nil {
                        known.entry.value
                    } else {
                        Self.part(key, of: content)
                    }
                if known != nil, let fault { subscriber.failed(fault.error) }
                if let (start, catchUp) = state.withLock({ $0.add(subscriber, key, found, since: count, from: known) })
                {
                    let domain = source?.domain
                    return EntrySubscription(start: EntryState(start), catchUp: catchUp, failure: failure) {
                        withExtendedLifetime(domain) { self.remove(subscriber, from: key) }
                    }
                }
            }
        } catch {
            state.withLock { $0.leave(key) }
            updateWatch(of: key)
            throw error
        }
    }

    /// - Returns: the last reported entry; nil if the subscriber is not subscribed.
    private func remove(_ subscriber: any EntrySubscriber, from key: String) -> LastKnownEntry? {
        let known = state.withLock { $0.remove(subscriber, from: key) }
        updateWatch(of: key)
        return known
    }

    /// Watches an entry as long as it has subscribers.
    @discardableResult
    private func updateWatch(of key: String) -> StorageFailure? {
        let failure = watches.update(key, isWanted: { state.withLock { $0.entries[key] != nil } }) {
            () throws(StorageFailure) in
            try source?.watch(key) { [weak self] in self?.scheduleReload() }
        }
        state.withLock { state in
            if failure == nil { state.unwatched.remove(key) } else { state.unwatched.insert(key) }
        }
        return failure
    }

    /// Watches the entries that could not be watched, for example because there was no inotify queue left.
    private func watchAgain() {
        for key in state.withLock({ $0.unwatched }) where updateWatch(of: key) == nil { scheduleReload() }
    }

    // MARK: - Commits of this process

    func willCommit() {
        state.withLock { $0.isCommitting = true }
    }

    /// Reports a commit. Reports nothing if it has failed.
    ///
    /// - Parameter stored: returns the stored form of a content. Called only if there are subscribers, some of which
    ///   may have come during the commit.
    /// - Returns: for each step the actions that its thread must run after it has released all locks.
    func didCommit(_ steps: [Step], as stored: (Content?) -> Content?) -> [[Action]] {
        let (actions, needsReload, needsWatch) = state.withLock { state in
            state.isCommitting = false
            state.commits += 1
            let hasSubscribers = !state.entries.isEmpty
            let steps = hasSubscribers ? steps.map { Step(before: stored($0.before), after: stored($0.after)) } : []
            var actions = steps.map { _ in [Action]() }
            for key in state.entries.keys {
                state.report(steps, of: key, to: &actions)
            }
            defer { state.needsReload = false }
            return (actions, state.needsReload, !state.unwatched.isEmpty)
        }
        if needsWatch { watchAgain() }
        if needsReload { scheduleReload() }
        return actions
    }

    // MARK: - Changes made elsewhere

    /// Schedules a reload of the domain; several calls in a row cause one reload.
    private func scheduleReload() {
        let isFirst = state.withLock { state in
            defer { state.isReloadScheduled = true }
            return !state.isReloadScheduled
        }
        if isFirst { queue.async { [weak self] in self?.reload() } }
    }

    private func reload(isSecond: Bool = false) {
        guard let count = state.withLock({ $0.beginReload() }) else { return }
        let content: Content?
        do {
            let fault: Fault?
            (content, fault) = try readable()
            tellSubscribers(of: fault)
            // Subscribers receive the change once the domain can be read again.
            if fault != nil, content == nil { return }
        } catch {
            state.withLock { $0.entries.values.flatMap(\.subscribers.all) }.forEach { $0.pathChanged() }
            return
        }
        switch state.withLock({ $0.endReload(content, since: count, isSecond: isSecond) }) {
        case .reported: break
        case .overlapped: scheduleReload()
        case .vanished:
            queue.asyncAfter(deadline: .now() + Self.grace) { [weak self] in self?.reload(isSecond: true) }
        }
    }

    /// The last committed state of the domain, and why it is not what others have stored. An unreadable domain counts as
    /// missing.
    ///
    /// - Throws: `FileError.pathChanged`.
    private func readable() throws -> (Content?, Fault?) {
        do {
            return (try source?.committed(), source?.fault())
        } catch FileError.pathChanged {
            throw FileError.pathChanged
        } catch {
            let error = error as? FileError ?? .unreadable(Self.failure(error))
            return (nil, Fault(error: error, next: nil))
        }
    }

    private static func failure(_ error: any Error) -> StorageFailure {
        error as? StorageFailure ?? StorageFailure(path: "", reason: "\(error)")
    }

    /// Tells the subscribers of a fault and of its end, once.
    private func tellSubscribers(of fault: Fault?) {
        let subscribers = state.withLock { state -> [any EntrySubscriber] in
            defer { state.lastFault = fault?.error }
            guard state.lastFault != fault?.error else { return [] }
            return state.entries.values.flatMap(\.subscribers.all)
        }
        look(againAt: fault)
        var told = Set<ObjectIdentifier>()
        for subscriber in subscribers where told.insert(subscriber.reader).inserted { subscriber.failed(fault?.error) }
    }

    private func look(againAt fault: Fault?) {
        guard let next = fault?.next else { return }
        queue.asyncAfter(deadline: .now() + next) { [weak self] in self?.reload() }
    }

    /// The entry under a key; all entries as one dictionary for a flat domain, whose key is empty.
    static func part(_ key: String, of content: Content?) -> StoredValue? {
        key.isEmpty ? content.map(StoredValue.dictionary) : content?[key]
    }
}
