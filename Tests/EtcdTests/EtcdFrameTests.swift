import EngineSupport
import Foundation
import PersistentPreferences
import PrefsPropertyLists
import Testing
import TestSupport

@testable import PrefsEtcd

/// Servers that break the rules of HTTP/2, HPACK, gRPC or protobuf: errors, no crash, and no wait beyond the deadline. Without a cluster.
@Suite(.waits) struct EtcdFrameTests {
    private static let status = Frame.headers([":status": "200", "content-type": "application/grpc"], of: 1)
    private static let end = Frame.headers(["grpc-status": "0"], of: 1, flags: Frame.endsStream | Frame.endsHeaders)
    private static let body = Frame.message(Field.message(1, Field.number(3, 7)))

    private static func frames(_ frames: [Frame]) -> [UInt8] { frames.flatMap(\.bytes) }

    private static func answer(_ content: [UInt8] = body) -> [UInt8] {
        frames([status] + Frame.data(content, of: 1) + [end])
    }

    private func range(
        _ server: ScriptedServer, value: Int = 1, until deadline: ContinuousClock.Instant
    ) -> Result<RangeReply, EtcdFailure> {
        Result { () throws(EtcdFailure) in
            guard let endpoint = try? Endpoint(server.urls[0]) else { throw EtcdFailure("no endpoint") }
            let client = EtcdClient(endpoints: [endpoint], user: nil, patience: .seconds(60))
            // A large request needs room.
            let key = Data(repeating: 0x61, count: value)
            return try client.call(.range, RangeRequest(key: key).bytes, at: endpoint, until: deadline)
        }
    }

    /// Nothing else may come for long.
    @Test func messagesOfOneFrameAreToldAtOnce() throws {
        let created = Field.message(1, Field.number(3, 7)) + Field.number(3, 1)
        let messages = [created] + [8, 9].map { Field.message(1, Field.number(3, $0)) }
        let data = Frame.data(messages.flatMap { Frame.message($0) }, of: 1)
        let server = try ScriptedServer(bytes: Self.frames([Self.status] + data))
        defer { server.close() }
        let endpoint = try Endpoint(server.urls[0])
        let client = EtcdClient(endpoints: [endpoint], user: nil, patience: .seconds(60))
        let deadline = ContinuousClock.now + longestWait
        var stream = try client.open([WatchRange(key: Data("a".utf8))], at: endpoint, until: deadline)
        var heard: [WatchReply] = []
        // The header may come alone.
        while heard.isEmpty { heard = try #require(try stream.receive(until: deadline, patience: longestWait)) }
        #expect(heard.map { $0.header?.revision } == [7, 8, 9])
    }

    private func expectFailure(
        _ server: ScriptedServer, _ name: String, value: Int = 1, in short: Duration? = nil, reason: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        defer { server.close() }
        let deadline = ContinuousClock.now + (short ?? longestWait)
        guard case .failure(let failure) = range(server, value: value, until: deadline) else {
            Issue.record("\(name): no failure", sourceLocation: sourceLocation)
            return
        }
        // Where the answer is only late, the deadline ends the wait. The other faults are reported at once.
        #expect((failure.reason == "no answer in time") == (short != nil), "\(name): \(failure.reason)")
        if let reason { #expect(failure.reason == reason, "\(name)") }
        #expect(.now < deadline + longestWait, "\(name)")
    }

    /// What breaks a rule, and is told at once.
    private static let broken: [(String, [UInt8])] =
        [
            ("HTTP/1", Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)),
            ("a frame that is too long", [0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0, 1]),
            ("an answer without a header", frames(Frame.data(body, of: 1))),
            ("a push", Frame(kind: 5, flags: 4, stream: 1, content: [0, 0, 0, 2]).bytes),
            ("a header without a begin", Frame(kind: 9, flags: 4, stream: 1).bytes),
            (
                "a header without an end",
                frames([Frame(kind: 1, stream: 1), Frame(kind: Frame.ping, content: Array(repeating: 0, count: 8))])
            ),
            (
                "a header that is too long",
                frames([Frame(kind: 1, stream: 1)])
                    + frames(
                        (0..<5).map { _ in Frame(kind: 9, stream: 1, content: Array(repeating: 0, count: 16_384)) })
            ),
            (
                "a header that expands",
                frames([Frame(kind: 1, flags: 4, stream: 1, content: Array(repeating: 0x88, count: 10_000))])
            ),
            (
                "a frame that ends the connection",
                Frame(kind: Frame.goAway, content: Array(repeating: 0, count: 8)).bytes
            ),
            ("a short frame at the end", Frame(kind: Frame.goAway, content: [0, 0, 0, 1]).bytes),
            ("a refused call", Frame(kind: Frame.reset, stream: 1, content: [0, 0, 0, 7]).bytes),
            ("a call that was ended", frames([status, Frame(kind: Frame.reset, stream: 1, content: [0, 0, 0, 2])])),
            (
                "a call that was ended without an error",
                Frame(kind: Frame.reset, stream: 1, content: [0, 0, 0, 0]).bytes
            ),
            ("a short reset", Frame(kind: Frame.reset, stream: 1, content: [0]).bytes),
            ("a short ping", Frame(kind: Frame.ping, content: [0]).bytes),
            ("a short window", Frame(kind: Frame.window, content: [0]).bytes),
            ("a window that is too large", Frame(kind: Frame.window, content: [0x7F, 0xFF, 0xFF, 0xFF]).bytes),
            (
                "a window of a call that is too large",
                Frame(kind: Frame.window, stream: 1, content: [127, 255, 255, 255]).bytes
            ),
            ("settings that are cut", Frame(kind: Frame.settings, content: [0, 4, 0]).bytes),
            (
                "a first window that is too large",
                Frame(kind: Frame.settings, content: [0, 4, 255, 255, 255, 255]).bytes
            ),
            ("padding beyond the frame", frames([status, Frame(kind: 0, flags: 8, stream: 1, content: [9, 0])])),
            ("padding without a length", frames([status, Frame(kind: 0, flags: 8, stream: 1)])),
            ("a priority that is cut", Frame(kind: 1, flags: 0x24, stream: 1, content: [0, 0]).bytes),
            ("no status", frames([status] + Frame.data(body, of: 1, endsStream: true))),
            ("no message", frames([status, end])),
            ("two messages", answer(body + body)),
            ("a message that is cut", answer(Array(body.dropLast()))),
            ("a message that is compressed", answer([1] + body.dropFirst())),
            ("a message that is too long", answer([0, 0xFF, 0xFF, 0xFF, 0xFF] + body)),
            ("a message of another kind", answer(Frame.message([0xFF]))),
            ("an empty message", answer(Frame.message([]))),
            ("a status that is no number", frames([status, .headers(["grpc-status": "x"], of: 1, flags: 5)])),
            ("an error of a proxy", frames([.headers([":status": "502"], of: 1, flags: 5)])),
            ("another content", frames([.headers([":status": "200", "content-type": "text/html"], of: 1, flags: 5)])),
            ("an empty header", frames([Frame(kind: 1, flags: 5, stream: 1)] + Frame.data(body, of: 1))),
        ]
        + [
            "80", "BE", "FF", "FFFFFFFFFFFF", "7F80808080808080", "00", "0001", "000161", "00016105", "008161",
            "0081FF01",
            "0084FFFFFFFF00", "3F01", "C2", "883F01",
        ]
        .map { ("a malformed header \($0)", Frame(kind: 1, flags: 5, stream: 1, content: bytes($0)).bytes) }

    /// What the errors of some say: how much came, and how much may come.
    private static let limits = [
        "a frame that is too long": "a frame is too long: 16777215 bytes, at most 16384",
        "a header that is too long": "the header is too long: 81920 bytes, at most 65536",
        "a header that expands": "the header is too long: 65562 bytes, at most 65536",
        "a message that is too long": "the answer is too long: 4294967295 bytes, at most 67108864",
    ]

    private static func bytes(_ hex: String) -> [UInt8] {
        stride(from: 0, to: hex.count, by: 2).compactMap { UInt8(hex.dropFirst($0).prefix(2), radix: 16) }
    }

    @Test func whatIsBroken() throws {
        // An answer follows, so that a client that does not see the fault ends at once.
        for (name, bytes) in Self.broken {
            expectFailure(try ScriptedServer(bytes: bytes + Self.answer()), name, reason: Self.limits[name])
        }
        // The connection ends in the middle of an answer.
        for length in 0..<Self.answer().count {
            let bytes = Array(Self.answer().prefix(length))
            let server = try ScriptedServer { client, _ in
                SocketBytes.write(bytes, to: client)
                return false
            }
            expectFailure(server, "\(length) bytes")
        }
    }

    private static func endless(_ bytes: [UInt8], within time: Duration) throws -> ScriptedServer {
        try ScriptedServer(endlessly: bytes, for: time * 5, then: answer())
    }

    /// What comes again and again, or never. Each is a test of its own, so that they share the time of the deadline and the processors.
    private static let withoutEnd: KeyValuePairs<String, @Sendable (_ within: Duration) throws -> ScriptedServer> = [
        "settings": { try endless(Frame(kind: Frame.settings).bytes, within: $0) },
        "pings": { try endless(Frame(kind: Frame.ping, content: Array(repeating: 1, count: 8)).bytes, within: $0) },
        "frames of a later version": {
            let unknown = Frame(kind: 0x77, flags: 0xFF, stream: 3, content: Array(repeating: 1, count: 999))
            return try endless(unknown.bytes, within: $0)
        },
        "data of other calls": {
            try endless(Frame(kind: 0, stream: 9, content: Array(repeating: 1, count: 9_999)).bytes, within: $0)
        },
        "preliminary answers": { try endless(Frame.headers([":status": "103"], of: 1).bytes, within: $0) },
        "data without content": { try endless(Frame(kind: 0, stream: 9).bytes, within: $0) },
        "a header without an end": {
            try ScriptedServer(
                first: Frame(kind: 1, stream: 1).bytes, endlessly: Frame(kind: 9, stream: 1).bytes, for: $0 * 5,
                then: Frame(kind: 9, flags: Frame.endsHeaders, stream: 1).bytes + answer())
        },
        "silence": { _ in try ScriptedServer(bytes: []) },
        "silence after a header": { _ in try ScriptedServer(bytes: frames([status])) },
        "a window of zero": { _ in
            try ScriptedServer(begin: Frame(kind: Frame.settings, content: [0, 4, 0, 0, 0, 0]).bytes, bytes: [])
        },
        "a window that does not grow": { _ in try ScriptedServer(bytes: []) },
    ]

    @Test(arguments: withoutEnd.map(\.key)) func whatHasNoEndEndsAtTheDeadline(name: String) throws {
        let short = shortWait(1)
        let server = try #require(Self.withoutEnd.first { $0.key == name }).value(short)
        // A request has no room in a small window.
        expectFailure(server, name, value: name.contains("window") ? 100_000 : 1, in: short)
        if name == "a window that does not grow" { #expect(server.received.withLock { $0 } == 65_535) }
    }

    /// What the rules allow is an answer.
    @Test func whatIsUnusualAndRight() throws {
        let padded = Frame(kind: 0, flags: 8, stream: 1, content: [3] + Self.body + [0, 0, 0])
        let prioritized = Frame(
            kind: 1, flags: 0x2C, stream: 1, content: [2, 0, 0, 0, 0, 16] + Self.status.content + [0, 0])
        let parts = Self.status.content
        let inParts = [
            Frame(kind: 1, stream: 1, content: Array(parts.prefix(3))), Frame(kind: 9, stream: 1),
            Frame(kind: 9, flags: 4, stream: 1, content: Array(parts.dropFirst(3))),
        ]
        let ending = Self.end.content
        let endInParts = [
            Frame(kind: 1, flags: Frame.endsStream, stream: 1, content: Array(ending.prefix(3))),
            Frame(kind: 9, stream: 1, content: Array(ending[3..<5])),
            Frame(kind: 9, flags: 4, stream: 1, content: Array(ending.dropFirst(5))),
        ]
        let preliminary = Frame.headers([":status": "103", "link": "x"], of: 1)
        let bytes = Self.body.map { Frame(kind: 0, stream: 1, content: [$0]) }
        // A table of the size zero; the status by its number; a name and a value that are packed.
        let packed = Frame(
            kind: 1, flags: 4, stream: 1,
            content: [0x20, 0x88, 0x5F, 0x8B] + Self.bytes("1D75D0620D263D4C4D6564"))
        for (name, frames) in [
            ("padding", [prioritized, padded, Self.end]),
            (
                "padding alone",
                [Self.status, Frame(kind: 0, flags: 8, stream: 1, content: [3, 0, 0, 0]), padded, Self.end]
            ),
            ("parts", inParts + [padded, Self.end]),
            ("an end in parts", [Self.status, padded] + endInParts),
            (
                "frames of another call",
                [
                    Self.status, Frame(kind: 0, stream: 9, content: [1, 2, 3]),
                    Frame(kind: Frame.reset, stream: 9, content: [0, 0, 0, 8]), padded,
                    Frame.headers(["grpc-status": "13"], of: 9, flags: 5), Self.end,
                ]
            ),
            ("bytes", [preliminary, Self.status] + bytes + [Frame(kind: 0, stream: 1), Self.end]),
            ("a packed header", [packed, padded, Self.end]),
            (
                "frames that are skipped",
                [
                    Frame(kind: 2, stream: 1, content: [0, 0, 0, 0, 0]), Frame(kind: 0x99, stream: 1), Self.status,
                    Frame(kind: Frame.ping, content: Array(repeating: 0, count: 8)), padded,
                    Frame(kind: Frame.goAway, content: [0, 0, 0, 1, 0, 0, 0, 0]), Self.end,
                ]
            ),
        ] {
            // The connection ends, so that a client that awaits more ends at once.
            let server = try ScriptedServer { client, _ in SocketBytes.writeLast(Self.frames(frames), to: client) }
            defer { server.close() }
            let reply = range(server, until: .now + longestWait)
            #expect((try? reply.get().revision) == 7, "\(name): \(reply)")
        }
    }

    /// What the server has not looked at is not carried out.
    @Test func callsThatWereNotLookedAt() throws {
        for (bytes, mayBeDone) in [
            (Frame(kind: Frame.reset, stream: 1, content: [0, 0, 0, 7]).bytes, false),
            (Frame(kind: Frame.goAway, content: Array(repeating: 0, count: 8)).bytes, false),
            (Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8), false),
            (Frame(kind: Frame.reset, stream: 1, content: [0, 0, 0, 2]).bytes, true),
        ] {
            let server = try ScriptedServer(bytes: bytes)
            defer { server.close() }
            guard case .failure(let failure) = range(server, until: .now + longestWait) else {
                Issue.record("\(bytes)")
                continue
            }
            #expect(failure.mayBeDone == mayBeDone, "\(failure.reason)")
        }
    }

    /// Codes are numbers. Of some nobody knows what became of the request.
    @Test func aCodeSaysWhetherARequestMayHaveBeenDone() throws {
        for code in 1...16 {
            let isRejected = ![1, 2, 4, 13, 14].contains(code)
            let fields: KeyValuePairs = [
                ":status": "200", "content-type": "application/grpc", "grpc-status": "\(code)",
                "grpc-message": "50%25 of %C3%A9",
            ]
            let server = try ScriptedServer(bytes: Frame.headers(fields, of: 1, flags: 5).bytes)
            defer { server.close() }
            guard case .failure(let failure) = range(server, until: .now + longestWait) else {
                Issue.record("\(code)")
                continue
            }
            #expect(failure.isRejected(code) == isRejected && failure.mayBeDone == !isRejected, "\(code)")
            #expect(failure.reason == "50% of \u{e9}")
        }
    }

    /// An answer that comes twice on a connection is not taken for the answer to the next request.
    @Test func anAnswerThatComesTwice() throws {
        let number = Locked(Int64(0))
        let server = try ScriptedServer { client, stream in
            let revision = number.withLock { number in
                number += 1
                return number
            }
            let message = Frame.message(Field.message(1, Field.number(3, revision)))
            let frames = ([Self.status] + Frame.data(message, of: 1) + [Self.end]).map { frame in
                var frame = frame
                frame.stream = stream
                return frame
            }
            return SocketBytes.write(Self.frames(frames + frames), to: client)
        }
        defer { server.close() }
        let client = EtcdClient(endpoints: [try Endpoint(server.urls[0])], user: nil, patience: .seconds(60))
        for revision in 1...20 as ClosedRange<Int64> {
            let request = RangeRequest(key: Data("x".utf8))
            let reply = try client.range(request, at: client.endpoints[0], until: .now + longestWait)
            #expect(reply.revision == revision)
        }
    }

    /// A client that sends a request of 100,000 bytes and, on the same connection, a small one.
    ///
    /// - Returns: the bytes of contents that have come, without those of the small request.
    private func sent(to server: ScriptedServer, atLeast expected: Int = 65_535) throws -> Int {
        let client = EtcdClient(endpoints: [try Endpoint(server.urls[0])], user: nil, patience: .seconds(60))
        let small = RangeRequest(key: Data("x".utf8))
        for request in [RangeRequest(key: Data(repeating: 0x61, count: 100_000)), small] {
            let reply = try client.range(request, at: client.endpoints[0], until: .now + longestWait)
            #expect(reply.revision == 7)
        }
        #expect(server.connections.withLock { $0 } == 1)
        // All of the first request has come before the header of the second one.
        expectEventually(server.headers.withLock { $0.count }, is: 2)
        let rest = 5 + small.bytes.count
        expectEventually(server.received.withLock { $0 }, "at least \(expected + rest)") { $0 >= expected + rest }
        return server.received.withLock { $0 } - rest
    }

    /// Answers each call, before all of it has come, if there is no room.
    private static func server(_ begin: [Frame]) throws -> ScriptedServer {
        let room = Frame(kind: Frame.window, content: Frame.bytes(1 << 20))
        return try ScriptedServer(begin: frames([Frame(kind: Frame.settings), room] + begin)) { client, stream in
            let frames = ([status] + Frame.data(body, of: 1) + [end]).map { frame in
                var frame = frame
                frame.stream = stream
                return frame
            }
            return SocketBytes.write(Self.frames(frames), to: client)
        }
    }

    /// The window of a call is the second of two settings.
    @Test func eachSettingOfAFrameIsTaken() throws {
        let two = Frame(kind: Frame.settings, content: [0, 3, 0, 0, 0, 100, 0, 4] + Frame.bytes(1 << 20))
        let server = try Self.server([two])
        defer { server.close() }
        #expect(try sent(to: server, atLeast: 100_000) > 100_000)
        #expect(server.resets.withLock { $0 } == [])
    }

    /// Room for another call is no room for this one. Of two settings, the second counts, and what was sent counts, too. The call that
    /// is left unfinished is ended before the next one.
    @Test(arguments: [[], [70_000, 80_000]]) func aWindowIsThatOfItsCall(_ settings: [Int]) throws {
        let other = Frame(kind: Frame.window, stream: 9, content: Frame.bytes(1 << 20))
        let server = try Self.server(
            [other] + settings.map { Frame(kind: Frame.settings, content: [0, 4] + Frame.bytes($0)) })
        defer { server.close() }
        let room = settings.last ?? 65_535
        #expect(try sent(to: server, atLeast: room) == room)
        #expect(server.resets.withLock { $0 } == [1])
    }

    /// What keeps the connection alive comes back as it was sent.
    @Test func twoPingsAndTwoSettingsAreAnswered() throws {
        let pings = [[1, 2, 3, 4, 5, 6, 7, 8], [8, 7, 6, 5, 4, 3, 2, 1] as [UInt8]]
        let server = try Self.server(pings.map { Frame(kind: Frame.ping, content: $0) } + [Frame(kind: Frame.settings)])
        defer { server.close() }
        _ = try sent(to: server)
        #expect(server.pongs.withLock { $0 } == pings)
        // A server ends a connection that does not acknowledge its settings.
        #expect(server.acknowledgements.withLock { $0 } == 2)
    }

    // MARK: - HPACK

    /// The examples of RFC 7541, C.4 and C.6, and all bytes.
    @Test func packedTexts() throws {
        func text(_ packed: [UInt8]) throws -> String {
            let length = packed.count < 127 ? [0x80 | UInt8(packed.count)] : [0xFF] + Frame.varint(packed.count - 127)
            let fields = try HeaderDecoder.fields(of: ([0x00, 0x01, 0x61] + length + packed)[...])
            return try #require(fields.first).value
        }
        for (packed, expected) in [
            ("F1E3C2E5F23A6BA0AB90F4FF", "www.example.com"), ("A8EB10649CBF", "no-cache"), ("6402", "302"),
            ("AEC3771A4B", "private"), ("9D29AD171863C78F0B97C8E9AE82AE43D3", "https://www.example.com"),
            ("D07ABE941054D444A8200595040B8166E082A62D1BFF", "Mon, 21 Oct 2013 20:13:21 GMT"), ("", ""),
        ] {
            #expect(try text(Self.bytes(packed)) == expected)
        }
        // What fills the last byte is ones, and less than a byte.
        for packed in ["A8EB10649CBE", "A8EB10649CBFFF"] {
            #expect(throws: EtcdFailure.self) { try text(Self.bytes(packed)) }
        }
        let all = try #require(Data(base64Encoded: Self.packedBytes))
        #expect(try text(Array(all)) == String(decoding: 0...(255 as UInt8), as: UTF8.self))
    }

    /// Every byte once.
    private static let packedBytes =
        "/8f//Y///+L///4////k///+X///5v///n///+j//+r////z///6f///q////9///+v///7P///t///+7///7////w"
        + "////H///8v////v///z////T///9f///2////f///+P///5////r///+1P4/n/r/yr8f6/r+/n/f0suwAImWm3HXn7"
        + "n3//IP+/8/9Q3b1/BhxY8mXNn0adWvZt3b+HHl+c/3/3//w/+f/kX/9HGSQss05unWimo9faxCbe/jz69//7/n/7/9"
        + "////z//m//9L//n//6P//T//9T//1f//s//+t//9r//7f//3P//u///e///r//+////Z///b//6///4P//7v//w///"
        + "i///H//+T//uf/+x//+X//2f//zf//n///v//9r//u//9P//t//+5//+j//9P//e///V//7v//vf//4f/9///3///1"
        + "///s//8H//h//+D//xf//t//+H//93//7//+r//4v//j//+T//+H//y///N///H///g///4f/+v//j//8///8v//o/"
        + "//2f//8X///H///yf//97///v///8v//+P//+3//l//4///+b///wf//+H///n///8X//+X//k//8v///R///0////"
        + "7///4////J///5f/+z///P//t//83//0//+f//0f//z//+r//6///93//+////T///X///q///p///1///+b///s//"
        + "/7f///P///6P///T///6v///X////3///s///9v///u///9////w///7vw=="

    // MARK: - Random bytes

    /// Whatever comes is read or rejected.
    @Test func randomBytes() throws {
        var generator = SeededGenerator(seed: 73)
        let entry = Field.message(2, Field.text(1, "a") + Field.number(3, 9) + Field.text(5, "{}"))
        let messages = [
            Field.message(1, Field.number(3, 7)) + entry,
            Field.message(1, Field.number(3, 7)) + Field.message(3, Field.message(1, entry)) + Field.number(2, 1),
            Field.message(1, Field.number(3, 7)) + Field.number(3, 1) + Field.message(11, Field.number(1, 1) + entry),
        ]
        for _ in 0..<Hazard.count(5_000, long: 500_000) {
            let bytes = changed(messages.randomElement(using: &generator) ?? [], &generator)
            _ = try? RangeReply(bytes[...])
            _ = try? TxnReply(bytes[...])
            _ = try? WatchReply(bytes[...])
            _ = try? LeaseReply(bytes[...])
            _ = try? AuthenticateReply(bytes[...])
            _ = try? HeaderDecoder.fields(of: changed(Self.status.content, &generator)[...])
            let count = Int.random(in: 0..<40, using: &generator)
            let noise = (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
            _ = try? HeaderDecoder.fields(of: noise[...])
            _ = try? TxnReply(noise[...])
        }
    }

    /// Frames with some bytes changed, cut and doubled. Then the connection ends.
    @Test func randomFrames() throws {
        let generator = Locked(SeededGenerator(seed: 73))
        let server = try ScriptedServer { client, _ in
            let bytes = generator.withLock { changed(Self.answer(), &$0) }
            SocketBytes.write(bytes, to: client)
            return false
        }
        defer { server.close() }
        for _ in 0..<Hazard.count(300, long: 30_000) {
            let deadline = ContinuousClock.now + longestWait
            if case .success(let reply) = range(server, until: deadline) { #expect(reply.header != nil) }
            #expect(.now < deadline)
        }
    }
}

private func changed(_ bytes: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<Int.random(in: 0...4, using: &generator) where !bytes.isEmpty {
        let index = Int.random(in: bytes.indices, using: &generator)
        switch Int.random(in: 0..<5, using: &generator) {
        case 0: bytes[index] = UInt8.random(in: .min ... .max, using: &generator)
        case 1: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 2: bytes.remove(at: index)
        case 3: bytes.insert(bytes[index], at: index)
        default: bytes.removeLast(bytes.count - index)
        }
    }
    return bytes
}
