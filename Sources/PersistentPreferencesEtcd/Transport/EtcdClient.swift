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
    /// How long one endpoint may take before the next one is asked.
    private let patience: Duration
    private let state = Guarded(State())

    private struct State {
        var preferred = 0
        var idle: [Endpoint: [HTTPConnection]] = [:]
        var token: String?
    }

    private static let mostIdle = 4
    /// Bytes of an error of etcd.
    private static let longestError = 1 << 20

    init(endpoints: [Endpoint], user: User?, patience: Duration) {
        self.endpoints = endpoints
        self.user = user
        self.patience = patience
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
        var failures = 0
        var former: EtcdFailure?
        while true {
            let endpoint = endpoints[index]
            let isCutShort = ContinuousClock.Instant.now + patience > deadline
            do throws(EtcdFailure) {
                let data = try attempt(path, request, at: endpoint, until: min(deadline, .now + patience))
                let reply = try Self.read(reply, data, from: endpoint)
                if failures > 0 { prefer(index) }
                return reply
            } catch {
                var failure = error
                failure.hadUnknownAttempt = hadUnknownAttempt
                if case .rejected = failure.kind { throw failure }
                if case .unknown = failure.kind { hadUnknownAttempt = true }
                failures += 1
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

    /// Sends a request once, to one endpoint.
    func call<Reply: Decodable>(
        _ path: String, _ request: String, as reply: Reply.Type = Reply.self, at endpoint: Endpoint,
        until deadline: Deadline
    ) throws(EtcdFailure) -> Reply {
        try Self.read(reply, attempt(path, request, at: endpoint, until: deadline), from: endpoint)
    }

    /// Opens a stream of replies at one endpoint.
    func open(
        _ path: String, _ request: String, at endpoint: Endpoint, until deadline: Deadline
    ) throws(EtcdFailure) -> HTTPConnection {
        let headers = try headers(at: endpoint, until: deadline)
        let connection: HTTPConnection
        let head: HTTPConnection.Head
        do throws(ConnectionFailure) {
            connection = try HTTPConnection(to: endpoint, until: deadline)
            try connection.send(path, to: endpoint, headers: headers, body: request, until: deadline)
            head = try connection.receiveHead(until: deadline)
        } catch {
            throw EtcdFailure(kind: .unknown, endpoint: "\(endpoint)", reason: error.reason)
        }
        guard head.status == 200, head.isChunked else {
            throw EtcdFailure(kind: .unknown, endpoint: "\(endpoint)", reason: "HTTP status \(head.status)")
        }
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

    private func attempt(
        _ path: String, _ body: String, at endpoint: Endpoint, until deadline: Deadline
    ) throws(EtcdFailure) -> Data {
        do throws(EtcdFailure) {
            return try exchange(path, body, headers(at: endpoint, until: deadline), endpoint, deadline)
        } catch {
            // A token ends after a while, or with a new server.
            guard user != nil, Self.isInvalidToken(error) else { throw error }
        }
        state.withLock { $0.token = nil }
        return try exchange(path, body, headers(at: endpoint, until: deadline), endpoint, deadline)
    }

    private static func isInvalidToken(_ failure: EtcdFailure) -> Bool {
        failure.isRejected(EtcdFailure.unauthenticated)
            || failure.isRejected(EtcdFailure.invalidArgument)
                && failure.reason.contains("revision of auth store is old")
    }

    private func headers(at endpoint: Endpoint, until deadline: Deadline) throws(EtcdFailure) -> [String: String] {
        // A server that knows no leader answers at once.
        var headers = ["Grpc-Metadata-hasleader": "true"]
        guard let user else { return headers }
        var token = state.withLock { $0.token }
        if token == nil {
            // A dictionary of texts has a form in JSON.
            let request = (try? JSONEncoder().encode(["name": user.name, "password": user.password])) ?? Data()
            do throws(EtcdFailure) {
                let data = try exchange(
                    "/v3/auth/authenticate", String(decoding: request, as: UTF8.self), [:], endpoint, deadline)
                token = try Self.read(AuthenticateReply.self, data, from: endpoint).token
            } catch {
                var failure = error
                // What needs the token was not sent.
                if case .unknown = failure.kind { failure.kind = .unreachable }
                throw failure
            }
            state.withLock { $0.token = token }
        }
        headers["Authorization"] = token
        return headers
    }

    private func exchange(
        _ path: String, _ body: String, _ headers: [String: String], _ endpoint: Endpoint, _ deadline: Deadline
    ) throws(EtcdFailure) -> Data {
        let reply: (status: Int, body: Data)
        do throws(ConnectionFailure) {
            reply = try exchangeOnConnection(path, body, headers, endpoint, deadline)
        } catch {
            throw EtcdFailure(
                kind: error.mayHaveArrived ? .unknown : .unreachable, endpoint: "\(endpoint)", reason: error.reason)
        }
        if reply.status == 200 { return reply.body }
        guard reply.body.count <= Self.longestError,
            let error = try? Self.decoder.decode(ErrorReply.self, from: reply.body), error.code != 0
        else {
            // From a proxy, perhaps, that has passed the request on, or will soon have a server again.
            throw EtcdFailure(
                kind: .unknown, endpoint: "\(endpoint)",
                reason: "HTTP status \(reply.status), and no answer of etcd")
        }
        let code = Int(error.code)
        throw EtcdFailure(
            kind: EtcdFailure.unknownOutcomes.contains(code) ? .unknown : .rejected(code: code),
            endpoint: "\(endpoint)", reason: error.message ?? "code \(error.code)")
    }

    private func exchangeOnConnection(
        _ path: String, _ body: String, _ headers: [String: String], _ endpoint: Endpoint, _ deadline: Deadline
    ) throws(ConnectionFailure) -> (status: Int, body: Data) {
        func exchange(on connection: HTTPConnection) throws(ConnectionFailure) -> (status: Int, body: Data) {
            try connection.send(path, to: endpoint, headers: headers, body: body, until: deadline)
            let reply = try connection.receive(until: deadline)
            if connection.isReusable { keep(connection, endpoint) }
            return reply
        }
        let idle = state.withLock { $0.idle[endpoint]?.popLast() }
        // Input on an idle connection is its end, or an answer to nothing that was asked.
        guard let idle, (try? idle.hasInput(until: .now)) == false else {
            return try exchange(on: HTTPConnection(to: endpoint, until: deadline))
        }
        do throws(ConnectionFailure) {
            return try exchange(on: idle)
        } catch {
            // The others are probably broken, too.
            let others = state.withLock { $0.idle.removeValue(forKey: endpoint) }
            withExtendedLifetime(others) {}
            throw error
        }
    }

    private func keep(_ connection: HTTPConnection, _ endpoint: Endpoint) {
        state.withLock { state in
            if state.idle[endpoint, default: []].count < Self.mostIdle {
                state.idle[endpoint, default: []].append(connection)
            }
        }
    }

    private static let decoder = JSONDecoder()

    static func read<Reply: Decodable>(
        _ type: Reply.Type, _ data: Data, from endpoint: Endpoint
    ) throws(EtcdFailure) -> Reply {
        do {
            return try decoder.decode(type, from: data)
        } catch {
            throw EtcdFailure(kind: .unknown, endpoint: "\(endpoint)", reason: "the answer is not one of etcd")
        }
    }
}
