import Foundation
import PersistentPreferences
import PrefsFileEngine
import PrefsPropertyLists

extension EtcdWatch {
    /// What the lock of the watch protects.
    struct State {
        let keys: EtcdKeys
        var process = LockRegistry.forks
        var isRunning = false
        var isStopped = false
        var connection: HTTPConnection?
        /// Since when every endpoint has failed, and the last failure.
        var failingSince: Deadline?
        var failure: EtcdFailure?

        var isLoaded = false
        /// The last revision of which everything is here.
        var revision: Int64 = 0
        var provenAt: Deadline?
        var roots: [String: StoredRoot] = [:]
        var tickets: [Data: Int64] = [:]
        /// The last good values of roots that cannot be read now, or that only reads past the watch have found.
        var noted: [String: [String: Any]] = [:]

        var own: [OwnTransaction] = []
        /// What this process has stored in a revision that the watch has not reached.
        var ahead: [String: StoredRoot] = [:]
        var observers: [String: [CallbackObserver]] = [:]
        var waiters: [Waiter] = []

        init(keys: EtcdKeys) {
            self.keys = keys
        }

        /// A forked child has no thread, and its parent's transactions are another process's. The copy is read again.
        mutating func forgetParent() {
            guard process != LockRegistry.forks else { return }
            let (roots, noted, observers, revision) = (roots, noted, observers, revision)
            self = State(keys: keys)
            (self.roots, self.noted, self.observers, self.revision) = (roots, noted, observers, revision)
        }

        /// Whether it is useless to wait for the first state.
        func hasGivenUp(after patience: Duration) -> Bool {
            if case .rejected? = failure?.kind { return true }
            return failingSince.map { .now - $0 >= patience } ?? false
        }

        // MARK: - Reading

        mutating func values(of root: String) throws(PrefsError) -> [String: Any]? {
            let keys = keys
            if ahead[root] != nil { return try ahead[root]?.values(of: root, in: keys) ?? nil }
            return try roots[root]?.values(of: root, in: keys) ?? nil
        }

        mutating func lastGood(_ root: String) -> [String: Any]? {
            do throws(PrefsError) {
                guard ahead[root] != nil || roots[root] != nil || isLoaded else { return noted[root] }
                return try values(of: root)
            } catch {
                return noted[root]
            }
        }

        mutating func note(_ stored: StoredRoot, _ root: String) {
            guard !isLoaded else { return }
            var stored = stored
            do throws(PrefsError) {
                noted[root] = try stored.values(of: root, in: keys)
            } catch {
                // What was known before is still the best.
            }
        }

        func isCaughtUp(_ root: String) -> Bool { isLoaded && ahead[root] == nil }

        // MARK: - Changes

        mutating func confirm(_ operation: String, at revision: Int64) {
            guard let index = own.firstIndex(where: { $0.operation == operation }) else { return }
            guard isRunning, !(isLoaded && self.revision >= revision) else {
                own.remove(at: index)
                return
            }
            own[index].revision = revision
            for (root, stored) in own[index].results { ahead[root] = stored.modified(in: revision) }
        }

        /// Takes the changes of one revision.
        mutating func apply(_ events: [WatchReply.Event], of revision: Int64) {
            var changed: [String: StoredRoot] = [:]
            var steps: [EntryChange] = []
            for event in events {
                switch keys.kind(of: event.kv.key) {
                case .root(let root): changed[root] = event.isRemoval ? .missing : StoredRoot(event.kv)
                case .ticket: tickets[event.kv.key] = event.isRemoval ? nil : event.kv.created
                case .marker where !event.isRemoval:
                    let index = own.firstIndex { Data($0.operation.utf8) == event.kv.bytes }
                    if let index { steps = own.remove(at: index).steps }
                case .marker, nil: break
                }
            }
            for (root, stored) in changed { replace(root, by: stored, steps: steps.filter { $0.key == root }) }
            reach(revision)
        }

        /// Takes a whole new state.
        mutating func load(_ found: [EtcdKeyValue], tickets list: [EtcdKeyValue], of revision: Int64) {
            var new: [String: StoredRoot] = [:]
            for entry in found {
                if case .root(let root)? = keys.kind(of: entry.key) { new[root] = StoredRoot(entry) }
            }
            tickets = Dictionary(list.map { ($0.key, $0.created) }) { $1 }
            let done = own.filter { $0.revision.map { $0 <= revision } ?? false }
            own.removeAll { $0.revision.map { $0 <= revision } ?? false }
            let steps = done.flatMap(\.steps)
            if !isLoaded, roots.isEmpty, observers.isEmpty, steps.isEmpty { roots = new }
            for root in Set(roots.keys).union(new.keys).union(steps.map(\.key)) {
                let stored = new[root] ?? .missing
                if roots[root]?.modified ?? 0 == stored.modified, steps.allSatisfy({ $0.key != root }) { continue }
                replace(root, by: stored, steps: steps.filter { $0.key == root })
            }
            isLoaded = true
            (failingSince, failure) = (nil, nil)
            // A cluster that was restored from a copy may be in an earlier revision.
            self.revision = 0
            reach(revision)
        }

        private mutating func reach(_ revision: Int64) {
            self.revision = max(self.revision, revision)
            ahead = ahead.filter { $0.value.modified > revision }
            wake()
        }

        mutating func wake() {
            for waiter in waiters where waiter.condition(self) { waiter.isDone.signal() }
        }

        /// Reports a change of a root, by way of the steps of this process.
        private mutating func replace(_ root: String, by stored: StoredRoot, steps: [EntryChange]) {
            var (old, new) = (roots[root] ?? .missing, stored)
            let before: [String: Any]?
            do throws(PrefsError) {
                before = try old.values(of: root, in: keys)
            } catch {
                before = noted[root]
            }
            func report(_ change: EntryChange?) {
                // An observer schedules its call and returns at once.
                if let change { for observer in observers[root] ?? [] { _ = observer.receive(change) } }
            }
            var last = before
            for step in steps {
                report(EntryChange(of: root, from: last, to: step.before, isForeign: true))
                report(step)
                last = step.after as? [String: Any]
            }
            do throws(PrefsError) {
                let after = try new.values(of: root, in: keys)
                report(EntryChange(of: root, from: last, to: after, isForeign: true))
                noted[root] = nil
            } catch {
                // Of what cannot be read nothing is reported.
                noted[root] = last
            }
            roots[root] = new.modified == 0 ? nil : new
        }
    }
}
