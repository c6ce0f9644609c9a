import Foundation
import PrefsPropertyLists
import Testing
import TestSupport

@testable import PrefsEtcd

/// What the transport makes of answers that etcd gives rarely.
@Suite(.waits, .enabled(if: EtcdCluster.isWhole)) final class EtcdTransportTests: FleetSuite {
    private func client(_ url: URL? = nil) throws -> EtcdClient {
        EtcdClient(endpoints: [try Endpoint(url ?? proxy.url)], user: nil, patience: .seconds(1))
    }

    private func range(_ client: EtcdClient, seconds: Int = 10) throws -> RangeReply {
        try client.range(RangeRequest(key: Data("x".utf8)), until: .now + .seconds(seconds))
    }

    /// Only etcd's own word ends a lease: an error does not.
    @Test func anErrorIsNotTheEndOfALease() throws {
        let client = try client()
        let lease = try client.grantLease(seconds: 60, until: .now + .seconds(10)).id
        #expect(try client.keepLease(lease, until: .now + .seconds(10)))
        #expect(try !client.keepLease(lease + 1, until: .now + .seconds(10)))
        proxy.intercept { _ in LossyProxy.answer(200, #"{"error": {"message": "not now"}}"#) }
        let failure = #expect(throws: EtcdFailure.self) { try client.keepLease(lease, until: .now + .seconds(10)) }
        #expect(failure?.reason == "not now")
    }

    /// A server of 3.5.30 asks for a token to renew a lease. It rejects one in another form than for other requests.
    @Test func anExpiredTokenEndsNoLease() throws {
        let lease = try client().grantLease(seconds: 60, until: .now + .seconds(10)).id
        let (renewals, tokens) = (Locked(0), Locked(0))
        proxy.intercept { request in
            if request.contains("/v3/auth/authenticate") { tokens.next() }
            guard request.contains("/v3/lease/keepalive"), renewals.next() == 1 else { return nil }
            return LossyProxy.answer(
                401, #"{"error":{"code":16,"message":"etcdserver: invalid auth token","details":[]}}"#)
        }
        let client = EtcdClient(
            endpoints: [try Endpoint(proxy.url)], user: .init(name: "root", password: "x"), patience: .seconds(1))
        #expect(try client.keepLease(lease, until: .now + .seconds(10)))
        #expect(renewals.withLock { $0 } == 2 && tokens.withLock { $0 } == 2)
    }

    /// A body in chunks is the same however it is cut, and whatever stands beside it.
    @Test func bodiesInChunks() throws {
        let client = try client()
        let body = #"{"header": {"revision": "7"}, "kvs": []}"#
        for size in 1...body.utf8.count {
            var answer = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            for start in stride(from: 0, to: body.utf8.count, by: size) {
                let part = String(decoding: Array(body.utf8)[start..<min(start + size, body.utf8.count)], as: UTF8.self)
                answer += String(part.utf8.count, radix: 16) + ";name=value\r\n" + part + "\r\n"
            }
            let whole = answer + "0\r\nGrpc-Trailer: x\r\n\r\n"
            proxy.intercept { _ in whole }
            #expect(try range(client).revision == 7)
        }
    }

    /// An answer that comes twice on a connection is not taken for the answer to the next request.
    @Test func anAnswerThatComesTwice() throws {
        let number = Locked(0)
        proxy.intercept { _ in
            let body = #"{"header": {"revision": "\#(number.next())"}}"#
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
            return answer + answer
        }
        let client = try client()
        for revision in 1...20 as ClosedRange<Int64> {
            #expect(try range(client).revision == revision)
        }
    }

    /// A root is missing only if etcd says so.
    @Test func anEmptyAnswerIsNone() throws {
        proxy.intercept { _ in LossyProxy.answer(200, "{}") }
        let failure = #expect(throws: EtcdFailure.self) { try range(client(), seconds: 1) }
        #expect(failure?.reason == "the answer is not one of etcd")
    }

    /// JSON may have blanks, escapes, members in any order, and some that this version does not know.
    @Test(arguments: [
        #"{"header":{"revision":"7"},"succeeded":true,"responses":[{"response_range":{"header":{},"count":"2","kvs":[{"key":"YQ=="}]}}]}"#,
        #" { "unknown" : [ { } , [ ] , -1.5e3, "\"}" , null ], "responses" : [ { "response_put" : { } } ,"#
            + "\n\t{\"respons\\u0065_range\" : "
            + #"{ "kvs" : [ { "value" : null , "key" : "YQ==" } ] , "count" : 2 , "header" : { } } } ] ,"#
            + #" "succeeded" : true , "header" : { "raft_term" : null , "revision" : 7 } } "#,
    ])
    func repliesInJSON(_ json: String) throws {
        let reply = try EtcdMessage.read(TxnReply.self, Data(json.utf8))
        #expect(reply.revision == 7 && reply.header.term == 0 && reply.succeeded)
        #expect(reply.results.map(\.count) == [2] && reply.ranges[0].map(\.key) == [Data("a".utf8)])
        // Nothing of it is a reply without its end.
        let text = Data(json.utf8.reversed().drop { $0 == 0x20 }.reversed())
        for length in 0..<text.count {
            #expect(throws: (any Error).self, "\(length)") { try EtcdMessage.read(TxnReply.self, text.prefix(length)) }
        }
    }

    /// Looking for the end of the text at each escape would take longer than the limit of the tests.
    @Test func eightMillionEscapes() throws {
        let count = 8_000_000
        let json = #"{"message": ""# + String(repeating: #"\n"#, count: count) + #"\"", "code": 7}"#
        let reply = try EtcdMessage.read(ErrorReply.self, Data(json.utf8))
        #expect(reply.code == 7 && reply.message?.utf8.count == count + 1)
    }

    /// A token is sent in a header, to which it must not add lines.
    @Test func tokensThatAreNoTokens() throws {
        #expect(try EtcdMessage.read(AuthenticateReply.self, Data(#"{"token": "abc.12"}"#.utf8)).token == "abc.12")
        for text in [#"a\r\nHost: b"#, #"a\u0000"#, "\u{e9}", "a b"] {
            let json = Data(#"{"token": "\#(text)"}"#.utf8)
            #expect(throws: (any Error).self) { try EtcdMessage.read(AuthenticateReply.self, json) }
        }
    }

    /// A value of another kind is an error, and so is a number for which there is no next one.
    @Test(arguments: [
        "[]", #""header""#, "7", #"{"header": []}"#, #"{"header": "x"}"#, #"{"header": {"revision": "x"}}"#,
        #"{"header": {"revision": true}}"#, #"{"header": {"revision": "9223372036854775807"}}"#,
        #"{"header": {}, "succeeded": "true"}"#, #"{"header": {}, "responses": {}}"#, #"{"header": {}} {}"#,
        #"{"header": {}, "responses": [{"response_range": {"header": {}, "kvs": [{"key": "?"}]}}]}"#,
        String(repeating: #"{"header":"#, count: 100_000),
    ])
    func repliesOfAnotherKind(_ json: String) throws {
        #expect(throws: (any Error).self) { try EtcdMessage.read(TxnReply.self, Data(json.utf8)) }
    }

    /// An endpoint may have a name, and the name several addresses.
    @Test func aNameOfAHost() throws {
        let url = try #require(URL(string: "http://localhost:\(proxy.port)"))
        #expect(try range(client(url)).revision > 0)
    }
}
