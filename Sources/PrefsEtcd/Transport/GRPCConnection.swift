import Foundation

/// A method of a service.
struct GRPCMethod: Sendable {
    let path: String
    /// Whether its answer goes on until it is cancelled. The request has no end then: `etcd grpc-proxy` answers nothing after it.
    var isStream = false
}

/// One connection to a server, for one call of gRPC at a time (HTTP/2, RFC 9113, without TLS and push).
///
/// Every operation has a deadline. For one thread; `interrupt` may be called from any.
final class GRPCConnection {
    typealias Deadline = ContinuousClock.Instant

    /// The kinds of frames.
    private enum Frame: UInt8 {
        case data, headers, priority, reset, settings, push, ping, goAway, window, continuation
    }

    let endpoint: Endpoint
    private let descriptor: Int32
    private let identity: Socket.Identity?
    /// What has arrived and was not read yet.
    private var input: ArraySlice<UInt8> = []
    /// Frames that were not sent yet: first, those that begin a connection.
    private var output: [UInt8]

    /// The last call.
    private var stream: UInt32 = 0
    private var reply = Reply()
    /// Whether all of the last request was sent.
    private var isSent = true
    /// A block of header fields whose end has not come yet.
    private var block: (bytes: [UInt8], ends: Bool)?

    /// How many bytes the server takes: of the connection, of the call, and of a call at its begin.
    private var (connectionWindow, streamWindow, firstWindow) = (65_535, 65_535, 65_535)
    /// Bytes of the contents that have come since the server was told of room for more.
    private var received = 0
    private var isLeaving = false
    /// Why the server ends the connection; nil if nothing is wrong.
    private var goAwayReason: String?
    /// Whether the server has sent a frame.
    private var hasBegun = false

    /// Whether the answer has ended.
    var hasEnded: Bool { reply.hasEnded }

    /// The answer to a call, as far as it has come.
    private struct Reply {
        var status: String?
        var code: Int?
        var message = ""
        var isEtcd = false
        var hasEnded = false
        /// What has come of messages that were not taken yet.
        var content: [UInt8] = []
    }

    /// Bytes of the largest message: more than the pages that a store asks for.
    static let mostBytes = 64 << 20
    /// Bytes of a block of header fields.
    private static let mostHeaderBytes = 64 << 10
    /// Bytes of the contents of a frame, in both directions: the least that HTTP/2 allows.
    private static let frameBytes = 16 << 10
    /// Bytes that a server may send ahead.
    private static let window = 16 << 20
    /// Bytes of frames that wait for the next request.
    private static let mostOutput = 1 << 10
    private static let preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

    init(to endpoint: Endpoint, until deadline: Deadline) throws(EtcdFailure) {
        self.endpoint = endpoint
        output = Array(Self.preface.utf8)
        descriptor = try Socket.connect(to: endpoint, until: deadline)
        identity = Socket.Identity(of: descriptor)
        // No table of header fields, no push, and the window of each call.
        append(.settings, [0, 1, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 4] + Self.bytes(Self.window))
        append(.window, Self.bytes(Self.window - 65_535))
    }

    deinit {
        // A forked child may have a copy of the descriptor, which would keep the connection open.
        interrupt()
        if isOpen { close(descriptor) }
    }

    /// False after the program has closed all descriptors, as daemons do. The number may be another file's then.
    private var isOpen: Bool { identity != nil && Socket.Identity(of: descriptor) == identity }

    /// Breaks the connection, which ends what another thread waits for.
    func interrupt() {
        if isOpen { shutdown(descriptor, Int32(SHUT_RDWR)) }
    }

    // MARK: - Calls

    /// Begins a call, with the messages of its request.
    func call(
        _ method: GRPCMethod, token: String?, _ messages: [[UInt8]], until deadline: Deadline
    ) throws(EtcdFailure) {
        stream += stream == 0 ? 1 : 2
        (reply, isSent, streamWindow) = (Reply(), false, firstWindow)
        var headers = HeaderEncoder()
        headers.add(method.path, endpoint: endpoint)
        // A server that knows no leader answers at once.
        headers.add("hasleader", "true")
        if let token { headers.add("token", token) }
        if !method.isStream {
            let left = max(1, min((deadline - .now) / .milliseconds(1), 99_999_999))
            headers.add("grpc-timeout", "\(Int(left.rounded(.up)))m")
        }
        // It ends here.
        append(.headers, flags: 4, of: stream, headers.bytes)
        var rest = messages.reduce(into: [] as [UInt8]) { $0 += [0] + Self.bytes($1.count) + $1 }[...]
        repeat {
            let count = min(rest.count, Self.frameBytes, connectionWindow, streamWindow)
            guard count > 0 else {
                // The server has to make room first, or has answered already.
                guard try !isOver(until: deadline) else { return }
                continue
            }
            let isLast = count == rest.count
            append(.data, flags: isLast && !method.isStream ? 1 : 0, of: stream, rest.prefix(count))
            (connectionWindow, streamWindow) = (connectionWindow - count, streamWindow - count)
            rest = rest.dropFirst(count)
            try flush(until: deadline)
        } while !rest.isEmpty
        isSent = true
    }

    /// Waits for a frame while the request is not sent completely.
    ///
    /// - Returns: whether the answer has ended.
    private func isOver(until deadline: Deadline) throws(EtcdFailure) -> Bool {
        try flush(until: deadline)
        try receiveFrame(until: deadline)
        return reply.hasEnded
    }

    /// The next message of the answer; nil at its end.
    ///
    /// - Throws: also the error that the server answers with.
    func receive(until deadline: Deadline) throws(EtcdFailure) -> ArraySlice<UInt8>? {
        while true {
            if let message = try nextMessage() { return message }
            if reply.hasEnded { return try end() }
            try receiveFrame(until: deadline)
        }
    }

    /// Reads what comes next of the answer.
    ///
    /// - Parameter patience: how long something that has begun may take to go on.
    /// - Returns: false if nothing comes until the deadline.
    func hasProgress(until deadline: Deadline, patience: Duration) throws(EtcdFailure) -> Bool {
        while !reply.hasEnded {
            if input.isEmpty {
                if !output.isEmpty { try flush(until: .now + patience) }
                do throws(EtcdFailure) {
                    try Socket.wait(for: descriptor, POLLIN, until: deadline)
                } catch {
                    if .now >= deadline { return false }
                    throw error
                }
            }
            let former = reply.content.count
            try receiveFrame(until: .now + patience)
            if reply.content.count > former { return true }
            // What keeps the connection alive is no progress.
            if .now >= deadline { return reply.hasEnded }
        }
        return true
    }

    /// The next message, if all of it has come.
    func nextMessage() throws(EtcdFailure) -> ArraySlice<UInt8>? {
        guard reply.isEtcd, reply.content.count >= 5 else { return nil }
        let length = Self.number(reply.content[1..<5])
        guard reply.content[0] == 0 else { throw broken("the answer is compressed") }
        guard length <= Self.mostBytes else { throw .tooLong("the answer", length, Self.mostBytes) }
        guard reply.content.count >= 5 + length else { return nil }
        // Not copied, because it may be large.
        let content = reply.content
        reply.content = Array(content.dropFirst(5 + length))
        return content[5..<(5 + length)]
    }

    /// After the last message.
    private func end() throws(EtcdFailure) -> ArraySlice<UInt8>? {
        if reply.isEtcd, let code = reply.code {
            guard code == 0 else { throw .answer(code, reply.message.removingPercentEncoding ?? reply.message) }
            guard reply.content.isEmpty else { throw broken("the answer is cut") }
            return nil
        }
        throw .status(reply.status ?? "0")
    }

    /// Whether another call may begin. Ends the last one, if its answer has not ended.
    func makeReusable(until deadline: Deadline) -> Bool {
        if isLeaving || stream > 1 << 30 { return false }
        if reply.hasEnded, isSent { return true }
        // Cancelled.
        append(.reset, of: stream, Self.bytes(8))
        reply.hasEnded = true
        return (try? flush(until: deadline)) != nil
    }

    /// Whether the connection can be used after a pause. Reads the frames that have arrived since.
    func isUsable(until deadline: Deadline) -> Bool {
        do throws(EtcdFailure) {
            while .now < deadline {
                while hasWholeFrame { try receiveFrame(until: deadline) }
                guard try fill() else { return !isLeaving }
            }
        } catch {
            // Another one is made.
        }
        return false
    }

    // MARK: - Frames

    private static func bytes(_ number: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }

    private func append(
        _ frame: Frame, flags: UInt8 = 0, of stream: UInt32 = 0, _ content: some Collection<UInt8>
    ) {
        output += Self.bytes(content.count).dropFirst()
        output += [frame.rawValue, flags]
        output += Self.bytes(Int(stream))
        output += content
    }

    /// Sends what was appended.
    private func flush(until deadline: Deadline) throws(EtcdFailure) {
        guard isOpen else { throw EtcdFailure("the program has closed its descriptor") }
        var sent = 0
        defer { output.removeFirst(sent) }
        while sent < output.count {
            let count = output[sent...].withUnsafeBytes {
                send(descriptor, $0.baseAddress, $0.count, SocketSignals.sendFlags)
            }
            if count > 0 {
                sent += count
            } else if count < 0, errno == EAGAIN || errno == EWOULDBLOCK {
                try Socket.wait(for: descriptor, POLLOUT, until: deadline, hasSent: true)
            } else if count == 0 || errno != EINTR {
                throw .call("send", errno, hasSent: true)
            }
        }
    }

    private var hasWholeFrame: Bool { input.count >= 9 && input.count >= 9 + Self.number(input.prefix(3)) }

    /// Waits for a frame, and does what it says.
    private func receiveFrame(until deadline: Deadline) throws(EtcdFailure) {
        while input.count < 9 { try fill(until: deadline) }
        let head = Array(input.prefix(9))
        let length = Self.number(head[0..<3])
        if stream == 1, head.starts(with: Array("HTTP/1.".utf8)) {
            throw EtcdFailure(
                """
                the server speaks HTTP/1 there; use a port of its --listen-client-urls, and let a proxy that encrypts offer \
                h2 (ALPN)
                """)
        }
        guard length <= Self.frameBytes else { throw .tooLong("a frame", length, Self.frameBytes) }
        while input.count < 9 + length { try fill(until: deadline) }
        let content = input.dropFirst(9).prefix(length)
        input = input.dropFirst(9 + length)
        hasBegun = true
        let (kind, flags) = (Frame(rawValue: head[3]), head[4])
        let number = UInt32(Self.number(head[5..<9]) & 0x7FFF_FFFF)
        if block != nil, kind != .continuation { throw broken("a header without an end") }
        switch kind {
        case .data: try receiveData(content, flags, of: number)
        case .headers: try receiveHeaders(content, flags, of: number)
        case .continuation: try receiveBlock(content, flags, of: number)
        case .reset: try receiveReset(content, of: number)
        case .settings: try receiveSettings(content, isAnswer: flags & 1 != 0)
        case .ping:
            guard content.count == 8 else { throw broken("a malformed frame") }
            if flags & 1 == 0 { append(.ping, flags: 1, content) }
        case .goAway:
            guard content.count >= 8 else { throw broken("a malformed frame") }
            isLeaving = true
            // The server has not looked at later calls.
            let last = UInt32(Self.number(content.prefix(4)) & 0x7FFF_FFFF)
            goAwayReason = EtcdFailure.reason(
                ofGoAway: Self.number(content.dropFirst(4).prefix(4)), content.dropFirst(8))
            if !reply.hasEnded, last < stream {
                throw EtcdFailure("the server ends the connection\(goAwayReason.map { " with \($0)" } ?? "")")
            }
        case .window: try receiveWindow(content, of: number)
        case .push: throw broken("a push")
        // Frames that are not known are skipped.
        case .priority, nil: break
        }
        // What is to be sent goes with the next request, or before the next wait.
        if output.count > Self.mostOutput { try flush(until: deadline) }
    }

    /// Without padding.
    private func unpadded(_ content: ArraySlice<UInt8>, _ flags: UInt8) throws(EtcdFailure) -> ArraySlice<UInt8> {
        guard flags & 8 != 0 else { return content }
        guard let padding = content.first, Int(padding) < content.count else { throw broken("a malformed frame") }
        return content.dropFirst().dropLast(Int(padding))
    }

    private func receiveData(_ content: ArraySlice<UInt8>, _ flags: UInt8, of number: UInt32) throws(EtcdFailure) {
        received += content.count
        let data = try unpadded(content, flags)
        // What comes for a call that was cancelled is skipped, and so is what others than etcd say.
        if number == stream, !reply.hasEnded {
            guard reply.status != nil else { throw broken("an answer without a header") }
            if reply.isEtcd { reply.content += data }
            let most = Self.mostBytes + Self.window
            guard reply.content.count <= most else { throw .tooLong("the answer", reply.content.count, most) }
            if flags & 1 != 0 { reply.hasEnded = true }
        }
        guard received >= Self.window / 2 else { return }
        append(.window, Self.bytes(received))
        if !reply.hasEnded { append(.window, of: stream, Self.bytes(received)) }
        received = 0
    }

    private func receiveHeaders(_ content: ArraySlice<UInt8>, _ flags: UInt8, of number: UInt32) throws(EtcdFailure) {
        var fields = try unpadded(content, flags)
        if flags & 0x20 != 0 {
            // A priority.
            guard fields.count >= 5 else { throw broken("a malformed frame") }
            fields = fields.dropFirst(5)
        }
        block = ([], flags & 1 != 0)
        try receiveBlock(fields, flags, of: number)
    }

    private func receiveBlock(_ content: ArraySlice<UInt8>, _ flags: UInt8, of number: UInt32) throws(EtcdFailure) {
        guard var (bytes, ends) = block else { throw broken("a header without a begin") }
        block = nil
        bytes += content
        guard bytes.count <= Self.mostHeaderBytes else {
            throw .tooLong("the header", bytes.count, Self.mostHeaderBytes)
        }
        guard flags & 4 != 0 else { return block = (bytes, ends) }
        let fields = try HeaderDecoder.fields(of: bytes[...])
        guard number == stream, !reply.hasEnded else { return }
        for (name, value) in fields {
            switch name {
            // Preliminary answers are followed by others.
            case ":status": reply.status = value.hasPrefix("1") ? nil : value
            case "content-type": reply.isEtcd = reply.status == "200" && Self.isGRPC(value)
            case "grpc-status": reply.code = Int(value)
            case "grpc-message": reply.message = value
            default: break
            }
        }
        ends = ends && reply.status != nil
        if ends { reply.hasEnded = true }
    }

    /// `application/grpc`, perhaps with a format or a parameter. `application/grpc-web` is another protocol.
    private static func isGRPC(_ contentType: String) -> Bool {
        guard contentType.hasPrefix("application/grpc") else { return false }
        return ["", "+", ";", " "].contains(contentType.dropFirst("application/grpc".count).prefix(1))
    }

    private func receiveReset(_ content: ArraySlice<UInt8>, of number: UInt32) throws(EtcdFailure) {
        guard content.count == 4 else { throw broken("a malformed frame") }
        guard number == stream, !reply.hasEnded else { return }
        reply.hasEnded = true
        let code = Self.number(content)
        // A refused call was not looked at.
        throw code == 7
            ? EtcdFailure("the server refuses the call")
            : broken("the server has ended the call with \(EtcdFailure.text(ofCode: code))")
    }

    private func receiveSettings(_ content: ArraySlice<UInt8>, isAnswer: Bool) throws(EtcdFailure) {
        guard content.count % 6 == 0 else { throw broken("a malformed frame") }
        if isAnswer { return }
        var rest = content
        while !rest.isEmpty {
            let (name, value) = (Self.number(rest.prefix(2)), Self.number(rest.dropFirst(2).prefix(4)))
            rest = rest.dropFirst(6)
            // The window of a call.
            guard name == 4 else { continue }
            guard value < 1 << 31 else { throw broken("a malformed frame") }
            (firstWindow, streamWindow) = (value, streamWindow + value - firstWindow)
        }
        append(.settings, flags: 1, [] as [UInt8])
    }

    private func receiveWindow(_ content: ArraySlice<UInt8>, of number: UInt32) throws(EtcdFailure) {
        guard content.count == 4 else { throw broken("a malformed frame") }
        let growth = Self.number(content) & 0x7FFF_FFFF
        if number == 0 { connectionWindow += growth } else if number == stream { streamWindow += growth }
        guard max(connectionWindow, streamWindow) < 1 << 31 else { throw broken("a window is too large") }
    }

    // MARK: - Input

    private func fill(until deadline: Deadline) throws(EtcdFailure) {
        // Also if there is always more to read.
        guard .now < deadline else { throw broken("no answer in time") }
        if !output.isEmpty { try flush(until: deadline) }
        try Socket.wait(for: descriptor, POLLIN, until: deadline, hasSent: true)
        _ = try fill()
    }

    /// - Returns: false if nothing has come yet.
    private func fill() throws(EtcdFailure) -> Bool {
        while true {
            guard isOpen else { throw broken("the program has closed its descriptor") }
            var (count, code) = (0, Int32(0))
            let part = [UInt8](unsafeUninitializedCapacity: 32 << 10) { space, used in
                count = recv(descriptor, space.baseAddress, space.count, 0)
                code = errno
                used = max(0, count)
            }
            if count > 0 {
                if input.isEmpty { input = part[...] } else { input += part }
                return true
            }
            if count == 0 || code == ECONNRESET, let goAwayReason {
                throw broken("the connection was closed: the server has ended it with \(goAwayReason)")
            }
            if count == 0 {
                let isOther = stream <= 1 && !hasBegun
                throw broken("the connection was closed\(isOther ? " before the server has spoken gRPC" : "")")
            }
            if code == EINTR { continue }
            guard code == EAGAIN || code == EWOULDBLOCK else { throw .call("recv", code, hasSent: true) }
            return false
        }
    }

    private func broken(_ reason: String) -> EtcdFailure { EtcdFailure(reason, .unknown) }
}
