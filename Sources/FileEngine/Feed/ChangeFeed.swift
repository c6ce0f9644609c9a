import Foundation
import PrefsPropertyLists

/// The domain of a feed.
package protocol FeedSource: AnyObject, Sendable {
    /// Whether another process may change the domain during a session.
    var mayOthersWrite: Bool { get }

    /// Looks at the committed state, outside and inside of a transaction.
    ///
    /// - Parameter waits: whether to wait for a domain that is being saved, if nothing is known of it.
    func committedState(waits: Bool) throws -> ChangeFeed.CommittedState

    /// Calls the closure, from any thread, when others may have changed an entry, until the returned object is released.
    ///
    /// - Returns: nil if no other process can change the domain.
    func watch(entry: String, _ changed: @escaping @Sendable () -> Void) throws(StorageFailure) -> AnyObject?
}

extension FeedSource {
    package var mayOthersWrite: Bool { false }

    package func watch(
        entry: String, _ changed: @escaping @Sendable () -> Void
    ) throws(StorageFailure) -> AnyObject? { nil }
}

/// Reports the changes of one domain's entries to subscribers: each commit of this process, in order, and the changes
/// of others when the domain's watch reports something. While an entry cannot be watched, the feed looks at the domain
/// once a second, and tries to watch it.
///
/// The feed keeps the last reported state of each entry. A commit is reported as the differences that its updates made.
/// If a commit did not start from the last reported state, others have changed the entry, and their change is reported
/// first. Discards a reload that overlapped one of our own commits.
package final class ChangeFeed: Sendable {
    package typealias Content = DomainContent
    typealias Action = @Sendable () -> Void

    /// One update of a commit.
    struct Step {
        let before: Content?
        let after: Content?
    }

    private let queue = DispatchQueue(label: "PersistentPreferences.ChangeFeed")
    private let state = Locked(State())
    private let watches = EntryWatches()
    private let polling = Polling()

    /// Called once, by the initializer of the domain, which the feed does not keep alive.
    package func start(_ source: any FeedSource) {
        state.withLock { $0.source = source }
    }

    /// One look at a domain.
    package struct CommittedState {
        /// The committed state; nil if the domain is missing. With a fault, or while it is saved, the last known state.
        let content: Content?
        /// Why this is not what others have stored.
        let fault: FileError?
        /// Whether another program is saving the domain, so that this look tells nothing.
        let isBeingSaved: Bool
        /// When another look is due although nothing changes, from now on; nil for never.
        let next: Duration?

        package init(content: Content?, fault: FileError? = nil, isBeingSaved: Bool = false, next: Duration? = nil) {
            (self.content, self.fault, self.isBeingSaved, self.next) = (content, fault, isBeingSaved, next)
        }
    }

    private var source: (any FeedSource)? { state.withLock { $0.source } }

    /// Why an observed entry cannot be watched now; nil if all are watched.
    var watchFailure: StorageFailure? { state.withLock { $0.unwatched.values.first } }

    var hasSubscribers: Bool { state.withLock { !$0.entries.isEmpty } }

    // MARK: - Subscriptions

    /// Subscribes to the commits that begin from now on. The subscription keeps the domain alive.
    ///
    /// - Parameter known: the entry as the subscriber knows it. The subscriber receives the difference first.
    /// - Throws: `FileError.pathChanged`.
    package func subscribe(
        to key: String, _ subscriber: any EntrySubscriber, from known: LastKnownEntry? = nil
    ) throws -> EntrySubscription {
        state.withLock { $0.entries[key, default: Entry()].subscriberCount += 1 }
        let failure = updateWatch(of: key)
        if failure == nil { watchAgain() }
        do {
            while true {
                let count = state.withLock { $0.commits }
                // An entry that cannot be read counts as missing; accesses report the error.
                let look = try look(waits: true)
                // Accesses have reported it, unless there are other subscribers, which only observe.
                state.withLock { if $0.hasOneUser { $0.lastFault = look.fault } }
                // Without a watch, the feed's queue may have no thread, and the domain is polled.
                if failure == nil { lookAgain(after: look) }
                // A file that cannot be read, or that is being saved, says nothing of its entries.
                let found =
                    if let known, look.fault != nil || look.isBeingSaved, look.content == nil {
                        known.entry.value
                    } else {
                        Self.part(key, of: look.content)
                    }
                if let (start, change) = state.withLock({ $0.add(subscriber, key, found, since: count, from: known) }) {
                    let fault = known == nil ? nil : look.fault.flatMap(subscriber.failed)
                    let domain = source
                    return EntrySubscription(
                        start: EntryState(start), catchUp: Self.action(fault, change), failure: failure
                    ) {
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

    /// One action in place of two.
    private static func action(_ first: Action?, _ second: Action?) -> Action? {
        guard let first, let second else { return first ?? second }
        return {
            first()
            second()
        }
    }

    /// - Returns: the last reported entry; nil if the subscriber is not subscribed.
    private func remove(_ subscriber: any EntrySubscriber, from key: String) -> LastKnownEntry? {
        let known = state.withLock { $0.remove(subscriber, from: key) }
        updateWatch(of: key)
        return known
    }

    /// Watches an entry as long as it has subscribers. The feed polls while there is one that it cannot watch.
    @discardableResult
    private func updateWatch(of key: String) -> StorageFailure? {
        let failure = watches.update(key, isWanted: { state.withLock { $0.entries[key] != nil } }) {
            () throws(StorageFailure) in
            try source?.watch(entry: key) { [weak self] in self?.scheduleReload() }
        }
        let hasNews = state.withLock { state in
            if let failure { state.unwatched[key] = failure }
            return failure != nil || state.unwatched.removeValue(forKey: key) != nil
        }
        if hasNews {
            polling.update(isNeeded: state.withLock({ !$0.unwatched.isEmpty })) { [weak self] in self?.poll() }
        }
        return failure
    }

    private func poll() {
        watchAgain()
        scheduleReload()
    }

    /// Watches the entries that could not be watched, for example because there was no inotify queue left.
    private func watchAgain() {
        for key in state.withLock({ $0.unwatched.keys }) where updateWatch(of: key) == nil { scheduleReload() }
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

    private func reload() {
        guard let count = state.withLock({ $0.beginReload() }) else { return }
        let look: CommittedState
        do {
            look = try self.look(waits: false)
        } catch {
            state.withLock { $0.entries.values.flatMap(\.subscribers.all) }.forEach { $0.pathChanged() }
            return
        }
        lookAgain(after: look)
        if look.isBeingSaved { return }
        reportFault(of: look.fault)
        // Subscribers receive the change once the domain can be read again.
        if look.fault != nil, look.content == nil { return }
        if !state.withLock({ $0.endReload(look.content, since: count) }) { scheduleReload() }
    }

    /// Looks at the domain. An unreadable domain counts as missing.
    ///
    /// - Throws: `FileError.pathChanged`.
    private func look(waits: Bool) throws -> CommittedState {
        do {
            return try source?.committedState(waits: waits) ?? CommittedState(content: nil)
        } catch FileError.pathChanged {
            throw FileError.pathChanged
        } catch {
            let fault = error as? FileError ?? .unreadable(Self.failure(error))
            // Nothing tells that the limit is not reached any more.
            return CommittedState(content: nil, fault: fault, next: fault.isOfLimit ? .seconds(1) : nil)
        }
    }

    private static func failure(_ error: any Error) -> StorageFailure {
        error as? StorageFailure ?? StorageFailure(path: "", reason: "\(error)")
    }

    /// Tells the subscribers of a fault and of its end, once.
    private func reportFault(of fault: FileError?) {
        let subscribers = state.withLock { state -> [any EntrySubscriber] in
            defer { state.lastFault = fault }
            guard state.lastFault != fault else { return [] }
            return state.entries.values.flatMap(\.subscribers.all)
        }
        var told = Set<ObjectIdentifier>()
        for subscriber in subscribers where told.insert(subscriber.reader).inserted { subscriber.failed(fault)?() }
    }

    private func lookAgain(after look: CommittedState) {
        guard let next = look.next else { return }
        let due = DispatchTime.now() + next / .seconds(1)
        let isFirst = state.withLock { state in
            if let other = state.nextLook, other <= due { return false }
            state.nextLook = due
            return true
        }
        guard isFirst else { return }
        DispatchReadiness.shared.after(due, on: queue) { [weak self] in
            self?.state.withLock { if $0.nextLook == due { $0.nextLook = nil } }
            self?.reload()
        }
    }

    /// The entry under a key; all entries as one dictionary for a flat domain, whose key is empty.
    static func part(_ key: String, of content: Content?) -> StoredValue? {
        key.isEmpty ? content.map(StoredValue.dictionary) : content?[key]
    }
}

extension FileError {
    /// Whether the process or the system has no room for another open file.
    fileprivate var isOfLimit: Bool {
        if case .unreadable(let failure) = self { [EMFILE, ENFILE, ENOMEM].contains(failure.code) } else { false }
    }
}
