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

/// What a feed knows of the entries with observers, which its lock protects, and the changes that follow from a commit or a
/// look.
struct FeedState {
    typealias Action = @Sendable () -> Void

    struct Entry {
        /// The state that the observers were told of last. nil before one is known: those that have begun wait for it.
        var lastReported: EntryState?
        /// Whether it was read during a commit, and may already include that commit.
        var isUnsure = false
        var observers = ObserverTable()
        /// The number of observers, including those that are about to be added.
        var observerCount = 0

        mutating func noteReported(_ state: EntryState, isUnsure: Bool = false) {
            (lastReported, self.isUnsure) = (state, isUnsure)
        }

        /// Lets the observers begin, which have waited for a first state.
        func begin(at state: EntryState, of key: String) -> [EntryObserver.Told] {
            observers.all.compactMap { $0.observer.told(of: state.value, key) }
        }
    }

    weak var source: (any FeedSource)?
    var entries: [String: Entry] = [:]
    /// The content whose entries the observers were told of last. nil if these are not of one content, or if an observer waits
    /// for its first state.
    private var reported: Reported?

    private struct Reported {
        let content: DomainContent?

        func isIdentical(to other: DomainContent?) -> Bool {
            guard let content, let other else { return content == nil && other == nil }
            return content.isIdentical(to: other)
        }
    }
    /// What could not be watched: an entry, or the domain.
    var unwatched: [String: StorageFailure] = [:]
    var isCommitting = false
    /// The number of commits that have ended, plus the reloads that ended while an observer was being added.
    var commits = 0
    /// Whether a reload was requested during a commit.
    var needsReload = false
    var isReloadScheduled = false
    /// When a look is due although nothing changes; nil if none is.
    var nextLook: DispatchTime?
    /// The fault that observers were told of last; nil after a read without one.
    var lastFault: FileError?

    /// Counts an observer that is about to be added.
    mutating func join(_ key: String) {
        entries[key, default: Entry()].observerCount += 1
        if entries[key]?.lastReported == nil { reported = nil }
    }

    var hasOneUser: Bool { entries.count == 1 && entries.values.first?.observerCount == 1 }

    /// Adds an observer, which starts from what the others were told of.
    ///
    /// - Parameters:
    ///   - found: the entry that was read; nil if its state is not known.
    ///   - count: the number of commits when it was read.
    /// - Returns: nil if commits have ended since then, and no other observer knows the state. Otherwise what it starts from, and
    ///   what must run once no lock is held: for itself, and for those that have waited for a first state.
    mutating func add(
        _ observer: EntryObserver, _ key: String, _ found: EntryState?, since count: Int,
        pathChanged: @escaping Action
    ) -> (start: EntryState, own: Action?, others: [EntryObserver.Told])? {
        guard let entry = entries[key] else { preconditionFailure("the entry has no users") }
        if entry.lastReported == nil, commits != count { return nil }
        var others: [EntryObserver.Told] = []
        if entry.lastReported == nil, let found {
            others = entry.begin(at: found, of: key)
            entries[key]?.noteReported(found, isUnsure: isCommitting)
        }
        // Appends in place, because there may be thousands.
        entries[key]?.observers.append(observer, pathChanged: pathChanged)
        // An unknown entry counts as missing for those that begin.
        let start = entries[key]?.lastReported ?? (observer.hasBegun ? nil : EntryState(nil))
        return (start ?? EntryState(nil), start.flatMap { observer.begin(at: $0.value, of: key) }, others)
    }

    mutating func remove(_ observer: EntryObserver, from key: String) {
        if entries[key]?.observers.remove(observer) == true { leave(key) }
    }

    /// The name of the watch that an entry needs.
    func watch(of key: String) -> String { source?.watchesEntries == true ? key : "" }

    /// Whether an entry needs the watch.
    func needs(watch name: String) -> Bool {
        source?.watchesEntries == true ? entries[name] != nil : !entries.isEmpty
    }

    mutating func leave(_ key: String) {
        entries[key]?.observerCount -= 1
        if entries[key]?.observerCount == 0 { entries[key] = nil }
        if entries.isEmpty { reported = nil }
    }

    /// Reports the steps of a commit. If all observers know the content that it started from, looks only at the entries that
    /// it may have changed.
    mutating func report(_ steps: [CommitStep], to actions: inout [[EntryObserver.Told]]) {
        if let first = steps.first, let reported, reported.isIdentical(to: first.before),
            // Looking at one entry takes as long as comparing a dozen members.
            entries.count > 1 + steps.reduce(0, { $0 + ($1.after?.count ?? 0) }) / 12
        {
            let changed = steps.reduce(into: [""] as Set) { keys, step in
                keys.formUnion((step.after ?? [:]).keysThatMayDiffer(from: step.before ?? [:]))
            }
            for key in changed { report(steps, of: key, to: &actions) }
        } else {
            for key in entries.keys { report(steps, of: key, to: &actions) }
        }
        if let last = steps.last { noteReported(last.after) }
    }

    /// Remembers the content that the observers were told of; nil if one of them still waits for its first state. With one
    /// entry, nothing asks for it.
    private mutating func noteReported(_ content: DomainContent?) {
        guard entries.count > 1 else {
            if reported != nil { reported = nil }
            return
        }
        if let reported, reported.isIdentical(to: content) { return }
        let isOfAll = reported != nil || entries.values.allSatisfy { $0.lastReported != nil && !$0.isUnsure }
        reported = isOfAll && source?.mayOthersWrite != true ? Reported(content: content) : nil
    }

    /// Reports the steps of a commit to the observers of an entry.
    private mutating func report(_ steps: [CommitStep], of key: String, to actions: inout [[EntryObserver.Told]]) {
        guard let entry = entries[key], let firstStep = steps.first, let lastStep = steps.last else {
            // Nothing was stored, so the state that was read in the meantime is current.
            entries[key]?.isUnsure = false
            return
        }
        // An observer that is about to be added reads again.
        if entry.lastReported == nil, entry.observers.isEmpty { return }
        let start = entry.lastReported ?? EntryState(FeedState.part(key, of: firstStep.before))
        if entry.lastReported == nil { actions[0] += entry.begin(at: start, of: key) }
        var state = start.value
        /// - Parameter former: the state that the commit itself has changed.
        @inline(never) func report(_ next: StoredValue?, of former: StoredValue?, _ step: Int) {
            let isNew = former.map { state?.isIdentical(to: $0) != true } ?? false
            let change = EntryChange(of: key, from: state, to: next, isForeign: false, isNew: isNew)
            guard let change else { return }
            actions[step] += entry.observers.put(change)
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
            actions[0] += foreign.map(entry.observers.put) ?? []
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
    /// - Returns: what must run once no lock is held; nil if a commit of this process overlapped the reload, which then says
    ///   nothing.
    mutating func endReload(_ content: DomainContent?, since count: Int) -> [EntryObserver.Told]? {
        guard !isCommitting, commits == count else { return nil }
        if let reported, reported.isIdentical(to: content) { return [] }
        defer {
            reported = nil
            noteReported(content)
        }
        var actions: [EntryObserver.Told] = []
        for (key, entry) in entries {
            let found = FeedState.part(key, of: content)
            if entry.isUnsure || entry.lastReported == nil && entry.observers.isEmpty {
                // A state that was read for a new observer may be older than this commit, so it is read again.
                commits += 1
                continue
            }
            guard let lastReported = entry.lastReported else {
                actions += entry.begin(at: EntryState(found), of: key)
                entries[key]?.lastReported = EntryState(found)
                continue
            }
            guard let change = EntryChange(of: key, from: lastReported.value, to: found, isForeign: true) else {
                continue
            }
            entries[key]?.lastReported = change.after
            actions += entry.observers.put(change)
        }
        return actions
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
