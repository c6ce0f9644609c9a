import Foundation
import PrefsPropertyLists

/// Reports the changes of one domain's entries to observers: each commit of this process, in order, and the changes
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

    var hasObservers: Bool { state.withLock { !$0.entries.isEmpty } }

    // MARK: - Observers

    /// Subscribes to the commits that begin from now on. The subscription keeps the domain alive. An observer that moves here
    /// gets the difference to what it knew first.
    ///
    /// - Parameter pathChanged: called if the domain's path leads to another file now, on a queue of the feed, without a lock.
    /// - Throws: `FileError.pathChanged`.
    package func subscribe(
        to key: String, _ observer: EntryObserver, pathChanged: @escaping Action = {}
    ) throws -> EntrySubscription {
        state.withLock { $0.join(key) }
        let failure = updateWatch(state.withLock { $0.watch(of: key) })
        if failure == nil { watchAgain() }
        let isFirst = !observer.hasBegun
        do {
            while true {
                let count = state.withLock { $0.commits }
                // An entry that cannot be read counts as missing; accesses report the error.
                let look = try look(waits: true)
                // Accesses have reported it, unless there are other observers.
                state.withLock { if $0.hasOneUser { $0.lastFault = look.warning } }
                // Without a watch, the feed's queue may have no thread, and the domain is polled.
                if failure == nil { lookAgain(after: look) }
                // A file that cannot be read, or that is being saved, says nothing of its entries.
                let isKnown = look.content != nil || look.warning == nil && !look.isDuringSave
                let found = isKnown ? EntryState(FeedState.part(key, of: look.content)) : nil
                let added = state.withLock { $0.add(observer, key, found, since: count, pathChanged: pathChanged) }
                if let (start, own, others) = added {
                    // Not by the caller, to whom they are nothing, and who may hold locks.
                    if !others.isEmpty { DispatchReadiness.shared.async(on: queue) { others.inOrder.forEach { $0() } } }
                    let fault = isFirst ? nil : look.warning
                    let domain = source
                    return EntrySubscription(
                        of: observer, start: start, catchUp: Self.action(own, telling: fault, to: observer),
                        failure: failure
                    ) {
                        withExtendedLifetime(domain) { self.remove(observer, from: key) }
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

    /// The fault comes last: its handler may end the subscription.
    private static func action(_ own: Action?, telling fault: FileError?, to observer: EntryObserver) -> Action? {
        guard let fault else { return own }
        return {
            own?()
            observer.tell(fault: fault)?()
        }
    }

    private func remove(_ observer: EntryObserver, from key: String) {
        let watch = state.withLock { state in
            state.remove(observer, from: key)
            return state.watch(of: key)
        }
        updateWatch(watch)
    }

    /// Watches the domain, or an entry of it, as long as there are observers. The feed polls while there is something that
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
    /// - Parameter stored: returns the stored form of a content. Called only if there are observers, some of which
    ///   may have come during the commit.
    /// - Returns: for each step the actions that its thread must run after it has released all locks.
    package func didCommit(_ steps: [CommitStep], as stored: (Content?) -> Content?) -> [[Action]] {
        let (actions, needsReload, needsWatch) = state.withLock { state in
            state.isCommitting = false
            state.commits += 1
            let hasObservers = !state.entries.isEmpty
            let steps =
                hasObservers ? steps.map { CommitStep(before: stored($0.before), after: stored($0.after)) } : []
            var actions = steps.map { _ in [EntryObserver.Told]() }
            state.report(steps, to: &actions)
            defer { state.needsReload = false }
            return (actions.map(\.inOrder), state.needsReload, !state.unwatched.isEmpty)
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
            state.withLock { $0.entries.values.flatMap(\.observers.all) }.forEach { $0.pathChanged() }
            return
        }
        lookAgain(after: look)
        if look.isDuringSave { return }
        reportFault(of: look.warning)
        // Observers get the change once the domain can be read again.
        if look.warning != nil, look.content == nil { return }
        let actions = state.withLock { $0.endReload(look.content, since: count) }
        actions?.inOrder.forEach { $0() }
        if actions == nil { scheduleReload() }
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

    /// Tells the observers of a fault and of its end, once.
    private func reportFault(of fault: FileError?) {
        let observers = state.withLock { state -> [EntryObserver] in
            defer { state.lastFault = fault }
            guard state.lastFault != fault else { return [] }
            return state.entries.values.flatMap(\.observers.all).map(\.observer)
        }
        var told = Set<ObjectIdentifier>()
        for observer in observers where told.insert(observer.reader ?? ObjectIdentifier(observer)).inserted {
            observer.tell(fault: fault)?()
        }
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

/// The watches of a domain: one, or one for each entry with observers.
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
