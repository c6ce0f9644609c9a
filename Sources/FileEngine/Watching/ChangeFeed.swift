import Foundation
import PrefsPropertyLists

/// Tells listeners what happens to the entries of one domain: each commit of this process, in order, and what others have
/// done when the domain's watch gives a sign.
///
/// It knows the state that listeners have known of. A local commit is lastNotified as the difference that each of its updates
/// made; where the commit did not start from the state lastNotified last, others have changed it, and that is lastNotified first. A look
/// at the domain is believed only if no commit of ours was under way meanwhile.
package final class ChangeFeed: @unchecked Sendable {
    typealias Content = Transaction.Content
    package typealias Action = @Sendable () -> Void

    /// One update of a commit.
    struct Step {
        let before: Content?
        let after: Content?
    }

    /// What a listener gets with its place.
    package struct SubscriptionStart: @unchecked Sendable {
        /// The entry that it starts from.
        package let start: Any?
        /// What `note` has given for the difference to what it knew.
        package let catchUp: Action?
        /// Why the domain cannot be watched.
        package var failure: StorageFailure?

        package init(start: Any?, catchUp: Action?, failure: StorageFailure? = nil) {
            self.start = start
            self.catchUp = catchUp
            self.failure = failure
        }
    }

    private weak var domain: (any TransactionDomain)?
    private let queue = DispatchQueue(label: "PersistentPreferences.ChangeFeed")
    private let lock = Lock()
    // Under the lock.
    private var entries: [String: Entry] = [:]
    private var isCommitting = false
    /// And looks that a listener on its way in has to know of.
    private var commits = 0
    private var needsLook = false
    private var isLookScheduled = false

    private let watches = EntryWatches()

    /// A file that vanishes is given this long to come back: editors move the old one away before they put the new one in
    /// its place.
    private static let grace = DispatchTimeInterval.milliseconds(50)

    private struct Entry {
        var lastNotified = LastNotified.unknown
        var listeners = ListenerList()
        /// Those on their way in among them.
        var users = 0
    }

    /// What the listeners of an entry know.
    private enum LastNotified {
        case unknown
        case state(Any?)
        /// Read while a commit was under way: it may be what that commit has made.
        case unsure(Any?)
    }

    /// Called once, by the domain's initializer.
    package func start(_ domain: any TransactionDomain) {
        self.domain = domain
    }

    var hasListeners: Bool { lock.withLock { !entries.isEmpty } }

    // MARK: - Listeners

    /// Lets a listener hear of the commits that begin from now on.
    ///
    /// - Parameter known: what the listener knows of the entry from elsewhere; it is lastNotified of the difference first.
    /// - Throws: `FileError.pathChanged`.
    func add(_ listener: any EntryListener, to key: String, from known: LastKnownEntry? = nil) throws
        -> SubscriptionStart
    {
        lock.withLock { entries[key, default: Entry()].users += 1 }
        let failure = updateWatch(of: key)
        do {
            while true {
                let count = lock.withLock { commits }
                // What cannot be read counts as missing; accesses say that it is not.
                let found = Self.part(key, of: try readable() ?? nil)
                if var subscriptionStart = lock.withLock({
                    subscriptionStart(listener, key, found, since: count, from: known)
                }) {
                    subscriptionStart.failure = failure
                    return subscriptionStart
                }
            }
        } catch {
            lock.withLock { leave(key) }
            updateWatch(of: key)
            throw error
        }
    }

    /// Under the lock. nil where commits have ended since the entry was read, and nobody knows it better.
    private func subscriptionStart(
        _ listener: any EntryListener, _ key: String, _ found: Any?, since count: Int, from known: LastKnownEntry?
    ) -> SubscriptionStart? {
        let start: Any?
        switch entries[key]?.lastNotified {
        case nil: preconditionFailure("nobody has asked for the entry")
        case .unknown:
            guard commits == count else { return nil }
            entries[key]?.lastNotified = isCommitting ? .unsure(found) : .state(found)
            start = found
        case .state(let lastNotified), .unsure(let lastNotified):
            start = lastNotified
        }
        // In place: there may be thousands.
        entries[key]?.listeners.append(listener)
        let change = known.flatMap { EntryChange(of: key, from: $0.entry, to: start, isForeign: $0.isForeign) }
        return SubscriptionStart(start: start, catchUp: change.flatMap(listener.note))
    }

    /// - Returns: the entry as it has been lastNotified; nil where the listener is not here.
    func remove(_ listener: any EntryListener, from key: String) -> LastKnownEntry? {
        let known: LastKnownEntry? = lock.withLock {
            guard let lastNotified = entries[key]?.lastNotified,
                entries[key]?.listeners.remove(listener) == true
            else { return nil }
            leave(key)
            switch lastNotified {
            case .unknown: return nil
            case .state(let lastNotified), .unsure(let lastNotified): return LastKnownEntry(entry: lastNotified)
            }
        }
        updateWatch(of: key)
        return known
    }

    /// Under the lock.
    private func leave(_ key: String) {
        entries[key]?.users -= 1
        if entries[key]?.users == 0 { entries[key] = nil }
    }

    /// Watches an entry as long as somebody listens.
    @discardableResult
    private func updateWatch(of key: String) -> StorageFailure? {
        watches.update(key, isWanted: { lock.withLock { entries[key] != nil } }) { () throws(StorageFailure) in
            try domain?.watch(key) { [weak self] in self?.scheduleLook() }
        }
    }

    // MARK: - Commits of this process

    func willCommit() {
        lock.withLock { isCommitting = true }
    }

    /// Tells of what a commit has made; nothing, if it has failed.
    ///
    /// - Parameter stored: what the domain makes of a content when it stores it; asked only if somebody listens, who may
    ///   have come during the commit.
    /// - Returns: for each step what its thread has to do once it holds no lock.
    func didCommit(_ steps: [Step], as stored: (Content?) -> Content?) -> [[Action]] {
        let (actions, mustLook) = lock.withLock {
            isCommitting = false
            commits += 1
            let steps = entries.isEmpty ? [] : steps.map { Step(before: stored($0.before), after: stored($0.after)) }
            var actions = steps.map { _ in [Action]() }
            for key in entries.keys {
                tell(steps, of: key, to: &actions)
            }
            defer { needsLook = false }
            return (actions, needsLook)
        }
        if mustLook { scheduleLook() }
        return actions
    }

    /// Under the lock.
    private func tell(_ steps: [Step], of key: String, to actions: inout [[Action]]) {
        guard let entry = entries[key], let first = steps.first, let last = steps.last else {
            // Nothing was stored, so that what was read meanwhile is the state.
            if case .unsure(let lastNotified) = entries[key]?.lastNotified {
                entries[key]?.lastNotified = .state(lastNotified)
            }
            return
        }
        func tell(_ change: EntryChange?, _ step: Int) {
            guard let change else { return }
            actions[step] += entry.listeners.all.compactMap { $0.note(change) }
        }
        let end = Self.part(key, of: last.after)
        switch entry.lastNotified {
        case .unknown:
            return
        case .unsure(let lastNotified):
            tell(EntryChange(of: key, from: lastNotified, to: end, isForeign: false), steps.count - 1)
        case .state(let lastNotified) where domain?.keepsOthersOut == false:
            // Others may have changed what the commit started from: only what it has changed itself is lastNotified.
            var state = lastNotified
            for (index, step) in steps.enumerated() {
                let (before, after) = (Self.part(key, of: step.before), Self.part(key, of: step.after))
                guard let own = EntryChange(of: key, from: before, to: after, isForeign: false) else { continue }
                let next = key.isEmpty ? own.difference.applied(to: state as? Content ?? [:]) : after
                tell(EntryChange(of: key, from: state, to: next, isForeign: false), index)
                state = next
            }
            entries[key]?.lastNotified = .state(state)
            return
        case .state(let lastNotified):
            if let foreign = EntryChange(
                of: key, from: lastNotified, to: Self.part(key, of: first.before), isForeign: true)
            {
                Self.runOnMainQueue(entry.listeners.all.compactMap { $0.note(foreign) })
            }
            for (index, step) in steps.enumerated() {
                let (before, after) = (Self.part(key, of: step.before), Self.part(key, of: step.after))
                tell(EntryChange(of: key, from: before, to: after, isForeign: false), index)
            }
        }
        entries[key]?.lastNotified = .state(end)
    }

    // MARK: - Changes made elsewhere

    /// Looks at the domain, soon; several signs in a row are one look.
    private func scheduleLook() {
        let isFirst = lock.withLock {
            defer { isLookScheduled = true }
            return !isLookScheduled
        }
        if isFirst { queue.async { [weak self] in self?.look() } }
    }

    private func look(isSecond: Bool = false) {
        let count: Int? = lock.withLock {
            isLookScheduled = false
            if isCommitting { needsLook = true }
            return isCommitting || entries.isEmpty ? nil : commits
        }
        guard let count else { return }
        let content: Content?
        do {
            // Where it cannot be read, accesses say so; listeners hear of what is there when it can.
            guard let readable = try readable() else { return }
            content = readable
        } catch {
            lock.withLock { entries.values.flatMap(\.listeners.all) }.forEach { $0.placeChanged() }
            return
        }
        let isOvertaken = lock.withLock {
            guard !isCommitting, commits == count else { return true }
            let isMissing =
                content == nil
                && entries.values.contains { if case .state(_?) = $0.lastNotified { true } else { false } }
            if isMissing, !isSecond {
                queue.asyncAfter(deadline: .now() + Self.grace) { [weak self] in self?.look(isSecond: true) }
                return false
            }
            for (key, entry) in entries {
                guard case .state(let lastNotified) = entry.lastNotified else {
                    // What was read for a listener on its way in may be older than what is here: it is read again.
                    commits += 1
                    continue
                }
                let found = Self.part(key, of: content)
                guard let change = EntryChange(of: key, from: lastNotified, to: found, isForeign: true) else {
                    continue
                }
                entries[key]?.lastNotified = .state(found)
                Self.runOnMainQueue(entry.listeners.all.compactMap { $0.note(change) })
            }
            return false
        }
        if isOvertaken { scheduleLook() }
    }

    /// The domain as it was committed last; nil where it cannot be read.
    ///
    /// - Throws: `FileError.pathChanged`.
    private func readable() throws -> Content?? {
        do {
            return .some(try domain?.committed())
        } catch FileError.pathChanged {
            throw FileError.pathChanged
        } catch {
            return nil
        }
    }

    /// The entry under a key; all entries as one dictionary for a flat domain, whose key is empty.
    private static func part(_ key: String, of content: Content?) -> Any? {
        key.isEmpty ? content : content?[key]
    }

    private static func runOnMainQueue(_ actions: [Action]) {
        guard !actions.isEmpty else { return }
        DispatchQueue.main.async { actions.forEach { $0() } }
    }
}
