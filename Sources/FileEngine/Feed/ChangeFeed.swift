import Foundation
import PrefsPropertyLists

/// Reports the changes of one domain's entries to subscribers: each commit of this process, in order, and the changes
/// of others when the domain's watch reports something. While an entry cannot be watched, the feed looks at the domain
/// once a second, and tries to watch it.
///
/// The feed keeps the last reported state of each entry. A commit is reported as the differences that its updates made.
/// If a commit did not start from the last reported state, others have changed the entry, and their change is reported
/// first, unless others may change the domain in the middle of a commit (`FeedSource.mayOthersWrite`). Discards a reload
/// that overlapped one of our own commits.
package final class ChangeFeed: CommitListener {
    package typealias Content = DomainContent
    private let queue = DispatchQueue(label: "PersistentPreferences.ChangeFeed")
    private let state = Locked(FeedState())
    private let watches = FeedWatches()
    private let polling = Polling()

    package init() {}

    /// Called once, by the initializer of the domain, which the feed does not keep alive.
    package func start(_ source: any FeedSource) {
        state.withLock { $0.source = source }
    }

    private var source: (any FeedSource)? { state.withLock { $0.source } }

    /// Why observed entries cannot be watched now; nil if all are watched.
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
        state.withLock { $0.entries[key, default: FeedState.Entry()].subscriberCount += 1 }
        let failure = updateWatch(state.withLock { $0.watch(of: key) })
        if failure == nil { watchAgain() }
        do {
            while true {
                let count = state.withLock { $0.commits }
                // An entry that cannot be read counts as missing; accesses report the error.
                let look = try look(waits: true)
                // Accesses have reported it, unless there are other subscribers, which only observe.
                state.withLock { if $0.hasOneUser { $0.lastFault = look.warning } }
                // Without a watch, the feed's queue may have no thread, and the domain is polled.
                if failure == nil { lookAgain(after: look) }
                // A file that cannot be read, or that is being saved, says nothing of its entries.
                let found =
                    if let known, look.warning != nil || look.isDuringSave, look.content == nil {
                        known.entry.value
                    } else {
                        FeedState.part(key, of: look.content)
                    }
                if let (start, change) = state.withLock({ $0.add(subscriber, key, found, since: count, from: known) }) {
                    let fault = known == nil ? nil : look.warning.flatMap(subscriber.failed)
                    let domain = source
                    return EntrySubscription(
                        start: start, catchUp: Self.action(fault, change), failure: failure
                    ) {
                        withExtendedLifetime(domain) { self.remove(subscriber, from: key) }
                    }
                }
            }
        } catch {
            let watch = state.withLock { state in
                state.leave(key)
                return state.watch(of: key)
            }
            updateWatch(watch)
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
        let (known, watch) = state.withLock { ($0.remove(subscriber, from: key), $0.watch(of: key)) }
        updateWatch(watch)
        return known
    }

    /// Watches the domain, or an entry of it, as long as there are subscribers. The feed polls while there is something that
    /// it cannot watch.
    @discardableResult
    private func updateWatch(_ name: String) -> StorageFailure? {
        let failure = watches.update(name, isWanted: { state.withLock { $0.needs(watch: name) } }) {
            () throws(StorageFailure) in
            try source?.watch(entry: name) { [weak self] in self?.scheduleReload() }
        }
        let hasNews = state.withLock { state in
            if let failure { state.unwatched[name] = failure }
            return failure != nil || state.unwatched.removeValue(forKey: name) != nil
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

    /// Watches what could not be watched, for example because there was no inotify queue left.
    private func watchAgain() {
        for name in state.withLock({ $0.unwatched.keys }) where updateWatch(name) == nil { scheduleReload() }
    }

    // MARK: - Commits of this process

    package func willCommit() {
        state.withLock { $0.isCommitting = true }
    }

    /// Reports a commit. Reports nothing if it has failed.
    ///
    /// - Parameter stored: returns the stored form of a content. Called only if there are subscribers, some of which
    ///   may have come during the commit.
    /// - Returns: for each step the actions that its thread must run after it has released all locks.
    package func didCommit(_ steps: [CommitStep], as stored: (Content?) -> Content?) -> [[Action]] {
        let (actions, needsReload, needsWatch) = state.withLock { state in
            state.isCommitting = false
            state.commits += 1
            let hasSubscribers = !state.entries.isEmpty
            let steps =
                hasSubscribers ? steps.map { CommitStep(before: stored($0.before), after: stored($0.after)) } : []
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
        let look: DomainState
        do {
            look = try self.look(waits: false)
        } catch {
            state.withLock { $0.entries.values.flatMap(\.subscribers.all) }.forEach { $0.pathChanged() }
            return
        }
        lookAgain(after: look)
        if look.isDuringSave { return }
        reportFault(of: look.warning)
        // Subscribers receive the change once the domain can be read again.
        if look.warning != nil, look.content == nil { return }
        if !state.withLock({ $0.endReload(look.content, since: count) }) { scheduleReload() }
    }

    /// Looks at the domain. An unreadable domain counts as missing.
    ///
    /// - Throws: `FileError.pathChanged`.
    private func look(waits: Bool) throws -> DomainState {
        do {
            return try source?.committedState(waits: waits) ?? DomainState(nil)
        } catch FileError.pathChanged {
            throw FileError.pathChanged
        } catch {
            let fault = error as? FileError ?? .unreadable(Self.failure(error))
            // Nothing tells that the limit is not reached any more.
            return DomainState(nil, warning: fault, nextLook: fault.isOfLimit ? .seconds(1) : nil)
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

    private func lookAgain(after look: DomainState) {
        guard let next = look.nextLook else { return }
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
}

extension FileError {
    /// Whether the process or the system has no room for another open file.
    fileprivate var isOfLimit: Bool {
        if case .unreadable(let failure) = self { [EMFILE, ENFILE, ENOMEM].contains(failure.code) } else { false }
    }
}

// MARK: - Watches

/// The watches of a domain: one, or one for each entry with subscribers.
///
/// It has its own lock, because watches make system calls when they begin and end.
final class FeedWatches: Sendable {
    /// The watches, each with the process that has started it: a child hears nothing of those of its parent.
    private let watches = Locked<[String: (watch: AnyObject, process: ProcessMark)]>([:])

    /// Starts or ends a watch.
    ///
    /// - Parameters:
    ///   - isWanted: called while no other thread starts or ends a watch.
    ///   - watch: starts the watch.
    /// - Returns: the error that prevented the start.
    func update(
        _ name: String, isWanted: () -> Bool, watch: () throws(StorageFailure) -> AnyObject?
    ) -> StorageFailure? {
        watches.withLock { watches in
            if !isWanted() {
                watches[name] = nil
            } else if watches[name]?.process.isOfThisProcess != true {
                do throws(StorageFailure) {
                    watches[name] = try watch().map { ($0, ProcessMark()) }
                } catch {
                    return error
                }
            }
            return nil
        }
    }
}
