import Foundation

/// The work of the watch's thread: reads the roots that are used, follows the stream of one endpoint, and takes the next endpoint if it
/// fails.
struct EtcdFollower {
    private var needsLoad = false
    /// Whether the next stream begins with what the copies lack, as after a failure. What a further root makes necessary begins with the next
    /// change, of which etcd tells at once, and has to have no gap.
    private var resumes = false
    private var failures = 0
    /// Since when nothing has succeeded.
    private var begin = ContinuousClock.Instant.now
    /// Roots of the first page. As many of the largest values that etcd takes, 1.5 MiB, are three quarters of the largest reply.
    private static let firstPage: Int64 = 32
    /// Bytes of a page after which the next one has twice as many roots.
    private static let smallPage = 1 << 20

    /// Follows the stream of one endpoint until it fails, or until another root is used.
    mutating func follow(_ watch: WatchedRoots) {
        let index = watch.client.preferred
        let endpoint = watch.client.endpoints[index]
        do throws(EtcdFailure) {
            watch.state.withLock { $0.isOutdated = false }
            try load(watch, endpoint)
            needsLoad = false
            try stream(watch, endpoint)
        } catch {
            let goesOn = watch.state.withLock { state in
                state.connection = nil
                if state.isOutdated { return false }
                state.failure = error.at(endpoint)
                state.failingSince = state.failingSince ?? begin
                state.wake()
                return !state.isStopped
            }
            guard goesOn else { return }
            resumes = true
            if case .cancelled = error.kind { watch.client.forgetToken() }
            watch.client.prefer(index + 1)
            failures += 1
            // All have failed: etcd has dropped what the stream would begin with, or the cluster was restored from a copy.
            if failures >= max(2, watch.client.endpoints.count) { needsLoad = true }
            let rounds = failures / watch.client.endpoints.count
            if failures % watch.client.endpoints.count == 0 { RetryPause(afterRounds: rounds).wait() }
        }
    }

    // MARK: - Reading

    private mutating func load(_ watch: WatchedRoots, _ endpoint: Endpoint) throws(EtcdFailure) {
        let begin = ContinuousClock.Instant.now
        let known = watch.state.withLock { $0 }
        let time = watch.timeToLoad(afterRounds: failures / watch.client.endpoints.count)
        guard let unread = known.unread, !known.followsAll else {
            if known.followsAll, known.unread == nil || needsLoad { try loadAll(watch, endpoint, time) }
            return
        }
        let roots = needsLoad ? known.used : unread
        if roots.isEmpty { return }
        let ranges = roots.map { RangeRequest(key: watch.keys.root($0)) }
        let reply = try watch.client.look(at: ranges, at: endpoint, until: begin + time)
        let isRestored = known.progress.isAhead(of: reply.revision, term: reply.term)
        if isRestored, roots.count < known.used.count {
            needsLoad = true
            throw EtcdFailure("the cluster was restored from an earlier state")
        }
        watch.state.withLock { state in
            if isRestored { state.forget(known) }
            state.load(roots, reply.ranges.map(\.first), in: reply.revision)
            state.term = reply.term
            if roots.count == state.used.count { state.provenAt = begin }
            (state.failingSince, state.failure) = (nil, nil)
        }
    }

    private func loadAll(_ watch: WatchedRoots, _ endpoint: Endpoint, _ time: Duration) throws(EtcdFailure) {
        let begin = ContinuousClock.Instant.now
        let known = watch.state.withLock { $0 }
        var page = RangeRequest(prefix: watch.keys.roots)
        page.limit = Self.firstPage
        let first = try watch.client.range(page, at: endpoint, until: begin + time)
        // All pages are of the same revision.
        page.revision = first.revision
        var (roots, last, hasMore) = (first.kvs, first.kvs, first.more)
        while hasMore, let end = last.last {
            page.key = end.key + [0]
            // Each page makes etcd count the rest. After a failure, the pages stay small.
            if failures == 0, last.reduce(0, { $0 + $1.bytes.count }) < Self.smallPage { page.limit? *= 2 }
            let next = try watch.client.range(page, at: endpoint, until: .now + time)
            // A server that repeats a page would be asked for ever.
            guard next.kvs.allSatisfy({ end.key.lexicographicallyPrecedes($0.key) }), !next.more || !next.kvs.isEmpty
            else { throw EtcdFailure("the pages of the roots contradict each other") }
            (last, hasMore) = (next.kvs, next.more)
            roots += last
        }
        watch.state.withLock { state in
            if known.progress.isAhead(of: first.revision, term: first.term) { state.forget(known) }
            state.loadAll(roots, in: first.revision)
            (state.term, state.provenAt) = (first.term, begin)
            (state.failingSince, state.failure) = (nil, nil)
        }
    }

    // MARK: - The stream

    private mutating func stream(_ watch: WatchedRoots, _ endpoint: Endpoint) throws(EtcdFailure) {
        let interval = watch.limit / 4
        let ranges = watch.state.withLock { $0.ranges(resumes: resumes) }
        var stream = try watch.client.open(ranges, at: endpoint, until: .now + interval)
        let goesOn = watch.state.withLock { state in
            state.connection = stream.connection
            return !state.isStopped && !state.isOutdated
        }
        guard goesOn else { throw EtcdFailure("stopped") }
        // A look before the stream has begun would not show what the stream lacks.
        while stream.missing > 0 {
            guard try receive(&stream, watch, until: .now + interval) else {
                throw EtcdFailure("the watch is silent")
            }
        }
        var mayHaveGap = !resumes
        while true {
            try prove(watch, endpoint, &stream, interval, mayHaveGap: mayHaveGap)
            (failures, resumes, mayHaveGap) = (0, false, false)
            begin = .now
            let proof = ContinuousClock.Instant.now + interval
            while .now < proof, try receive(&stream, watch, until: proof) {}
        }
    }

    /// Proves that the copy is complete: a linearizable read tells the last change of each root, and the stream has to have it.
    ///
    /// If all roots are followed, it tells the newest change of any. Nothing tells the newest removal then, but after it there are fewer
    /// keys.
    private mutating func prove(
        _ watch: WatchedRoots, _ endpoint: Endpoint, _ stream: inout WatchStream, _ interval: Duration,
        mayHaveGap: Bool
    ) throws(EtcdFailure) {
        let begin = ContinuousClock.Instant.now
        // The state itself is not kept meanwhile, because a change would have to copy it.
        let (followsAll, roots, unknown, progress) = watch.state.withLock { state in
            let roots = state.followsAll ? [] : state.used.filter { state.isLoaded($0) }
            return (state.followsAll, roots, state.own.filter { $0.isUnknown && $0.revision == nil }, state.progress)
        }
        let all = RangeRequest(newest: .modified, of: watch.keys.roots, limit: 1)
        let looks = followsAll ? [all] : roots.map { RangeRequest(revisionOf: watch.keys.root($0)) }
        let reply = try watch.client.look(
            at: looks + unknown.map { RangeRequest(key: $0.marker) }, at: endpoint, until: begin + interval)
        if progress.isAhead(of: reply.revision, term: reply.term) {
            needsLoad = true
            throw EtcdFailure("the cluster was restored from an earlier state")
        }
        let found = Array(reply.results.prefix(looks.count))
        let streamBegin = stream.revision
        if mayHaveGap, watch.state.withLock({ $0.hasGap(roots, found, in: reply.revision, before: streamBegin) }) {
            resumes = true
            watch.state.withLock { $0.isOutdated = true }
            throw EtcdFailure("the stream lacks changes")
        }
        // As long as something comes, it is not silent.
        while !watch.state.withLock({ $0.isComplete(roots, found, in: reply.revision) }) {
            if try receive(&stream, watch, until: .now + interval) { continue }
            throw EtcdFailure("the watch is silent")
        }
        watch.state.withLock { state in
            state.prove(roots, until: reply.revision)
            for (transaction, range) in zip(unknown, reply.ranges.dropFirst(looks.count)) {
                state.look(at: range.first, of: transaction.operation, in: reply.revision)
            }
            (state.provenAt, state.term) = (begin, reply.term)
            (state.failingSince, state.failure) = (nil, nil)
            state.leaveUnused(at: begin)
        }
        watch.saveLastKnown()
    }

    /// Takes the messages that the next bytes complete.
    ///
    /// - Returns: false if nothing has come.
    private func receive(
        _ stream: inout WatchStream, _ watch: WatchedRoots, until deadline: EtcdClient.Deadline
    ) throws(EtcdFailure) -> Bool {
        guard let messages = try stream.receive(until: deadline, patience: watch.limit / 4) else { return false }
        for message in messages {
            if message.events.isEmpty { continue }
            watch.state.withLock { state in
                for event in message.events { state.apply(event) }
                state.wake()
            }
        }
        return true
    }
}
