import Dispatch
import PrefsPropertyLists

/// The state that the feed's lock protects.
extension ChangeFeed {
    /// The state of an entry that its subscribers were notified of last.
    enum LastNotified {
        case unknown
        case state(StoredValue?)
        /// A state that was read during a commit and may already include that commit.
        case unsure(StoredValue?)
    }

    struct Entry {
        var lastNotified = LastNotified.unknown
        var subscribers = SubscriberList()
        /// The number of subscribers, including those that are about to be added.
        var subscriberCount = 0

        func actions(for change: EntryChange) -> [Action] {
            subscribers.all.compactMap { $0.receive(change) }
        }

        func report(foreign change: EntryChange?) {
            guard let actions = change.map(actions), !actions.isEmpty else { return }
            DispatchReadiness.shared.async(on: .main) { actions.forEach { $0() } }
        }
    }

    struct State {
        weak var source: (any FeedSource)?
        var entries: [String: Entry] = [:]
        /// The entries with subscribers that could not be watched.
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
        ) -> (start: StoredValue?, catchUp: Action?)? {
            let start: StoredValue?
            switch entries[key]?.lastNotified {
            case nil: preconditionFailure("the entry has no users")
            case .unknown:
                guard commits == count else { return nil }
                entries[key]?.lastNotified = isCommitting ? .unsure(found) : .state(found)
                start = found
            case .state(let last), .unsure(let last):
                start = last
            }
            // Appends in place, because there may be thousands.
            entries[key]?.subscribers.append(subscriber)
            return (start, EntryChange(of: key, from: known, to: EntryState(start)).flatMap(subscriber.receive))
        }

        mutating func remove(_ subscriber: any EntrySubscriber, from key: String) -> LastKnownEntry? {
            guard let lastNotified = entries[key]?.lastNotified, entries[key]?.subscribers.remove(subscriber) == true
            else {
                return nil
            }
            leave(key)
            switch lastNotified {
            case .unknown: return nil
            case .state(let last), .unsure(let last): return LastKnownEntry(entry: EntryState(last))
            }
        }

        mutating func leave(_ key: String) {
            entries[key]?.subscriberCount -= 1
            if entries[key]?.subscriberCount == 0 { entries[key] = nil }
        }

        /// Reports the steps of a commit to the subscribers of an entry.
        mutating func report(_ steps: [Step], of key: String, to actions: inout [[Action]]) {
            guard let entry = entries[key], let firstStep = steps.first, let lastStep = steps.last else {
                // Nothing was stored, so the state that was read in the meantime is current.
                if case .unsure(let last) = entries[key]?.lastNotified { entries[key]?.lastNotified = .state(last) }
                return
            }
            var state: StoredValue?
            /// - Parameter former: the state that the commit itself has changed.
            @inline(never) func report(_ next: StoredValue?, of former: StoredValue?, _ step: Int) {
                let isNew = former.map { state?.isIdentical(to: $0) != true } ?? false
                let change = EntryChange(of: key, from: state, to: next, isForeign: false, isNew: isNew)
                guard let change else { return }
                actions[step] += entry.actions(for: change)
                state = change.after.value
            }
            switch entry.lastNotified {
            case .unknown:
                return
            case .unsure(let last):
                state = last
                report(
                    ChangeFeed.part(key, of: lastStep.after), of: ChangeFeed.part(key, of: firstStep.before),
                    steps.count - 1)
            case .state(let last) where source?.mayOthersWrite == true:
                // Others may have changed the state that the commit started from, so only the commit's own changes are
                // reported.
                state = last
                for (index, step) in steps.enumerated() {
                    guard let own = EntryChange(of: key, in: step) else { continue }
                    let next =
                        key.isEmpty
                        ? .dictionary(own.difference.applied(to: state?.dictionary ?? [:])) : own.after.value
                    report(next, of: own.before.value, index)
                }
            case .state(let last):
                let foreign = EntryChange(
                    of: key, from: last, to: ChangeFeed.part(key, of: firstStep.before), isForeign: true)
                entry.report(foreign: foreign)
                state = foreign.map(\.after.value) ?? last
                for (index, step) in steps.enumerated() {
                    report(ChangeFeed.part(key, of: step.after), of: ChangeFeed.part(key, of: step.before), index)
                }
            }
            entries[key]?.lastNotified = .state(state)
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
        mutating func endReload(_ content: Content?, since count: Int) -> Bool {
            guard !isCommitting, commits == count else { return false }
            for (key, entry) in entries {
                guard case .state(let last) = entry.lastNotified else {
                    // A state that was read for a new subscriber may be older than this commit, so it is read again.
                    commits += 1
                    continue
                }
                let found = ChangeFeed.part(key, of: content)
                guard let change = EntryChange(of: key, from: last, to: found, isForeign: true) else { continue }
                entries[key]?.lastNotified = .state(change.after.value)
                entry.report(foreign: change)
            }
            return true
        }
    }
}

extension EntryChange {
    /// The change that one update of a commit made to an entry; nil if it did not change the entry.
    fileprivate init?(of key: String, in step: ChangeFeed.Step) {
        let (before, after) = (ChangeFeed.part(key, of: step.before), ChangeFeed.part(key, of: step.after))
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

// MARK: - Watches

/// The watches of a domain's entries: one for each entry with subscribers.
///
/// It has its own lock, because watches make system calls when they begin and end.
final class EntryWatches: Sendable {
    /// The watches, each with the process that has started it: a child hears nothing of those of its parent.
    private let watches = Locked<[String: (watch: AnyObject, process: ProcessMark)]>([:])

    /// Starts or ends the watch of an entry.
    ///
    /// - Parameters:
    ///   - isWanted: called while no other thread starts or ends a watch.
    ///   - watch: starts the watch.
    /// - Returns: the error that prevented the start.
    func update(
        _ key: String, isWanted: () -> Bool, watch: () throws(StorageFailure) -> AnyObject?
    ) -> StorageFailure? {
        watches.withLock { watches in
            if !isWanted() {
                watches[key] = nil
            } else if watches[key]?.process.isOfThisProcess != true {
                do throws(StorageFailure) {
                    watches[key] = try watch().map { ($0, ProcessMark()) }
                } catch {
                    return error
                }
            }
            return nil
        }
    }
}
