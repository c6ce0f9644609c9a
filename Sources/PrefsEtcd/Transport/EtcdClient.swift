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
        var idle: [Endpoint: [GRPCConnection]] = [:]
        /// Empty if the cluster has no users.
        var token: String?
    }

    /// Connections to one endpoint that are kept for later requests.
    private static let mostIdle = 4

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
    func call<Reply: EtcdReply>(
        _ method: GRPCMethod, _ request: [UInt8], as reply: Reply.Type = Reply.self, until deadline: Deadline,
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
                let reply = try call(method, request, as: reply, at: endpoints[index], until: min(deadline, end))
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
                if failures % endpoints.count == 0 {
                    RetryPause(afterRounds: failures / endpoints.count).wait(until: deadline)
                }
            }
        }
    }

    /// Sends a request to one endpoint, which carries it out once at most.
    func call<Reply: EtcdReply>(
        _ method: GRPCMethod, _ request: [UInt8], as reply: Reply.Type = Reply.self, at endpoint: Endpoint,
        until deadline: Deadline
    ) throws(EtcdFailure) -> Reply {
        var renewals = 0
        while true {
            do throws(EtcdFailure) {
                return try exchange(method, request, token(at: endpoint, until: deadline), endpoint, deadline)
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

    /// nil if the requests need none.
    func token(at endpoint: Endpoint, until deadline: Deadline) throws(EtcdFailure) -> String? {
        guard let user else { return nil }
        var token = state.withLock { $0.token }
        if token == nil {
            do throws(EtcdFailure) {
                let request = AuthenticateRequest.bytes(name: user.name, password: user.password)
                token = try exchange(
                    .authenticate, request, nil, endpoint, deadline, as: AuthenticateReply.self
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
        return token?.isEmpty == true ? nil : token
    }

    private func exchange<Reply: EtcdReply>(
        _ method: GRPCMethod, _ request: [UInt8], _ token: String?, _ endpoint: Endpoint, _ deadline: Deadline,
        as type: Reply.Type = Reply.self
    ) throws(EtcdFailure) -> Reply {
        let connection = try connection(to: endpoint, until: deadline)
        do throws(EtcdFailure) {
            try connection.call(method, token: token, [request], until: deadline)
            guard let message = try connection.receive(until: deadline) else { throw ProtobufValue.malformed }
            if !method.isStream, try connection.receive(until: deadline) != nil { throw ProtobufValue.malformed }
            keep(connection, until: deadline)
            return try Reply(message)
        } catch {
            if case .rejected = error.kind {
                keep(connection, until: deadline)
            } else {
                // The others are probably broken, too.
                state.withLock { $0.idle[endpoint] = nil }
            }
            throw error
        }
    }

    func connection(to endpoint: Endpoint, until deadline: Deadline) throws(EtcdFailure) -> GRPCConnection {
        while let idle = state.withLock({ $0.idle[endpoint]?.popLast() }) {
            if idle.isUsable(until: deadline) { return idle }
        }
        return try GRPCConnection(to: endpoint, until: deadline)
    }

    /// Keeps a connection for later requests, and ends the call for which it was used.
    func keep(_ connection: GRPCConnection, until deadline: Deadline) {
        guard connection.makeReusable(until: deadline) else { return }
        state.withLock { state in
            if state.idle[connection.endpoint]?.count ?? 0 < Self.mostIdle {
                state.idle[connection.endpoint, default: []].append(connection)
            }
        }
    }
}

/// The requests of a store.
extension EtcdClient {
    func commit(_ request: TxnRequest, until deadline: Deadline) throws(EtcdFailure) -> TxnReply {
        try call(.transaction, request.bytes, until: deadline)
    }

    /// Reads ranges in one transaction. A server without space that refuses also such transactions, as those before 3.4.20 and 3.5.7 do,
    /// answers one range after another, all of the same revision.
    func look(
        at ranges: [RangeRequest], at endpoint: Endpoint, until deadline: Deadline
    ) throws(EtcdFailure) -> TxnReply {
        do throws(EtcdFailure) {
            let request = TxnRequest(success: ranges.map { .range($0) })
            let reply = try call(.transaction, request.bytes, as: TxnReply.self, at: endpoint, until: deadline)
            guard reply.results.count == ranges.count else { throw EtcdFailure("the answer is not complete") }
            return reply
        } catch {
            guard error.isRejected(EtcdFailure.resourceExhausted), let first = ranges.first else { throw error }
            var results = [try range(first, at: endpoint, until: deadline)]
            for var next in ranges.dropFirst() {
                next.revision = results[0].revision
                results.append(try range(next, at: endpoint, until: deadline))
            }
            return TxnReply(header: results[0].header, results: results)
        }
    }

    func range(_ request: RangeRequest, until deadline: Deadline) throws(EtcdFailure) -> RangeReply {
        try call(.range, request.bytes, until: deadline)
    }

    func range(
        _ request: RangeRequest, at endpoint: Endpoint, until deadline: Deadline
    ) throws(EtcdFailure) -> RangeReply {
        try call(.range, request.bytes, at: endpoint, until: deadline)
    }

    /// - Returns: the lease, and its time, which may be longer than the one that was asked for.
    func grantLease(seconds: Int64, until deadline: Deadline) throws(EtcdFailure) -> LeaseReply {
        let lease = try call(
            .grantLease, LeaseRequest.grant(seconds: seconds), as: LeaseReply.self, until: deadline)
        // 0 is no lease: what is put with it would stay for ever.
        guard lease.id != 0 else { throw EtcdFailure("it granted no lease", .unknown) }
        return lease
    }

    /// Ends a lease, and with it the keys that were put with it.
    func revokeLease(_ lease: Int64, until deadline: Deadline) throws(EtcdFailure) {
        _ = try call(.revokeLease, LeaseRequest.of(lease), as: LeaseReply.self, until: deadline)
    }

    /// - Returns: false if the lease has ended.
    func keepLease(_ lease: Int64, until deadline: Deadline) throws(EtcdFailure) -> Bool {
        // Another endpoint may still be in time.
        let reply = try call(
            .keepLease, LeaseRequest.of(lease), as: LeaseReply.self, until: deadline, patience: .seconds(1))
        return reply.seconds > 0
    }
}
