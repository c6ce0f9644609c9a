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
        proxy.intercept { _ in LossyProxy.answer(400, #"{"code": 14, "message": "not now"}"#) }
        let failure = #expect(throws: EtcdFailure.self) { try client.keepLease(lease, until: .now + .seconds(1)) }
        #expect(failure?.reason == "not now")
    }

    /// A server of 3.5.30 asks for a token to renew a lease.
    @Test func anExpiredTokenEndsNoLease() throws {
        let lease = try client().grantLease(seconds: 60, until: .now + .seconds(10)).id
        let (renewals, tokens) = (Locked(0), Locked(0))
        proxy.intercept { request in
            if request.contains("Auth/Authenticate") { tokens.next() }
            guard request.contains("Lease/LeaseKeepAlive"), renewals.next() == 1 else { return nil }
            return LossyProxy.answer(
                401, #"{"code":16,"message":"etcdserver: invalid auth token"}"#)
        }
        let client = EtcdClient(
            endpoints: [try Endpoint(proxy.url)], user: .init(name: "root", password: "x"), patience: .seconds(1))
        #expect(try client.keepLease(lease, until: .now + .seconds(10)))
        #expect(renewals.withLock { $0 } == 2 && tokens.withLock { $0 } == 2)
    }

    /// A root is missing only if etcd says so.
    @Test func anEmptyAnswerIsNone() throws {
        proxy.intercept { _ in LossyProxy.answer(200, "{}") }
        let failure = #expect(throws: EtcdFailure.self) { try range(client(), seconds: 1) }
        #expect(failure?.reason == "the answer is not one of etcd")
    }

    /// Fields may come in any order, and some are of a later version.
    @Test func repliesWithOtherFields() throws {
        let header = Field.message(1, Field.number(3, 7) + Field.number(1, .max) + Field.number(4, 2))
        let entry = Field.message(2, Field.number(4, 1) + Field.text(1, "a") + Field.text(99, "x"))
        // Numbers of fixed size, which etcd does not use.
        let fixed = Field.tag(30, 1) + [1, 2, 3, 4, 5, 6, 7, 8] + Field.tag(31, 5) + [1, 2, 3, 4]
        let range = Field.message(1, Field.number(4, 2) + fixed + entry)
        let message = Field.message(3, Field.message(2, [])) + Field.message(3, range) + Field.number(2, 1) + header
        let reply = try TxnReply(message[...])
        #expect(reply.revision == 7 && reply.term == 2 && reply.succeeded)
        #expect(reply.results.map(\.count) == [2] && reply.ranges[0].map(\.key) == [Data("a".utf8)])
        // Nothing of it is a reply without its end, which is the header.
        for length in 0..<message.count {
            #expect(throws: (any Error).self, "\(length)") { try TxnReply(message.prefix(length)) }
        }
    }

    /// A token is sent in a header, to which it must not add fields.
    @Test func tokensThatAreNoTokens() throws {
        func token(_ text: String) throws -> String {
            try AuthenticateReply((Field.message(1, []) + Field.text(2, text))[...]).token
        }
        #expect(try token("abc.12") == "abc.12")
        for text in ["a\r\nHost: b", "a\0", "\u{e9}", "a b", String(repeating: "x", count: 8_193)] {
            #expect(throws: (any Error).self) { try token(text) }
        }
    }

    /// A value of another kind is an error, and so is a number for which there is no next one.
    @Test(
        arguments: [
            [0xFF], Field.tag(1, 3), Field.tag(1, 2) + [5, 0], Field.tag(1, 2) + Array(repeating: 0xFF, count: 9) + [1],
            Array(repeating: 0x80, count: 11), Field.number(1, 7), Field.message(1, []) + Field.text(2, "true"),
            Field.message(1, []) + Field.number(3, 1), Field.message(1, Field.number(3, .max)),
            Field.message(1, []) + Field.message(3, Field.message(1, Field.number(2, 1))),
            Field.message(1, []) + Field.tag(2, 1) + [1, 2, 3], Field.message(1, []) + Field.tag(2, 7),
            (0..<100_000).reduce(into: [] as [UInt8]) { message, _ in message += Field.tag(1, 2) + [1] },
        ] as [[UInt8]])
    func repliesOfAnotherKind(_ message: [UInt8]) throws {
        #expect(throws: (any Error).self) { try TxnReply(message[...]) }
    }

    /// An endpoint may have a name, and the name several addresses.
    @Test func aNameOfAHost() throws {
        let url = try #require(URL(string: "http://localhost:\(proxy.port)"))
        #expect(try range(client(url)).revision > 0)
    }
}

/// Fields of protobuf.
enum Field {
    static func varint(_ number: UInt64) -> [UInt8] {
        number < 128 ? [UInt8(number)] : [UInt8(number & 127) | 128] + varint(number >> 7)
    }

    static func tag(_ field: UInt64, _ kind: UInt64) -> [UInt8] { varint(field << 3 | kind) }
    static func number(_ field: UInt64, _ number: Int64) -> [UInt8] {
        tag(field, 0) + varint(UInt64(bitPattern: number))
    }
    static func message(_ field: UInt64, _ bytes: [UInt8]) -> [UInt8] {
        tag(field, 2) + varint(UInt64(bytes.count)) + bytes
    }
    static func text(_ field: UInt64, _ text: String) -> [UInt8] { message(field, Array(text.utf8)) }
}
