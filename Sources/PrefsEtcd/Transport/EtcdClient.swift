import Foundation

/// Sends requests to a cluster: to one endpoint after another until one answers.
///
/// Every request is safe to send twice. Any thread; a call blocks its thread until the deadline at the latest.
final class EtcdClient: Sendable {
    typealias Deadline = ContinuousClock.Instant

    struct User: Sendable, Hashable {
        let name: String
        let password: String
    }

    let endpoints: [Endpoint]
    private let user: User?
    /// How long one endpoint may take before the next one is asked. When all of them were silent, each may take twice as long, because the
    /// disks of a majority may be slow.
    private let patience: Duration
    private let state: Guarded<State>

    private struct State {
        var preferred: Int
        var idle: [Endpoint: [HTTPConnection]] = [:]
        /// Empty if the cluster has no users.
        var token: String?
    }

    /// Connections to one endpoint that are kept for later requests.
    private static let mostIdle = 4

    /// Bytes of an error of etcd.
    private static let longestError = 1 << 20

    init(endpoints: [Endpoint], user: User?, patience: Duration) {
        self.endpoints = endpoints
        self.user = user
        self.patience = patience
        // The clients of a fleet have the same list, and share the load.
        state = Guarded(State(preferred: Int.random(in: 0..<max(1, endpoints.count))))
    }

    // MARK: - Requests

    /// Sends a request until it is answered or the deadline has passed.
    ///
    /// - Throws: `EtcdFailure`, which says whether the request may have been carried out.
    ///
    /// - Parameter patience: how long one endpoint may take at most.
    func call<Reply: Decodable>(
        _ path: String, _ request: String, as reply: Reply.Type = Reply.self, until deadline: Deadline,
        patience: Duration? = nil
    ) throws(EtcdFailure) -> Reply {
        let patience = min(patience ?? self.patience, self.patience)
        var index = preferred
        var hadUnknownAttempt = false
        var (failures, silences) = (0, 0)
        var former: EtcdFailure?
        while true {
            let end = ContinuousClock.Instant.now + patience * (1 << min(silences / endpoints.count, 20))
            let isCutShort = end > deadline
            do throws(EtcdFailure) {
                let reply = try call(path, request, as: reply, at: endpoints[index], until: min(deadline, end))
                if failures > 0 { prefer(index) }
                return reply
            } catch {
                var failure = error
                failure.hadUnknownAttempt = hadUnknownAttempt
                if case .rejected = failure.kind { throw failure }
                if case .unknown = failure.kind { hadUnknownAttempt = true }
                failures += 1
                if .now >= end { silences += 1 }
                if .now >= deadline {
                    // An attempt that had little time says less than the one before.
                    if isCutShort, let former { (failure.endpoint, failure.reason) = (former.endpoint, former.reason) }
                    throw failure
                }
                former = failure
                index = (index + 1) % endpoints.count
                // All have failed: gives them a moment.
                if failures % endpoints.count == 0 { poll(nil, 0, 50) }
            }
        }
    }

    /// Sends a request to one endpoint, which carries it out once at most.
    func call<Reply: Decodable>(
        _ path: String, _ request: String, as reply: Reply.Type = Reply.self, at endpoint: Endpoint,
        until deadline: Deadline
    ) throws(EtcdFailure) -> Reply {
        var renewals = 0
        while true {
            do throws(EtcdFailure) {
                return try exchange(path, request, headers(at: endpoint, until: deadline), endpoint, deadline)
            } catch {
                // A token ends after a while, or with a new server, and there is none before the cluster has users.
                let isInvalid = error.isRejected(EtcdFailure.invalidArgument)
                let isUnnamed = isInvalid && error.reason.contains("user name is empty")
                guard user != nil else { throw (isUnnamed ? error.askingForUser : error).at(endpoint) }
                // A token that lasts for a second, which is counted in whole ones, may end on the way.
                guard renewals < 3,
                    isUnnamed || isInvalid && error.reason.contains("auth store is old")
                        || error.isRejected(EtcdFailure.unauthenticated)
                else { throw error.at(endpoint) }
                renewals += 1
                forgetToken()
            }
        }
    }

    /// Opens a stream of replies at one endpoint.
    func open(
        _ path: String, _ request: String, at endpoint: Endpoint, until deadline: Deadline
    ) throws(EtcdFailure) -> HTTPConnection {
        let headers = try headers(at: endpoint, until: deadline)
        let connection = try HTTPConnection(to: endpoint, until: deadline)
        try connection.send(path, headers: headers, body: request, until: deadline)
        let head = try connection.receiveHead(until: deadline)
        guard head.status == 200, head.isChunked else { throw EtcdFailure("HTTP status \(head.status)") }
        return connection
    }

    /// The endpoint that answered last, as an index.
    var preferred: Int { state.withLock { $0.preferred } }

    func prefer(_ index: Int) {
        state.withLock { $0.preferred = index % endpoints.count }
    }

    /// Asks for another token before the next request.
    func forgetToken() {
        state.withLock { $0.token = nil }
    }

    // MARK: - One attempt

    private func headers(at endpoint: Endpoint, until deadline: Deadline) throws(EtcdFailure) -> [String: String] {
        // A server that knows no leader answers at once.
        var headers = ["Grpc-Metadata-hasleader": "true"]
        guard let user else { return headers }
        var token = state.withLock { $0.token }
        if token == nil {
            do throws(EtcdFailure) {
                let request = AuthenticateReply.request(name: user.name, password: user.password)
                token = try exchange(
                    "/v3/auth/authenticate", request, [:], endpoint, deadline, as: AuthenticateReply.self
                )
                .token
            } catch {
                // What needs the token was not sent.
                if case .unknown = error.kind { throw EtcdFailure(error.reason) }
                guard error.isRejected(EtcdFailure.failedPrecondition), error.reason.contains("not enabled") else {
                    throw error
                }
                token = ""
            }
            state.withLock { $0.token = token }
        }
        if token?.isEmpty == false { headers["Authorization"] = token }
        return headers
    }

    private func exchange<Reply: Decodable>(
        _ path: String, _ body: String, _ headers: [String: String], _ endpoint: Endpoint, _ deadline: Deadline,
        as type: Reply.Type = Reply.self
    ) throws(EtcdFailure) -> Reply {
        let reply = try exchange(path, body, headers, endpoint, deadline)
        if reply.status == 200 { return try EtcdMessage.read(type, reply.body) }
        guard reply.body.count <= Self.longestError,
            let error = try? EtcdMessage.read(ErrorReply.self, reply.body), error.code != 0
        else {
            // From a proxy, perhaps, that has passed the request on, or will soon have a server again.
            throw EtcdFailure("HTTP status \(reply.status), and no answer of etcd", .unknown)
        }
        let code = Int(error.code)
        throw EtcdFailure(
            error.message ?? "code \(code)",
            EtcdFailure.unknownOutcomes.contains(code) ? .unknown : .rejected(code: code))
    }

    private func exchange(
        _ path: String, _ body: String, _ headers: [String: String], _ endpoint: Endpoint, _ deadline: Deadline
    ) throws(EtcdFailure) -> (status: Int, body: Data) {
        let idle = state.withLock { $0.idle[endpoint]?.popLast() }
        // Input on an idle connection is its end, or an answer to nothing that was asked.
        let usable = idle.flatMap { (try? $0.hasInput(until: .now)) == false ? $0 : nil }
        do throws(EtcdFailure) {
            let connection = if let usable { usable } else { try HTTPConnection(to: endpoint, until: deadline) }
            try connection.send(path, headers: headers, body: body, until: deadline)
            let reply = try connection.receive(until: deadline)
            if connection.isReusable {
                state.withLock { state in
                    if state.idle[endpoint]?.count ?? 0 < Self.mostIdle {
                        state.idle[endpoint, default: []].append(connection)
                    }
                }
            }
            return reply
        } catch {
            // The others are probably broken, too.
            state.withLock { $0.idle[endpoint] = nil }
            throw error
        }
    }
}

/// The requests of a store.
extension EtcdClient {
    func commit(_ request: TxnRequest, until deadline: Deadline) throws(EtcdFailure) -> TxnReply {
        try call("/v3/kv/txn", request.json, until: deadline)
    }

    /// Reads ranges in one transaction. A server without space that refuses also such transactions, as those before 3.4.20 and 3.5.7 do,
    /// answers one range after another, all of the same revision.
    func look(
        at ranges: [RangeRequest], at endpoint: Endpoint, until deadline: Deadline
    ) throws(EtcdFailure) -> LookReply {
        do throws(EtcdFailure) {
            let request = TxnRequest(success: ranges.map { .range($0) })
            let reply = try call("/v3/kv/txn", request.json, as: TxnReply.self, at: endpoint, until: deadline)
            guard reply.results.count == ranges.count else { throw EtcdFailure("the answer is not complete") }
            return LookReply(header: reply.header, results: reply.results)
        } catch {
            guard error.isRejected(EtcdFailure.resourceExhausted), let first = ranges.first else { throw error }
            let reply = try range(first, at: endpoint, until: deadline)
            var results = [RangeResult(reply)]
            for var next in ranges.dropFirst() {
                next.revision = reply.revision
                results.append(RangeResult(try range(next, at: endpoint, until: deadline)))
            }
            return LookReply(header: reply.header, results: results)
        }
    }

    func range(_ request: RangeRequest, until deadline: Deadline) throws(EtcdFailure) -> RangeReply {
        try call("/v3/kv/range", request.json, until: deadline)
    }

    func range(
        _ request: RangeRequest, at endpoint: Endpoint, until deadline: Deadline
    ) throws(EtcdFailure) -> RangeReply {
        try call("/v3/kv/range", request.json, at: endpoint, until: deadline)
    }

    /// - Returns: the lease, and its time, which may be longer than the one that was asked for.
    func grantLease(seconds: Int64, until deadline: Deadline) throws(EtcdFailure) -> LeaseReply {
        let lease = try call("/v3/lease/grant", "{\"TTL\":\(seconds)}", as: LeaseReply.self, until: deadline)
        // 0 is no lease: what is put with it would stay for ever.
        guard lease.id != 0 else { throw EtcdFailure("it granted no lease", .unknown) }
        return lease
    }

    /// Ends a lease, and with it the keys that were put with it.
    func revokeLease(_ lease: Int64, until deadline: Deadline) throws(EtcdFailure) {
        _ = try call("/v3/lease/revoke", "{\"ID\":\(lease)}", as: RevokeReply.self, until: deadline)
    }

    /// - Returns: false if the lease has ended.
    func keepLease(_ lease: Int64, until deadline: Deadline) throws(EtcdFailure) -> Bool {
        // Another endpoint may still be in time.
        let reply = try call(
            "/v3/lease/keepalive", "{\"ID\":\(lease)}", as: StreamReply<LeaseReply>.self, until: deadline,
            patience: .seconds(1))
        guard let result = reply.result else { throw EtcdFailure(reply.error?.message ?? "no answer", .unknown) }
        return result.seconds > 0
    }
}
