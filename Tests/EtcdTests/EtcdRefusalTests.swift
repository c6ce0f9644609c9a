import EngineSupport
import Foundation
import PersistentPreferences
import PrefsStoreKit
import Testing
import TestSupport

@testable import PrefsEtcd

/// What refuses a request: etcd, also behind its proxy, which hides the code; other proxies; the store itself. Without a cluster.
@Suite(.waits) struct EtcdRefusalTests {
    private static func answer(of stream: UInt32, _ message: [UInt8]) -> [UInt8] {
        ([Frame.headers([":status": "200", "content-type": "application/grpc"], of: stream)]
            + Frame.data(Frame.message(message), of: stream)
            + [Frame.headers(["grpc-status": "0"], of: stream, flags: 5)]).flatMap(\.bytes)
    }

    private static let revision = Field.message(1, Field.number(3, 7))

    private func client(_ server: ScriptedServer, user: EtcdClient.User? = nil) throws -> EtcdClient {
        EtcdClient(endpoints: [try Endpoint(server.urls[0])], user: user, patience: .seconds(60))
    }

    private func failure(of server: ScriptedServer, within time: Duration = longestWait) throws -> EtcdFailure {
        let client = try client(server)
        return try #require(throws: EtcdFailure.self) {
            try client.range(RangeRequest(key: Data("x".utf8)), until: .now + time)
        }
    }

    /// The revision that the server answers. Asks once: whatever is wrong is told at once.
    private func revision(_ client: EtcdClient, _ length: Int = 1) throws(EtcdFailure) -> Int64 {
        let request = RangeRequest(key: Data(repeating: 0x61, count: length))
        return try client.range(request, at: client.endpoints[0], until: .now + longestWait).revision
    }

    // MARK: - Codes and words

    @Test(arguments: [
        ("etcdserver: requested lease not found", 5), ("etcdserver: permission denied", 7),
        ("etcdserver: invalid auth token", 16),
        ("etcdserver: mvcc: database space exceeded", 8), ("etcdserver: too many operations in txn request", 3),
        ("etcdserver: request is too large", 3), ("etcdserver: user name is empty", 3),
        ("etcdserver: revision of auth store is old", 3),
        ("etcdserver: authentication is not enabled", 9),
        ("etcdserver: mvcc: required revision has been compacted", 11),
        ("etcdserver: mvcc: required revision is a future revision", 11), ("etcdserver: too large lease TTL", 11),
        ("etcdserver: key is not provided", 3), ("etcdserver: key not found", 3), ("etcdserver: value is provided", 3),
        ("etcdserver: lease is provided", 3), ("etcdserver: duplicate key given in txn request", 3),
        ("etcdserver: authentication failed, invalid user ID or password", 3),
        ("etcdserver: invalid auth management", 3),
        ("etcdserver: too many requests", 8), ("etcdserver: lease already exists", 9),
        ("etcdserver: user name not found", 9),
        ("etcdserver: role is not granted to the user", 9),
        ("etcdserver: permission is not granted to the role", 9),
    ]) func wordsBehindAProxyAreARefusal(_ words: String, code: Int) {
        // As etcd itself, and as its proxy.
        for number in [code, 2] {
            let failure = EtcdFailure.answer(number, words)
            #expect(failure.isRejected(code) && !failure.mayBeDone && failure.reason == words, "\(number)")
        }
    }

    /// Other words, and other numbers than those of gRPC: nobody knows what became of the request.
    @Test(arguments: [
        (2, "etcdserver: no leader"), (2, "etcdserver: request timed out"), (2, "permission denied"), (2, ""),
        (2, "etcdserver: permission denied."), (14, "etcdserver: permission denied"), (17, "x"), (99, "x"), (-1, "x"),
    ]) func otherWordsSayNothing(_ code: Int, words: String) {
        let failure = EtcdFailure.answer(code, words)
        #expect(failure.mayBeDone && !failure.isRejected(code))
        #expect(failure.reason == (words.isEmpty ? "code 2" : words))
    }

    /// Who escapes nothing may say a percent sign.
    @Test func wordsThatAreNotEscaped() throws {
        let server = try ScriptedServer { client, stream in
            let fields: KeyValuePairs = [
                ":status": "200", "content-type": "application/grpc", "grpc-status": "9",
                "grpc-message": "100% of x",
            ]
            return SocketBytes.write(Frame.headers(fields, of: stream, flags: 5).bytes, to: client)
        }
        defer { server.close() }
        #expect(try failure(of: server).reason == "100% of x")
    }

    /// `etcd grpc-proxy` of 3.5.30 tells the time -1. A lease without a number is none: what is put with it would stay for ever.
    @Test(arguments: [(5, 7, true), (5, 0, false), (5, -1, false), (0, 7, false)] as [(Int64, Int64, Bool)])
    func aLeaseWithoutANumberOrATimeIsNone(_ number: Int64, seconds: Int64, isOne: Bool) throws {
        let server = try ScriptedServer { client, stream in
            let lease = Field.message(1, []) + Field.number(2, number) + Field.number(3, seconds)
            return SocketBytes.write(Self.answer(of: stream, lease), to: client)
        }
        defer { server.close() }
        let client = try client(server)
        if number == 0 {
            let failure = #expect(throws: EtcdFailure.self) {
                try client.grantLease(seconds: 7, until: .now + longestWait)
            }
            #expect(failure?.reason == "it granted no lease" && failure?.mayBeDone == true)
        } else {
            #expect(try client.keepLease(number, until: .now + longestWait) == isOne)
        }
    }

    /// What needs a token is not sent before it is there, so an answer that is lost leaves nothing unknown.
    @Test(arguments: [true, false]) func aRequestThatWaitsForATokenIsNotSent(_ hasUser: Bool) throws {
        let server = try ScriptedServer { _, _ in false }
        defer { server.close() }
        let client = try client(server, user: hasUser ? .init(name: "ann", password: "x") : nil)
        #expect(#expect(throws: EtcdFailure.self) { try revision(client) }?.mayBeDone == !hasUser)
    }

    // MARK: - Two servers

    private func client(_ servers: [ScriptedServer]) throws -> EtcdClient {
        let client = EtcdClient(
            endpoints: try servers.map { try Endpoint($0.urls[0]) }, user: nil, patience: .seconds(60))
        client.prefer(0)
        return client
    }

    private static func withoutServer() throws -> ScriptedServer {
        try ScriptedServer { client, stream in
            SocketBytes.write(Frame.headers([":status": "502"], of: stream, flags: 5).bytes, to: client)
        }
    }

    /// The next requests go to the server that has answered.
    @Test func aServerThatHasFailedIsNotTheFirst() throws {
        let first = try Self.withoutServer()
        let second = try ScriptedServer { client, stream in
            SocketBytes.write(Self.answer(of: stream, Self.revision), to: client)
        }
        defer { for server in [first, second] { server.close() } }
        let client = try client([first, second])
        for _ in 0..<3 {
            #expect(try client.range(RangeRequest(key: Data("x".utf8)), until: .now + longestWait).revision == 7)
        }
        #expect([first, second].map { server in server.headers.withLock { $0.count } } == [1, 3])
    }

    /// A lease may still be renewed in time, because a silent server has a second.
    @Test func aRenewalAsksTheNextServer() throws {
        let first = try ScriptedServer(bytes: [])
        let second = try ScriptedServer { client, stream in
            let lease = Field.message(1, []) + Field.number(2, 5) + Field.number(3, 7)
            return SocketBytes.write(Self.answer(of: stream, lease), to: client)
        }
        defer { for server in [first, second] { server.close() } }
        #expect(try client([first, second]).keepLease(5, until: .now + longestWait))
    }

    /// The last attempt had less time than a server may take, and says less than the one before.
    @Test func theReasonOfTheLastWholeAttempt() throws {
        let (first, second) = (try Self.withoutServer(), try ScriptedServer(bytes: []))
        defer { for server in [first, second] { server.close() } }
        let client = try client([first, second])
        let failure = #expect(throws: EtcdFailure.self) {
            try client.range(RangeRequest(key: Data("x".utf8)), until: .now + shortWait(1))
        }
        #expect(failure?.reason == "no answer of etcd: HTTP status 502")
        #expect(failure?.endpoint == "127.0.0.1:\(first.port)")
    }

    // MARK: - Statuses of HTTP

    @Test(arguments: [
        ("400", "no answer of etcd"), ("401", "a proxy before etcd refuses this client"),
        ("403", "a proxy before etcd refuses this client"),
        ("404", "there is no etcd at this address"), ("413", "a proxy before etcd refuses a request of this size"),
        ("431", "a proxy before etcd refuses a request of this size"),
    ]) func aClientErrorEndsTheCall(_ status: String, reason: String) throws {
        let server = try ScriptedServer { client, stream in
            SocketBytes.write(
                Frame.headers([":status": status, "content-type": "text/html"], of: stream, flags: 5).bytes, to: client)
        }
        defer { server.close() }
        let failure = try failure(of: server)
        #expect(failure.reason == "\(reason): HTTP status \(status)" && !failure.mayBeDone)
        #expect(server.headers.withLock { $0.count } == 1)
    }

    /// The pauses grow, so that a client asks seldom.
    @Test(arguments: ["408", "429", "500", "502", "503", "504"]) func anotherStatusIsAskedAgain(_ status: String) throws
    {
        let calls = Locked(0)
        let server = try ScriptedServer { client, stream in
            let isLast = calls.next() == 4
            return SocketBytes.write(
                isLast
                    ? Self.answer(of: stream, Self.revision)
                    : Frame.headers([":status": status], of: stream, flags: 5).bytes,
                to: client)
        }
        defer { server.close() }
        #expect(try client(server).range(RangeRequest(key: Data("x".utf8)), until: .now + longestWait).revision == 7)
        #expect(calls.withLock { $0 } == 4)
    }

    @Test func pausesGrowToASecond() throws {
        for (rounds, most) in [
            (1, 50), (2, 100), (3, 200), (4, 400), (5, 800), (6, 1_000), (7, 1_000), (1_000_000, 1_000),
        ] {
            let lengths = (0..<200).map { _ in RetryPause(afterRounds: rounds).length / .milliseconds(1) }
            #expect(lengths.allSatisfy { (Double(most) / 2...Double(most)).contains($0) }, "\(rounds)")
            // The clients of a fleet do not come back together.
            #expect(Set(lengths).count > 10, "\(rounds)")
        }
        let server = try ScriptedServer { client, stream in
            SocketBytes.write(Frame.headers([":status": "502"], of: stream, flags: 5).bytes, to: client)
        }
        defer { server.close() }
        #expect(try failure(of: server, within: .seconds(3)).mayBeDone)
        // 25 ms, 50, 100, 200, 400 and then 500 at the least, before the last one at the deadline.
        #expect(server.headers.withLock { $0.count } <= 12)
    }

    @Test(arguments: [
        ("application/grpc", true), ("application/grpc+proto", true), ("application/grpc; charset=utf-8", true),
        ("application/grpc-web", false), ("application/grpc-web+proto", false), ("text/plain", false),
    ]) func anotherProtocolIsNoAnswer(_ type: String, isAnswer: Bool) throws {
        let server = try ScriptedServer { client, stream in
            let frames =
                [Frame.headers([":status": "200", "content-type": type], of: stream)]
                + Frame.data(Frame.message(Self.revision), of: stream)
                + [Frame.headers(["grpc-status": "0"], of: stream, flags: 5)]
            return SocketBytes.write(frames.flatMap(\.bytes), to: client)
        }
        defer { server.close() }
        let client = try client(server)
        let reply = Result { () throws(EtcdFailure) in
            try client.call(
                .range, RangeRequest(key: Data("x".utf8)).bytes, as: RangeReply.self, at: client.endpoints[0],
                until: .now + longestWait)
        }
        #expect((try? reply.get().revision == 7) == (isAnswer ? true : nil), "\(reply)")
    }

    /// No answer takes memory without an end.
    @Test func aLongMessageIsRefused() throws {
        let length = Frame.bytes(GRPCConnection.mostBytes + 1)
        let server = try ScriptedServer { client, stream in
            let frames = [
                Frame.headers([":status": "200", "content-type": "application/grpc"], of: stream),
                Frame(kind: Frame.data, stream: stream, content: [0] + length),
            ]
            // A client that awaits the message ends at once.
            return SocketBytes.writeLast(frames.flatMap(\.bytes), to: client)
        }
        defer { server.close() }
        let client = try client(server)
        let failure = #expect(throws: EtcdFailure.self) { try revision(client) }
        #expect(failure?.reason == "the answer is too long: 67108865 bytes, at most 67108864")
    }

    /// What a server, or a proxy, says when it ends a connection or a call: after it has looked at the call, and before.
    @Test(arguments: [
        (
            Frame.goAway, 1, 11, "header too long",
            "the connection was closed: the server has ended it with code 11 (ENHANCE_YOUR_CALM): header too long"
        ),
        (Frame.goAway, 1, 0, "bye", "the connection was closed"),
        (Frame.goAway, 0, 2, "", "the server ends the connection with code 2 (INTERNAL_ERROR)"),
        (Frame.goAway, 0, 0, "bye", "the server ends the connection"),
        (Frame.reset, 0, 6, "", "the server has ended the call with code 6 (FRAME_SIZE_ERROR)"),
        (Frame.reset, 0, 14, "", "the server has ended the call with code 14"),
    ]) func theReasonOfTheServerIsTold(_ kind: UInt8, last: Int, code: Int, words: String, reason: String) throws {
        let server = try ScriptedServer { client, stream in
            let last = kind == Frame.goAway ? Frame.bytes(last) : []
            let frame = Frame(
                kind: kind, stream: kind == Frame.reset ? stream : 0, content: last + Frame.bytes(code) + words.utf8)
            return SocketBytes.writeLast(frame.bytes, to: client)
        }
        defer { server.close() }
        let client = try client(server)
        #expect(#expect(throws: EtcdFailure.self) { try revision(client) }?.reason == reason)
    }

    // MARK: - HTTP/2

    /// A token may be long, as a JWT is, and so may a field that nobody asks for.
    @Test func fieldsOf300Bytes() throws {
        let token = String(repeating: "t", count: 300)
        let server = try ScriptedServer { client, stream in
            let isFirst = stream == 1
            let message = isFirst ? Field.message(1, []) + Field.text(2, token) : Self.revision
            var frames = [
                Frame.headers(
                    [
                        ":status": "200", "x-long": String(repeating: "x", count: 300),
                        "content-type": "application/grpc",
                    ], of: stream)
            ]
            frames += Frame.data(Frame.message(message), of: stream)
            frames.append(Frame.headers(["grpc-status": "0"], of: stream, flags: 5))
            return SocketBytes.write(frames.flatMap(\.bytes), to: client)
        }
        defer { server.close() }
        let client = try client(server, user: .init(name: "ann", password: "x"))
        #expect(try revision(client) == 7)
        let fields = try HeaderDecoder.fields(of: try #require(server.headers.withLock { $0.last })[...])
        #expect(fields.first { $0.name == "token" }?.value == token)
    }

    /// The lengths at which one more byte is needed, of header fields and of messages.
    @Test func aTextOfEachLengthIsReadAsItWasWritten() throws {
        for length in [1, 126, 127, 128, 129, 254, 255, 256, 300, 16_383, 16_384, 16_510, 16_511, 16_512] {
            let text = String(repeating: "t", count: length)
            var encoder = HeaderEncoder()
            encoder.add("token", text)
            let fields = try HeaderDecoder.fields(of: encoder.bytes[...])
            #expect(fields.last.map { $0.name == "token" && $0.value == text } == true, "\(length)")
            #expect(AuthenticateRequest.bytes(name: text, password: "") == Field.text(1, text), "\(length)")
            #expect(LeaseRequest.of(Int64(length)) == Field.number(1, Int64(length)), "\(length)")
        }
        #expect(LeaseRequest.of(.max) == Field.number(1, .max) && LeaseRequest.of(-1) == Field.number(1, -1))
    }

    /// A field by its number, and with a name by its number or as a text: to be stored in a table, or not, or never.
    @Test func aHeaderFieldIsReadInEachForm() throws {
        func fields(_ bytes: [UInt8]) throws -> [[String]] {
            try HeaderDecoder.fields(of: bytes[...]).map { [$0.name, $0.value] }
        }
        for (number, status) in zip(8...14 as ClosedRange<UInt8>, ["200", "204", "206", "304", "400", "404", "500"]) {
            #expect(try fields([0x80 | number]) == [[":status", status]])
        }
        for form in [0x00, 0x10, 0x40] as [UInt8] {
            #expect(try fields([form | 8, 3] + "418".utf8) == [[":status", "418"]], "\(form)")
            #expect(try fields([form, 1] + "a".utf8 + [2] + "bc".utf8) == [["a", "bc"]], "\(form)")
            let contentType = form == 0x40 ? [0x5F] : [form | 15, 16] as [UInt8]
            #expect(try fields(contentType + [1] + "x".utf8) == [["content-type", "x"]], "\(form)")
        }
    }

    /// A server refuses a time of more than eight digits.
    @Test(arguments: [(400_000, 99_999_999), (50, 50_000)])
    func aServerIsToldTheTimeThatIsLeft(_ seconds: Int, most: Int) throws {
        let server = try ScriptedServer { client, stream in
            SocketBytes.write(Self.answer(of: stream, Self.revision), to: client)
        }
        defer { server.close() }
        let client = try client(server)
        let request = RangeRequest(key: Data("x".utf8))
        let begin = ContinuousClock.now
        #expect(try client.range(request, at: client.endpoints[0], until: begin + .seconds(seconds)).revision == 7)
        let passed = Int((ContinuousClock.now - begin) / .milliseconds(1)) + 1
        let fields = try HeaderDecoder.fields(of: try #require(server.headers.withLock { $0.last })[...])
        let time = try #require(fields.first { $0.name == "grpc-timeout" }?.value)
        let (least, found) = (min(1_000 * seconds - passed, most), Int(time.dropLast()) ?? 0)
        #expect(time.hasSuffix("m") && found >= least && found <= most, "\(time)")
    }

    /// Room for more is given to the connection and to the call.
    @Test func aLongAnswerHasRoom() throws {
        let long = Self.revision + Field.message(99, Array(repeating: 0, count: 9 << 20))
        let server = try ScriptedServer { client, stream in
            SocketBytes.write(Self.answer(of: stream, long), to: client)
        }
        defer { server.close() }
        #expect(try revision(client(server)) == 7)
        expectEventually(server.windows.withLock { $0 }, is: [0, 1])
    }

    /// A program that the program starts keeps no connection open.
    @Test func aConnectionIsNotInherited() throws {
        let server = try ScriptedServer(bytes: [])
        defer { server.close() }
        let descriptor = try Socket.connect(to: Endpoint(server.urls[0]), until: .now + longestWait)
        defer { close(descriptor) }
        #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
    }

    /// A server may change the room for calls while a request is on its way.
    @Test func settingsDuringACall() throws {
        @Sendable func room(_ bytes: Int) -> [UInt8] {
            Frame(kind: Frame.settings, content: [0, 4] + Frame.bytes(bytes)).bytes
        }
        let server = try ScriptedServer(begin: room(10)) { client, stream in
            let answer = Self.answer(of: stream, Self.revision)
            return SocketBytes.write(stream == 1 ? answer : room(60_000) + answer, to: client)
        }
        defer { server.close() }
        let client = try client(server)
        // The first request may be on its way before the client has read what the connection begins with. The second one has
        // room for 10 bytes at first.
        for length in [1, 30_000] {
            let before = server.received.withLock { $0 }
            #expect(try revision(client, length) == 7)
            expectEventually(server.received.withLock { $0 }, "at least \(before + length)") { $0 >= before + length }
        }
    }

    /// A connection that a server is about to close is used for no further call.
    ///
    /// - Parameter isBefore: whether it says so before the answer to the call.
    @Test(arguments: [true, false]) func aConnectionThatIsLeftIsNotUsedAgain(_ isBefore: Bool) throws {
        let server = try ScriptedServer { client, stream in
            let leave = Frame(kind: Frame.goAway, content: Frame.bytes(Int(stream)) + [0, 0, 0, 0]).bytes
            let answer = Self.answer(of: stream, Self.revision)
            return SocketBytes.write(isBefore ? leave + answer : answer + leave, to: client)
        }
        defer { server.close() }
        let client = try client(server)
        for count in 1...3 {
            #expect(try revision(client) == 7)
            #expect(server.connections.withLock { $0 } == count)
        }
    }

    // MARK: - Endpoints

    @Test(arguments: [
        ("http://h:0", "has the port 0; expected 1 to 65535"),
        ("http://h:65536", "has the port 65536; expected 1 to 65535"),
        ("http://127.0.0.1:99999", "has the port 99999; expected 1 to 65535"),
        ("http://a%00b:1", "has a blank in its host"),
        ("http://a%20b:1", "has a blank in its host"),
    ]) func anEndpointThatNoHostHas(_ text: String, reason: String) throws {
        let url = try #require(URL(string: text))
        guard case .invalidName(_, reason) = #expect(throws: PrefsError.self, performing: { try Endpoint(url) }) else {
            Issue.record("\(text)")
            return
        }
        let store = EtcdStore(endpoints: [url], prefix: "x/")
        #expect(throws: PrefsError.self) { try store.read(root: "A") }
    }

    @Test func theLastPort() throws {
        #expect(try Endpoint(#require(URL(string: "http://h:65535"))).port == 65_535)
        #expect(try Endpoint(#require(URL(string: "http://h:1"))).port == 1)
        #expect(throws: PrefsError.self) { try EtcdStore(url: "etcd://127.0.0.1:99999/x/") }
    }
}
