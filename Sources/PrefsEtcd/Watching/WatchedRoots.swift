import Dispatch
import Foundation
import PersistentPreferences

/// What the thread of a watch and its users share.
struct WatchedRoots: Sendable {
    typealias Deadline = ContinuousClock.Instant

    let client: EtcdClient
    let keys: EtcdKeys
    /// The age of the copy that no failure of one server exceeds.
    let limit: Duration
    let patience: Duration
    let state: Guarded<State>

    /// How long one endpoint may take to send all roots. Short at first, so that the next is asked before the first read gives up.
    func timeToLoad(afterRounds rounds: Int) -> Duration {
        min(limit, patience / 4 * (1 << min(rounds, 20)))
    }

    /// Puts the roots that are followed into the file.
    func saveLastKnown() {
        let (file, known) = state.withLock { ($0.lastKnown, $0.lastKnown == nil ? nil : $0.known()) }
        if let known { file?.save(known.roots, of: known.names) }
    }

    /// How far a cluster was at some time.
    struct Progress {
        let revision: Int64
        let term: Int64

        /// Whether the cluster was restored from a copy since: it is behind.
        func isAhead(of revision: Int64, term: Int64) -> Bool { revision < self.revision || term < self.term }
    }

    /// What the lock of the watch protects.
    struct State {
        let keys: EtcdKeys
        let lastKnown: LastKnownFile?
        var isRunning = false
        var isStopped = false
        var connection: GRPCConnection?
        /// Since when the watch has failed, and its last failure.
        var failingSince: Deadline?
        var failure: EtcdFailure?

        /// The roots that are used, and when they were used last.
        private var lastUses: [String: Deadline] = [:]
        /// Whether all roots of the prefix are followed, because many are used.
        private(set) var followsAll = false
        /// Whether all roots are followed and were read once.
        private var hasAll: Bool { followsAll && revision > 0 }
        /// Whether the stream lacks a root that is used, or a change.
        var isOutdated = false
        /// The last revision of which everything is here, if all roots are followed; 0 before they were read.
        private(set) var revision: Int64 = 0
        /// The last term of the cluster that was heard of.
        var term: Int64 = 0
        var provenAt: Deadline?
        var copies: [String: RootCopy] = [:]
        /// All roots of which this process has stored something that the stream has not told yet, and perhaps others.
        private var late: Set<String> = []
        /// If all are followed: the keys of roots, and others among them that are not ours.
        private(set) var count: Int64 = 0
        /// The last readable states that the copies do not have, and a revision in which each was read or stored: of roots that are not
        /// followed, and of those whose newest state cannot be read.
        var found: [String: (stored: StoredRoot, revision: Int64)] = [:]

        var own: [OwnTransaction] = []
        var observers: [String: [RemoteObserver]] = [:]
        /// Are signalled at each change.
        var waiters: [DispatchSemaphore] = []

        /// Roots beyond which all are followed.
        private static let mostRoots = 8
        /// After so long without a use, a root is not followed any more.
        static let idleTime = Duration.seconds(600)
        /// Roots that are known without being followed.
        static let mostFound = 256

        init(keys: EtcdKeys, lastKnown: LastKnownFile?) {
            self.keys = keys
            self.lastKnown = lastKnown
        }

        /// Whether it is useless to wait for the first state.
        func hasGivenUp(after patience: Duration) -> Bool {
            if case .rejected? = failure?.kind { return true }
            return failingSince.map { .now - $0 >= patience } ?? false
        }

        // MARK: - The roots that are followed

        var used: [String] { Array(lastUses.keys) }

        /// Follows a root from now on.
        mutating func use(_ root: String) {
            guard lastUses.updateValue(.now, forKey: root) == nil, !followsAll else { return }
            followsAll = usesMany
            isOutdated = true
            connection?.interrupt()
        }

        private var usesMany: Bool { lastUses.count > Self.mostRoots }

        /// Leaves the roots that were not used for a while, and that have no observers.
        mutating func leaveUnused(at time: Deadline) {
            // The one that was used last stays, because there would be nothing to follow.
            let last = lastUses.max { $0.value < $1.value }?.key
            let used = lastUses.filter {
                $0.key == last || time - $0.value <= Self.idleTime || observers[$0.key] != nil
            }
            let unused = lastUses.keys.filter { used[$0] == nil }
            if unused.isEmpty { return }
            lastUses = used
            if followsAll, usesMany { return }
            for root in unused {
                // It stays the last known state.
                guard let copy = copies[root] else { continue }
                note(copy.ahead ?? copy.stored, root, in: max(reached(root), copy.ahead?.modified ?? 0))
            }
            if followsAll {
                for root in used.keys { copies[root, default: RootCopy()].reached = reached(root) }
                (followsAll, revision, count) = (false, 0, 0)
            }
            copies = copies.filter { used[$0.key] != nil }
            late.formIntersection(copies.keys)
            isOutdated = true
            connection?.interrupt()
        }

        func isFollowed(_ root: String) -> Bool { followsAll || lastUses[root] != nil }

        func isLoaded(_ root: String) -> Bool { reached(root) > 0 }

        /// The roots that were not read yet; nil if all have to be read.
        var unread: [String]? { followsAll ? (revision == 0 ? nil : []) : lastUses.keys.filter { !isLoaded($0) } }

        /// What a stream has to report.
        ///
        /// - Parameter resumes: whether it begins with what the copies lack; otherwise with the next change, unless all roots are followed.
        func ranges(resumes: Bool) -> [WatchRange] {
            if followsAll { return [WatchRange(key: keys.roots, isPrefix: true, startRevision: revision + 1)] }
            return lastUses.keys.map {
                WatchRange(key: keys.root($0), startRevision: resumes ? reached($0) + 1 : nil)
            }
        }

        /// The last revision in which a root is known; 0 if it was not read.
        func reached(_ root: String) -> Int64 { max(revision, copies[root]?.reached ?? 0) }

        // MARK: - Reading

        mutating func values(of root: String) throws(PrefsError) -> RootValues? {
            let keys = keys
            if copies[root]?.ahead != nil { return try copies[root]?.ahead?.values(of: root, in: keys) ?? nil }
            return try copies[root]?.stored.values(of: root, in: keys) ?? nil
        }

        /// The newest readable values that are known: of this process, otherwise of the file.
        mutating func lastGood(_ root: String) -> RootValues? {
            let known = copies[root]?.ahead?.modified ?? reached(root)
            if known > 0, found[root]?.revision ?? 0 <= known {
                do throws(PrefsError) {
                    return try values(of: root)
                } catch {
                    // It cannot be read.
                }
            }
            guard var stored = found[root]?.stored else { return known > 0 ? nil : lastKnown?.values(of: root) }
            return try? stored.values(of: root, in: keys)
        }

        /// The newest state that is known.
        func newest(_ root: String) -> StoredRoot? {
            let known = copies[root]?.ahead?.modified ?? reached(root)
            if let found = found[root], found.revision > known { return found.stored }
            return known == 0 ? nil : copies[root]?.ahead ?? copies[root]?.stored ?? .missing
        }

        mutating func note(_ stored: StoredRoot, _ root: String, in revision: Int64) {
            guard revision >= found[root]?.revision ?? 0 else { return }
            var stored = stored
            // If it cannot be read, what was known before is still the best.
            guard case .success = stored.result(of: root, in: keys) else { return }
            found[root] = (stored, revision)
            if found.count > Self.mostFound, let oldest = found.min(by: { $0.value.revision < $1.value.revision }) {
                found[oldest.key] = nil
            }
        }

        /// Takes the state of a root that was read in a revision, and that a read has from now on.
        mutating func advance(_ root: String, to stored: StoredRoot, in revision: Int64) {
            note(stored, root, in: revision)
            // Of a missing root nobody knows when it was removed.
            if isFollowed(root) { putAhead(stored.data == nil ? stored.modified(in: revision) : stored, root) }
        }

        /// Reads have the state from now on, unless they have a later one.
        mutating func putAhead(_ stored: StoredRoot, _ root: String) {
            guard max(reached(root), copies[root]?.ahead?.modified ?? 0) < stored.modified else { return }
            copies[root, default: RootCopy()].ahead = stored
            late.insert(root)
        }

        func isCaughtUp(_ root: String) -> Bool {
            isLoaded(root) && copies[root]?.ahead == nil && copies[root]?.untold.isEmpty ?? true
        }

        // MARK: - Changes

        mutating func apply(_ event: WatchReply.Event) {
            let revision = event.kv.modified
            if hasAll { count += event.isRemoval ? -1 : event.kv.created == revision ? 1 : 0 }
            let root = keys.root(ofKey: event.kv.key)
            if let root, isFollowed(root), copies[root]?.reached ?? 0 < revision {
                put(event.isRemoval ? .missing : StoredRoot(event.kv), root, at: revision)
            }
            if hasAll { reach(revision) }
            if let root { leaveIfMissing(root) }
        }

        /// If all are followed, a root of which nothing is known is missing.
        private mutating func leaveIfMissing(_ root: String) {
            guard hasAll, observers[root] == nil, let copy = copies[root] else { return }
            if copy.stored.data == nil, copy.ahead == nil { copies[root] = nil }
        }

        /// Takes the state of roots that was read in a revision, unless they were left meanwhile.
        mutating func load(_ roots: [String], _ found: [EtcdKeyValue?], in revision: Int64) {
            for (root, entry) in zip(roots, found) where isFollowed(root) { put(StoredRoot(entry), root, at: revision) }
            wake()
        }

        /// Takes the state of all roots, unless they are not followed any more.
        mutating func loadAll(_ found: [EtcdKeyValue], in revision: Int64) {
            guard followsAll else { return }
            var new: [String: StoredRoot] = [:]
            for entry in found {
                if let root = keys.root(ofKey: entry.key) { new[root] = StoredRoot(entry) }
            }
            count = Int64(found.count)
            for root in Set(copies.keys).union(new.keys).union(observers.keys) {
                put(new[root] ?? .missing, root, at: revision)
            }
            self.revision = revision
            reach(revision)
            for root in copies.keys where new[root] == nil { leaveIfMissing(root) }
        }

        /// Whether a look has found a change that a stream does not report, because the stream begins after a later revision. Of a removal
        /// nobody knows when it was.
        func hasGap(
            _ roots: [String], _ found: [RangeReply], in revision: Int64, before begin: Int64
        ) -> Bool {
            zip(roots, found).contains { root, found in
                found.kvs.first?.modified ?? 0 <= begin && !isComplete([root], [found], in: revision)
            }
        }

        /// Whether everything is here that a look in a revision has found: of each root its last change or, if all are followed, the newest
        /// change of any, and how many keys there are.
        func isComplete(_ roots: [String], _ found: [RangeReply], in revision: Int64) -> Bool {
            if followsAll {
                return hasAll && self.revision >= revision
                    || hasAll && self.revision >= found[0].kvs.first?.modified ?? 0 && count == found[0].count
            }
            return zip(roots, found).allSatisfy { root, found in
                guard let copy = copies[root] else { return true }
                return copy.reached >= revision || copy.stored.revisionInEtcd == found.kvs.first?.modified ?? 0
            }
        }

        /// The JSON of the readable roots that were read, and the names of all roots if they are known.
        mutating func known() -> (roots: [String: Data?], names: Set<String>?) {
            var roots: [String: Data?] = [:]
            for root in copies.keys where reached(root) > 0 {
                do throws(PrefsError) {
                    _ = try values(of: root)
                    roots[root] = .some((copies[root]?.ahead ?? copies[root]?.stored)?.data)
                } catch {
                    // What the file has of it stays.
                }
            }
            return (roots, hasAll ? Set(copies.keys) : nil)
        }

        /// A look has shown that nothing is missing until a revision.
        mutating func prove(_ roots: [String], until revision: Int64) {
            for root in roots where copies[root]?.reached ?? 0 < revision {
                copies[root]?.reached = revision
                if copies[root]?.ahead?.modified ?? .max <= revision { copies[root]?.ahead = nil }
                tell(root)
            }
            if hasAll { reach(revision) }
            wake()
        }

        /// Everything until a revision is here, if all roots are followed.
        private mutating func reach(_ revision: Int64) {
            self.revision = max(self.revision, revision)
            for root in late where copies[root]?.ahead?.modified ?? 0 <= revision {
                copies[root]?.ahead = nil
                late.remove(root)
                leaveIfMissing(root)
            }
            if !own.isEmpty { for root in observers.keys { tell(root) } }
            wake()
        }

        private mutating func put(_ stored: StoredRoot, _ root: String, at revision: Int64) {
            var (stored, former) = (stored, copies[root] ?? RootCopy())
            // The objects that this process has stored are not made a second time.
            if let ahead = former.ahead, ahead.isSame(as: stored) { stored = ahead }
            let isSame = former.stored.isSame(as: stored)
            if isSame { stored = former.stored }
            let isFirst = former.reached == 0
            if !isSame, !isFirst || observers[root] != nil, case .failure = stored.result(of: root, in: keys) {
                // What was known before is kept.
                note(former.stored, root, in: max(former.reached, former.stored.modified))
            }
            former.stored = stored
            former.reached = revision
            if former.ahead?.modified ?? .max <= revision { former.ahead = nil }
            if observers[root] != nil { former.untold.append((stored, revision)) }
            copies[root] = former
            tell(root)
        }

        mutating func wake() {
            for waiter in waiters { waiter.signal() }
            waiters = []
        }

        // MARK: - A cluster that was restored

        /// The newest revision and term of the cluster that are known.
        var progress: Progress {
            let known = copies.values.reduce(revision) { max($0, $1.reached, $1.ahead?.modified ?? 0) }
            return Progress(revision: own.reduce(known) { max($0, $1.revision ?? 0) }, term: term)
        }

        /// A cluster that was restored from a copy no longer has what was confirmed before. What was confirmed meanwhile stays.
        mutating func forget(_ former: Self) {
            let operations = Set(former.own.filter { $0.revision != nil }.map(\.operation))
            own.removeAll { operations.contains($0.operation) }
            found = [:]
            revision = 0
            for (root, copy) in copies {
                copies[root]?.reached = 0
                copies[root]?.toldUntil = 0
                if copy.ahead?.modified == former.copies[root]?.ahead?.modified { copies[root]?.ahead = nil }
            }
        }
    }
}
