import Dispatch
import PrefsPropertyLists

/// The domain of a feed.
package protocol FeedSource: AnyObject, Sendable {
    /// Whether others may change the domain during a session, so that a commit may have started from a state that nobody has
    /// reported. False for a file, whose session has a lock and checks it before the commit.
    var mayOthersWrite: Bool { get }

    /// Looks at the committed state, outside and inside of a transaction.
    ///
    /// - Parameter waits: whether to wait for a domain that is being saved, if nothing is known of it.
    func committedState(waits: Bool) throws -> DomainState

    /// Whether each entry is watched for itself. If not, one watch serves all, and the entry of `watch` is empty.
    var watchesEntries: Bool { get }

    /// Calls the closure, from any thread, when others may have changed an entry, until the returned object is released.
    ///
    /// - Returns: nil if no other process can change the domain.
    func watch(entry: String, _ changed: @escaping @Sendable () -> Void) throws(StorageFailure) -> AnyObject?
}

extension FeedSource {
    package var mayOthersWrite: Bool { false }
    package var watchesEntries: Bool { false }

    package func watch(
        entry: String, _ changed: @escaping @Sendable () -> Void
    ) throws(StorageFailure) -> AnyObject? { nil }
}

/// What a feed knows of the entries with subscribers, which its lock protects, and the changes that follow from a commit or a
/// look.
struct FeedState {
    typealias Action = @Sendable () -> Void

    struct Entry {
        /// The state that the subscribers were told of last; nil before one is known.
        var lastReported: EntryState?
        /// Whether it was read during a commit, and may already include that commit.
        var isUnsure = false
        var subscribers = SubscriberList()
        /// The number of subscribers, including those that are about to be added.
        var subscriberCount = 0

        mutating func noteReported(_ state: EntryState, isUnsure: Bool = false) {
            (lastReported, self.isUnsure) = (state, isUnsure)
        }

        func actions(for change: EntryChange) -> [Action] {
            subscribers.all.compactMap { $0.receive(change) }
        }

        func report(foreign change: EntryChange?) {
            guard let actions = change.map(actions), !actions.isEmpty else { return }
            DispatchReadiness.shared.async(on: .main) { actions.forEach { $0() } }
        }
    }

    weak var source: (any FeedSource)?
    var entries: [String: Entry] = [:]
    /// What could not be watched: an entry, or the domain.
    var unwatched: [String: StorageFailure] = [:]
    var isCommitting = false
    /// The number of commits that have ended, plus the reloads that ended while a subscriber was being added.
    var commits = 0
    /// Whether a reload was requested during a commit.
    var needsReload = false
    var isReloadScheduled = false
    /// When a look is due although nothing changes; nil if none is.
    var nextLook: DispatchTime?
    /// The fault that subscribers were told of last; nil after a read without one.
    var lastFault: FileError?

    var hasOneUser: Bool { entries.count == 1 && entries.values.first?.subscriberCount == 1 }

    /// - Returns: nil if commits have ended since the entry was read, and no other subscriber knows its state.
    mutating func add(
        _ subscriber: any EntrySubscriber, _ key: String, _ found: StoredValue?, since count: Int,
        from known: LastKnownEntry?
    ) -> (start: EntryState, catchUp: Action?)? {
        guard let entry = entries[key] else { preconditionFailure("the entry has no users") }
        if entry.lastReported == nil, commits != count { return nil }
        let start = entry.lastReported ?? EntryState(found)
        if entry.lastReported == nil { entries[key]?.noteReported(start, isUnsure: isCommitting) }
        // Appends in place, because there may be thousands.
        entries[key]?.subscribers.append(subscriber)
        return (start, EntryChange(of: key, from: known, to: start).flatMap(subscriber.receive))
    }

    mutating func remove(_ subscriber: any EntrySubscriber, from key: String) -> LastKnownEntry? {
        guard entries[key]?.subscribers.remove(subscriber) == true else { return nil }
        let lastReported = entries[key]?.lastReported
        leave(key)
        return lastReported.map { LastKnownEntry(entry: $0) }
    }

    /// The name of the watch that an entry needs.
    func watch(of key: String) -> String { source?.watchesEntries == true ? key : "" }

    /// Whether an entry needs the watch.
    func needs(watch name: String) -> Bool {
        source?.watchesEntries == true ? entries[name] != nil : !entries.isEmpty
    }

    mutating func leave(_ key: String) {
        entries[key]?.subscriberCount -= 1
        if entries[key]?.subscriberCount == 0 { entries[key] = nil }
    }

    /// Reports the steps of a commit to the subscribers of an entry.
    mutating func report(_ steps: [CommitStep], of key: String, to actions: inout [[Action]]) {
        guard let entry = entries[key], let firstStep = steps.first, let lastStep = steps.last else {
            // Nothing was stored, so the state that was read in the meantime is current.
            entries[key]?.isUnsure = false
            return
        }
        guard let lastReported = entry.lastReported else { return }
        var state = lastReported.value
        /// - Parameter former: the state that the commit itself has changed.
        @inline(never) func report(_ next: StoredValue?, of former: StoredValue?, _ step: Int) {
            let isNew = former.map { state?.isIdentical(to: $0) != true } ?? false
            let change = EntryChange(of: key, from: state, to: next, isForeign: false, isNew: isNew)
            guard let change else { return }
            actions[step] += entry.actions(for: change)
            state = change.after.value
        }
        if entry.isUnsure {
            report(
                FeedState.part(key, of: lastStep.after), of: FeedState.part(key, of: firstStep.before),
                steps.count - 1)
        } else if source?.mayOthersWrite == true {
            // Others may have changed the state that the commit started from, so only the commit's own changes are
            // reported.
            for (index, step) in steps.enumerated() {
                guard let own = EntryChange(of: key, in: step) else { continue }
                let next =
                    key.isEmpty
                    ? .dictionary(own.difference.applied(to: state?.dictionary ?? [:])) : own.after.value
                report(next, of: own.before.value, index)
            }
        } else {
            let foreign = EntryChange(
                of: key, from: state, to: FeedState.part(key, of: firstStep.before), isForeign: true)
            entry.report(foreign: foreign)
            state = foreign.map(\.after.value) ?? state
            for (index, step) in steps.enumerated() {
                report(FeedState.part(key, of: step.after), of: FeedState.part(key, of: step.before), index)
            }
        }
        entries[key]?.noteReported(EntryState(state))
    }

    /// - Returns: the number of commits; nil if no reload is due now.
    mutating func beginReload() -> Int? {
        isReloadScheduled = false
        if isCommitting { needsReload = true }
        return isCommitting || entries.isEmpty ? nil : commits
    }

    /// Reports the changes of others.
    ///
    /// - Parameter count: the number of commits when the reload began.
    /// - Returns: false if a commit of this process overlapped the reload, which then says nothing.
    mutating func endReload(_ content: DomainContent?, since count: Int) -> Bool {
        guard !isCommitting, commits == count else { return false }
        for (key, entry) in entries {
            guard let lastReported = entry.lastReported, !entry.isUnsure else {
                // A state that was read for a new subscriber may be older than this commit, so it is read again.
                commits += 1
                continue
            }
            let found = FeedState.part(key, of: content)
            guard let change = EntryChange(of: key, from: lastReported.value, to: found, isForeign: true) else {
                continue
            }
            entries[key]?.lastReported = change.after
            entry.report(foreign: change)
        }
        return true
    }

    /// The entry under a key; all entries as one dictionary for a flat domain, whose key is empty.
    static func part(_ key: String, of content: DomainContent?) -> StoredValue? {
        key.isEmpty ? content.map(StoredValue.dictionary) : content?[key]
    }
}

extension EntryChange {
    /// The change that one update of a commit made to an entry; nil if it did not change the entry.
    fileprivate init?(of key: String, in step: CommitStep) {
        let (before, after) = (FeedState.part(key, of: step.before), FeedState.part(key, of: step.after))
        self.init(of: key, from: before, to: after, isForeign: false)
    }
}

// MARK: - Subscribers

/// Subscribers in the order of their subscription. Adding or removing one takes constant time, because there may be
/// thousands.
struct SubscriberList {
    private var subscribers: [(any EntrySubscriber)?] = []
    private var places: [ObjectIdentifier: Int] = [:]

    /// The subscribers, in order.
    var all: some Sequence<any EntrySubscriber> { subscribers.lazy.compactMap { $0 } }

    mutating func append(_ subscriber: any EntrySubscriber) {
        places[ObjectIdentifier(subscriber)] = subscribers.count
        subscribers.append(subscriber)
    }

    /// - Returns: false if the subscriber is not in the list.
    mutating func remove(_ subscriber: any EntrySubscriber) -> Bool {
        guard let place = places.removeValue(forKey: ObjectIdentifier(subscriber)) else { return false }
        subscribers[place] = nil
        if subscribers.count > 16, places.count < subscribers.count / 2 {
            subscribers = subscribers.filter { $0 != nil }
            for (place, subscriber) in subscribers.enumerated() {
                if let subscriber { places[ObjectIdentifier(subscriber)] = place }
            }
        }
        return true
    }
}
