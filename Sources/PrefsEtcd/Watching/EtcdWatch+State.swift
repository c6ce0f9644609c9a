import Dispatch
import Foundation
import PersistentPreferences

extension EtcdWatch {
    /// What the lock of the watch protects.
    struct State {
        let keys: EtcdKeys
        var isRunning = false
        var isStopped = false
        var connection: HTTPConnection?
        /// Since when the watch has failed, and its last failure.
        var failingSince: Deadline?
        var failure: EtcdFailure?

        var isLoaded = false
        /// The last revision of which everything is here.
        var revision: Int64 = 0
        /// The last term of the cluster that was heard of.
        var term: Int64 = 0
        var provenAt: Deadline?
        var roots: [String: StoredRoot] = [:]
        /// The keys of roots, and others among them that are not ours.
        var count: Int64 = 0
        /// The revisions of the markers of clients.
        var markers: [Data: Int64] = [:]
        /// Values that could be read, and in which revision, of roots that cannot be read now, or that the watch does not know yet: what reads
        /// past the watch have found, and what this process has stored without it.
        var found: [String: (values: [String: Any]?, revision: Int64)] = [:]

        var own: [OwnTransaction] = []
        /// What this process has stored in a revision that the watch has not reached.
        var ahead: [String: StoredRoot] = [:]
        var observers: [String: [EtcdObserver]] = [:]
        /// Are signalled at each change.
        var waiters: [DispatchSemaphore] = []

        init(keys: EtcdKeys) {
            self.keys = keys
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

        /// The newest values that are known.
        mutating func lastGood(_ root: String) -> [String: Any]? {
            let known = max(revision, ahead[root]?.modified ?? 0)
            if let found = found[root], found.revision > known { return found.values }
            do throws(PrefsError) {
                return try values(of: root)
            } catch {
                return found[root]?.values
            }
        }

        mutating func note(_ stored: StoredRoot, _ root: String, in revision: Int64) {
            guard revision >= found[root]?.revision ?? 0 else { return }
            var stored = stored
            do throws(PrefsError) {
                found[root] = (try stored.values(of: root, in: keys), revision)
            } catch {
                // What was known before is still the best.
            }
        }

        func isCaughtUp(_ root: String) -> Bool { isLoaded && ahead[root] == nil }

        // MARK: - Changes

        mutating func confirm(_ operation: String, at revision: Int64) {
            guard let index = own.firstIndex(where: { $0.operation == operation }) else { return }
            let steps = own[index].steps
            // Without a copy nobody observes, and its steps are not needed. Nobody waits for those before it any more, either.
            if isLoaded, self.revision < revision {
                own[index].revision = revision
            } else {
                own.removeSubrange(...index)
            }
            guard self.revision < revision else { return }
            for step in steps {
                let stored = step.result.modified(in: revision)
                // The last step of a root is its result.
                if isRunning { ahead[step.root] = stored } else { note(stored, step.root, in: revision) }
            }
        }

        /// Takes the changes of one revision.
        mutating func apply(_ events: [WatchReply.Event], of revision: Int64) {
            var changed: [String: StoredRoot] = [:]
            var steps: [RootStep] = []
            for event in events {
                let key = event.kv.key
                if key.starts(with: keys.roots) {
                    count += event.isRemoval ? -1 : event.kv.created == revision ? 1 : 0
                    if let root = keys.root(ofKey: key) {
                        changed[root] = event.isRemoval ? .missing : StoredRoot(event.kv)
                    }
                } else if key.starts(with: keys.markers) {
                    markers[key] = event.isRemoval ? nil : revision
                    let index = own.firstIndex { !event.isRemoval && Data($0.operation.utf8) == event.kv.bytes }
                    if let index {
                        steps = own[index].steps
                        // Those before it will not come any more: their outcome was unknown.
                        own.removeSubrange(...index)
                    }
                }
            }
            // What was created and removed again leaves no event.
            for step in steps where changed[step.root] == nil { changed[step.root] = roots[step.root] ?? .missing }
            for (root, stored) in changed { replace(root, by: stored, steps: steps.filter { $0.root == root }) }
            reach(revision)
        }

        /// Takes a whole new state: the roots and the markers.
        mutating func load(_ found: [EtcdKeyValue], markers list: [EtcdKeyValue], revision: Int64, term: Int64) {
            var new: [String: StoredRoot] = [:]
            for entry in found {
                if let root = keys.root(ofKey: entry.key) { new[root] = StoredRoot(entry) }
            }
            count = Int64(found.count)
            markers = Dictionary(list.map { ($0.key, $0.modified) }) { $1 }
            // The changes of this process that the new state has, confirmed or not.
            let operations = Set(list.map(\.bytes))
            let isDone: (OwnTransaction) -> Bool = {
                $0.revision.map { $0 <= revision } ?? operations.contains(Data($0.operation.utf8))
            }
            let steps = own.filter(isDone).flatMap(\.steps)
            own.removeAll(where: isDone)
            if !isLoaded, roots.isEmpty, observers.isEmpty, steps.isEmpty { roots = new }
            for root in Set(roots.keys).union(new.keys).union(steps.map(\.root)) {
                let stored = new[root] ?? .missing
                if (roots[root] ?? .missing).isSame(as: stored), steps.allSatisfy({ $0.root != root }) {
                    continue
                }
                replace(root, by: stored, steps: steps.filter { $0.root == root })
            }
            isLoaded = true
            (failingSince, failure) = (nil, nil)
            // A cluster that was restored from a copy may be in an earlier revision.
            (self.revision, self.term) = (0, term)
            reach(revision)
        }

        /// Whether everything is here that there was in a revision.
        ///
        /// - Parameters:
        ///   - newest: the newest change of what there was.
        ///   - count: the number of keys there were.
        func isComplete(at revision: Int64, newest: Int64, count: Int64) -> Bool {
            self.revision >= revision || self.revision >= newest && self.count == count
        }

        private mutating func reach(_ revision: Int64) {
            self.revision = max(self.revision, revision)
            ahead = ahead.filter { $0.value.modified > revision }
            wake()
        }

        mutating func wake() {
            for waiter in waiters { waiter.signal() }
            waiters = []
        }

        /// Reports a change of a root, by way of the steps of this process.
        private mutating func replace(_ root: String, by stored: StoredRoot, steps: [RootStep]) {
            var (old, new) = (roots[root] ?? .missing, stored)
            let observers = observers[root] ?? []
            var last: [String: Any]?
            func report(_ next: [String: Any]?, _ origin: PrefsChange.Origin) {
                guard !observers.isEmpty else { return last = next }
                let change = PrefsChange(root: root, from: last, to: next, origin: origin)
                if let change { for observer in observers { observer.receive(change, bytes: stored.bytes) } }
                last = next
            }
            do throws(PrefsError) {
                last = try old.values(of: root, in: keys)
            } catch {
                last = found[root]?.values
            }
            for step in steps {
                report(step.before, .elsewhere)
                report(step.after, .thisProcess)
            }
            // The objects that this process has stored are not made a second time.
            if let own = ahead[root], own.isSame(as: new) { new = own }
            do throws(PrefsError) {
                report(try new.values(of: root, in: keys), .elsewhere)
            } catch {
                // Of what cannot be read nothing is reported.
                found[root] = (last, max(revision, old.modified))
            }
            roots[root] = new.modified == 0 ? nil : new
        }
    }
}
