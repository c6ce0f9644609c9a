import Foundation
import PrefsJSON

/// The work of the watch's thread: reads all roots, follows the stream of one endpoint, and takes the next endpoint if it fails.
struct EtcdFollower {
    private var needsLoad = true
    private var failures = 0
    /// What has arrived of a line.
    private var rest = Data()
    /// Bytes of the longest line.
    private static let mostBytes = 256 << 20
    /// Roots of a page. As many of the largest values that etcd takes, 1.5 MiB, are half of the largest reply.
    private static let mostRoots: Int64 = 64

    /// Follows the stream of one endpoint until it fails.
    mutating func follow(_ watch: EtcdWatch) {
        let index = watch.client.preferred
        let endpoint = watch.client.endpoints[index]
        do throws(EtcdFailure) {
            if needsLoad { try load(watch, endpoint) }
            needsLoad = false
            try stream(watch, endpoint)
        } catch {
            let isStopped = watch.state.withLock { state in
                state.connection = nil
                state.failure = error.at(endpoint)
                state.failingSince = state.failingSince ?? .now
                state.wake()
                return state.isStopped
            }
            if isStopped { return }
            watch.client.prefer(index + 1)
            failures += 1
            // All have failed: etcd has dropped what the stream would begin with, or the cluster was restored from a copy.
            if failures >= max(2, watch.client.endpoints.count) { needsLoad = true }
            if failures % watch.client.endpoints.count == 0 { poll(nil, 0, failures < 10 ? 50 : 500) }
        }
    }

    private func load(_ watch: EtcdWatch, _ endpoint: Endpoint) throws(EtcdFailure) {
        let begin = ContinuousClock.Instant.now
        let known = watch.state.withLock { $0 }
        let time = watch.timeToLoad(afterRounds: failures / watch.client.endpoints.count)
        var page = RangeRequest(prefix: watch.keys.roots)
        page.limit = Self.mostRoots
        let first = TxnRequest(success: [.range(page), .range(RangeRequest(prefix: watch.keys.markers))])
        let reply = try watch.client.commit(first, ranges: 2, at: endpoint, until: begin + time)
        // All pages are of the same revision.
        page.revision = reply.revision
        var roots = reply.ranges[0]
        var hasMore = reply.results[0].more
        while hasMore, let last = roots.last {
            page.key = last.key + [0]
            let next = try watch.client.call(
                "/v3/kv/range", page.json, as: RangeReply.self, at: endpoint, until: .now + time)
            // A server that repeats a page would be asked for ever.
            guard next.kvs.allSatisfy({ last.key.lexicographicallyPrecedes($0.key) }),
                !next.more || !next.kvs.isEmpty
            else { throw EtcdFailure("the pages of the roots contradict each other") }
            roots += next.kvs
            hasMore = next.more
        }
        watch.state.withLock { state in
            if known.isAhead(of: reply) { state.forget(known) }
            state.load(roots, markers: reply.ranges[1], revision: reply.revision, term: reply.term)
            state.provenAt = begin
        }
    }

    private mutating func stream(_ watch: EtcdWatch, _ endpoint: Endpoint) throws(EtcdFailure) {
        let interval = watch.limit / 4
        let first = watch.state.withLock { $0.revision } + 1
        let request = watchRequest(from: watch.keys.markers, through: watch.keys.roots, startRevision: first)
        let connection = try watch.client.open("/v3/watch", request, at: endpoint, until: .now + interval)
        let isStopped = watch.state.withLock { state in
            state.connection = connection
            return state.isStopped
        }
        if isStopped { throw EtcdFailure("stopped") }
        rest = Data()
        try prove(watch, endpoint, connection, interval)
        while true {
            let proof = ContinuousClock.Instant.now + interval
            while .now < proof, try receive(from: connection, watch, until: proof) {}
            try prove(watch, endpoint, connection, interval)
            failures = 0
        }
    }

    /// Proves that the copy is complete: a linearizable read tells the newest change, and the stream has to have it.
    ///
    /// Nothing tells the newest removal, but after it there are fewer keys. Clients leave a marker at each commit; other programs do not.
    private mutating func prove(
        _ watch: EtcdWatch, _ endpoint: Endpoint, _ connection: HTTPConnection, _ interval: Duration
    ) throws(EtcdFailure) {
        let begin = ContinuousClock.Instant.now
        let known = watch.state.withLock { $0 }
        let request = TxnRequest(
            success: [watch.keys.markers, watch.keys.roots].map {
                .range(RangeRequest(newest: .modified, of: $0, limit: 1))
            })
        let reply = try watch.client.commit(request, ranges: 2, at: endpoint, until: begin + interval)
        let newest = reply.ranges.compactMap(\.first?.modified).max() ?? 0
        let count = reply.results[1].count
        if known.isAhead(of: reply) {
            needsLoad = true
            throw EtcdFailure("the cluster was restored from an earlier state")
        }
        // As long as something comes, it is not silent.
        while !watch.state.withLock({ $0.isComplete(at: reply.revision, newest: newest, count: count) }) {
            guard try receive(from: connection, watch, until: .now + interval) else {
                throw EtcdFailure("the watch is silent")
            }
        }
        watch.state.withLock { state in
            (state.provenAt, state.term) = (begin, reply.term)
            (state.failingSince, state.failure) = (nil, nil)
        }
    }

    // MARK: - Messages

    /// Takes the messages that the next bytes complete.
    ///
    /// - Returns: false if nothing has come.
    private mutating func receive(
        from connection: HTTPConnection, _ watch: EtcdWatch, until deadline: EtcdClient.Deadline
    ) throws(EtcdFailure) -> Bool {
        guard try connection.hasInput(until: deadline) else { return false }
        guard var part = try connection.receivePart(until: .now + watch.limit / 4) else {
            // What is left may be the reason for the end.
            try takeLine(watch)
            throw EtcdFailure("the watch has ended")
        }
        while let end = part.firstIndex(of: UInt8(ascii: "\n")) {
            rest += part[..<end]
            part = part[(end + 1)...]
            try takeLine(watch)
        }
        rest += part
        guard rest.count <= Self.mostBytes else { throw EtcdFailure("a message of the watch is too long") }
        return true
    }

    /// Takes the message that is complete.
    private mutating func takeLine(_ watch: EtcdWatch) throws(EtcdFailure) {
        if rest.isEmpty { return }
        defer { rest = Data() }
        let message = try EtcdMessage.read(StreamReply<WatchReply>.self, rest)
        guard let reply = message.result else {
            throw EtcdFailure(message.error?.message ?? "the watch has ended")
        }
        if reply.isCanceled {
            watch.client.forgetToken()
            throw EtcdFailure(reply.cancelReason ?? "the watch was cancelled")
        }
        let events = reply.events
        watch.state.withLock { state in
            var start = 0
            while start < events.count {
                let revision = events[start].kv.modified
                let end = events[start...].firstIndex { $0.kv.modified != revision } ?? events.count
                state.apply(Array(events[start..<end]), of: revision)
                start = end
            }
        }
    }
}
