import Foundation
import PrefsPropertyLists
import TestSupport

/// A proxy between clients and a node that treats some requests badly.
///
/// It understands as much of gRPC as clients of etcd need. A thread for each connection, and a connection to the node for each request.
final class LossyProxy: Reachable, @unchecked Sendable {
    // Unchecked because a lock protects the generator and the counters.

    enum Fault: CaseIterable {
        /// The request does not arrive.
        case lostRequest
        /// The request is carried out, and the answer is lost.
        case lostReply
        /// The answer ends in the middle.
        case cutReply
        /// The answer comes late.
        case lateReply
        /// The request arrives again, when the answer is there already.
        case doubled
        /// The request arrives long after the client has lost its connection.
        case lateRequest
    }

    let port: Int
    private let target: Int
    private let descriptor: Int32
    private let isOpen = Locked(true)
    private let lock = NSLock()
    private var generator: SeededGenerator
    private var percent: Int
    private var counts: [Fault: Int] = [:]
    private var isBlocked = false
    private var isSlow = false
    private var holdsWatches = false
    private var silenced: Set<Int32> = []
    private var interceptor: (@Sendable (String) -> String?)?
    private var requests: [Request] = []
    /// All requests by their texts.
    private var known: [String: Request] = [:]
    private var openStreams: Set<Int32> = []

    var url: URL { loopback(port) }
    var urls: [URL] { [url] }

    /// - Parameter percent: of requests that are treated badly.
    init(to target: Int, percent: Int = 0, seed: UInt64 = 1) throws {
        port = EtcdCluster.freePort()
        guard let descriptor = SocketBytes.listen(on: port) else { throw EtcdCluster.Failure(description: "no port") }
        self.descriptor = descriptor
        self.target = target
        self.percent = percent
        generator = SeededGenerator(seed: seed)
        Thread.detachNewThread { [self] in
            while true {
                let client = accept(descriptor, nil, nil)
                SocketBytes.sendAtOnce(client)
                if client < 0 {
                    if errno == EINTR { continue }
                    // Not closed by `close()`: another proxy could have the descriptor before this thread is back here.
                    Foundation.close(descriptor)
                    return
                }
                Thread.detachNewThread { self.serve(client) }
            }
        }
    }

    /// Ends the proxy, and with it the thread that accepts: connections are refused.
    func close() {
        if isOpen.take() { shutdown(descriptor, Int32(SHUT_RDWR)) }
    }

    /// Sends all requests again that have come so far, in their order.
    func replay() {
        for request in lock.withLock({ requests }) { _ = exchange(request) }
    }

    /// Refuses requests, and ends the streams, until `unblock`.
    func block() {
        let streams = lock.withLock {
            isBlocked = true
            return openStreams
        }
        for stream in streams { shutdown(stream, Int32(SHUT_RDWR)) }
    }

    func unblock() {
        lock.withLock { isBlocked = false }
    }

    /// Passes nothing on any more of the streams that there are, and leaves them open.
    func silenceStreams() {
        lock.withLock { silenced = openStreams }
    }

    /// Passes no watch on from now on, and answers nothing. Other calls of the same connections are answered.
    func holdWatches() {
        lock.withLock { holdsWatches = true }
    }

    /// Passes all streams on slowly: 1 KiB after another, 200 of them in a second at most.
    func slowDown() {
        lock.withLock { isSlow = true }
    }

    /// Calls the closure with each request before it is passed on: `KV/Txn` or another method behind the word `call`, its token if it has
    /// one, and the message in the JSON of etcd's gateway. If the closure returns an answer, that is sent instead, and the connection is
    /// closed if the answer is empty.
    func intercept(_ interceptor: @escaping @Sendable (String) -> String?) {
        lock.withLock { self.interceptor = interceptor }
    }

    /// Ends the watch, and keeps it from beginning again, until `intercept`. Other requests are passed on.
    func withoutWatch() {
        block()
        intercept { Self.isOfTheWatch($0) ? Self.answer(503) : nil }
        unblock()
    }

    /// Whether a request comes from the watch. It reads everything again, too, which puts nothing.
    static func isOfTheWatch(_ request: String) -> Bool {
        request.contains("Watch/Watch") || request.contains("KV/Txn") && !request.contains("requestPut")
    }

    /// Calls the closure with the numbers of the requests that read or write, beginning with 1.
    func answer(_ answer: @escaping @Sendable (_ number: Int, String) -> String?) {
        let count = Locked(0)
        intercept { $0.contains("KV/") ? answer(count.next(), $0) : nil }
    }

    /// Counts requests that are passed on from now on.
    func count(where isCounted: @escaping @Sendable (String) -> Bool) -> Locked<Int> {
        let count = Locked(0)
        intercept { request in
            if isCounted(request) { count.next() }
            return nil
        }
        return count
    }

    /// Calls the closure with the first request that contains a text. All others are passed on.
    func interceptFirst(_ text: String, _ interceptor: @escaping @Sendable (String) -> String?) {
        let isFirst = Locked(true)
        intercept { $0.contains(text) && isFirst.take() ? interceptor($0) : nil }
    }

    /// Carries a request out, and loses the answer.
    func carryOut(_ request: String) {
        if let request = lock.withLock({ known[request] }) { _ = exchange(request) }
    }

    /// A whole answer: a message of etcd in JSON, an error of etcd, `{"code": 9, "message": "no"}`, or another server's, which has no code.
    static func answer(_ status: Int, _ body: String = "") -> String { "\(status) \(body)" }

    /// A stream with one message, and its end.
    static func stream(_ message: String) -> String { answer(200, message) }

    /// Treats all requests well from now on.
    func behave() {
        lock.withLock { percent = 0 }
    }

    var faults: [Fault: Int] { lock.withLock { counts } }

    private func nextFault() -> Fault? {
        lock.withLock {
            guard Int.random(in: 0..<100, using: &generator) < percent else { return nil }
            let fault = Fault.allCases.randomElement(using: &generator)
            if let fault { counts[fault, default: 0] += 1 }
            return fault
        }
    }

    private func random(_ range: ClosedRange<Int>) -> Int {
        lock.withLock { Int.random(in: range, using: &generator) }
    }

    // MARK: - A connection

    private struct Request {
        let text: String
        let method: String
        let frames: [Frame]
        var isStream: Bool { method == "Watch/Watch" }
    }

    private func serve(_ client: Int32) {
        defer { Foundation.close(client) }
        guard let connection = FramedSocket(client, isClient: false) else { return }
        while let (request, stream) = Self.readRequest(from: connection) {
            lock.lock()
            known[request.text] = request
            let isRefused = isBlocked
            if !isRefused {
                openStreams.insert(client)
                silenced.remove(client)
            }
            lock.unlock()
            guard !isRefused, isOpen.withLock({ $0 }) else { return }
            defer { lock.withLock { _ = openStreams.remove(client) } }
            guard serve(request, stream, connection) else { return }
        }
    }

    /// - Returns: false if the connection is to be closed.
    private func serve(_ request: Request, _ stream: UInt32, _ client: FramedSocket) -> Bool {
        if let answer = lock.withLock({ interceptor })?(request.text) {
            return write(Self.frames(of: answer, to: request.method), to: client, stream)
        }
        if request.method == "Watch/Watch", lock.withLock({ holdsWatches }) { return true }
        if !request.isStream { lock.withLock { requests.append(request) } }
        guard let fault = nextFault() else { return relay(request, to: client, stream) }
        if request.isStream {
            // Cut after a while.
            _ = relay(request, to: client, stream, limit: random(200...2_000))
            return false
        }
        switch fault {
        case .lostRequest: return false
        case .lostReply:
            _ = exchange(request)
            return false
        case .cutReply:
            let reply = exchange(request).flatMap { Self.frame($0, of: stream).bytes }
            SocketBytes.write(Array(reply.prefix(reply.count / 2)), to: client.descriptor)
            return false
        case .lateReply:
            let reply = exchange(request)
            poll(nil, 0, Int32(random(100...400)))
            return write(reply, to: client, stream)
        case .doubled:
            guard write(exchange(request), to: client, stream) else { return false }
            poll(nil, 0, Int32(random(0...50)))
            _ = exchange(request)
            return true
        case .lateRequest:
            shutdown(client.descriptor, Int32(SHUT_RDWR))
            poll(nil, 0, Int32(random(20...500)))
            _ = exchange(request)
            return false
        }
    }

    /// A request whose frames have come, without the end of the request if it is a watch.
    private static func readRequest(from client: FramedSocket) -> (Request, UInt32)? {
        var frames: [Frame] = []
        var (path, token) = ("", "")
        while let frame = client.next() {
            if frame.kind == Frame.headers {
                let fields = fields(of: frame.content)
                path = fields[":path"] ?? ""
                token = fields["token"].map { "token \($0) " } ?? ""
                frames = []
            }
            guard frame.kind <= Frame.headers, !path.isEmpty else { continue }
            frames.append(frame)
            let content = frames.dropFirst().flatMap(\.content)
            let method = path.components(separatedBy: "etcdserverpb.").last ?? ""
            let isStream = ["Watch/Watch", "Lease/LeaseKeepAlive"].contains(method)
            guard isStream ? content.count > 5 : frame.flags & Frame.endsStream != 0 else { continue }
            var (rest, texts) = (content[...], [] as [String])
            while rest.count >= 5 {
                let length = Frame.number(rest.dropFirst().prefix(4))
                texts.append(EtcdMessages.json(ofRequest: Array(rest.dropFirst(5).prefix(length)), to: method))
                rest = rest.dropFirst(5 + length)
            }
            let text = "call \(method) \(token)\(texts.joined(separator: " "))"
            return (Request(text: text, method: method, frames: frames), frame.stream)
        }
        return nil
    }

    /// The fields that the client writes: some have a number for their name.
    private static func fields(of block: [UInt8]) -> [String: String] {
        let names: [UInt8: String] = [1: ":authority", 4: ":path", 31: "content-type"]
        var (rest, fields) = (block[...], [:] as [String: String])
        func number(_ most: UInt8) -> Int {
            guard let first = rest.popFirst(), first & most == most else {
                return Int(block[rest.startIndex - 1] & most)
            }
            var (number, shift) = (Int(most), 0)
            while let byte = rest.popFirst() {
                number += Int(byte & 127) << shift
                shift += 7
                if byte < 128 { break }
            }
            return number
        }
        func text() -> String {
            let length = number(127)
            defer { rest = rest.dropFirst(length) }
            return String(decoding: rest.prefix(length), as: UTF8.self)
        }
        while let first = rest.first {
            if first & 0x80 != 0 {
                rest = rest.dropFirst()
                continue
            }
            let index = number(15)
            let name = index == 0 ? text() : names[UInt8(index)] ?? ""
            fields[name] = text()
        }
        return fields
    }

    /// An answer of a test.
    private static func frames(of answer: String, to method: String) -> [Frame] {
        guard let space = answer.firstIndex(of: " ") else { return [] }
        let (status, body) = (String(answer[..<space]), String(answer[answer.index(after: space)...]))
        let object = try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]
        if let code = object?["code"] as? Int {
            let message = (object?["message"] as? String ?? "").utf8.map { byte in
                (0x20...0x7E).contains(byte) && byte != 0x25
                    ? String(UnicodeScalar(byte)) : "%" + String(byte + 0, radix: 16, uppercase: true).leftPadded
            }
            return [
                .headers(
                    [
                        ":status": "200", "content-type": "application/grpc", "grpc-status": "\(code)",
                        "grpc-message": message.joined(),
                    ], of: 1, flags: Frame.endsStream | Frame.endsHeaders)
            ]
        }
        guard status == "200" else {
            return [.headers([":status": status], of: 1)] + Frame.data(Array(body.utf8), of: 1, endsStream: true)
        }
        let message = Frame.message(EtcdMessages.reply(body, of: method))
        return [.headers([":status": "200", "content-type": "application/grpc"], of: 1)] + Frame.data(message, of: 1)
            + [
                .headers(["grpc-status": "0"], of: 1, flags: Frame.endsStream | Frame.endsHeaders)
            ]
    }

    private static func frame(_ frame: Frame, of stream: UInt32) -> Frame {
        var frame = frame
        frame.stream = stream
        return frame
    }

    /// - Returns: false if there is nothing to write, or nobody to take it.
    private func write(_ frames: [Frame], to client: FramedSocket, _ stream: UInt32) -> Bool {
        let bytes = frames.flatMap { Self.frame($0, of: stream).bytes }
        return !bytes.isEmpty && SocketBytes.write(bytes, to: client.descriptor)
    }

    /// Sends the request and returns the whole reply; nothing if its end does not come.
    private func exchange(_ request: Request) -> [Frame] {
        guard let descriptor = SocketBytes.connect(to: target) else { return [] }
        defer { Foundation.close(descriptor) }
        guard let server = begin(request, descriptor) else { return [] }
        var reply: [Frame] = []
        while let frame = server.next() {
            guard frame.stream == 1 else { return [] }
            reply.append(frame)
            if frame.kind == Frame.reset || frame.kind <= Frame.headers && frame.flags & Frame.endsStream != 0 {
                return reply
            }
        }
        return []
    }

    private func begin(_ request: Request, _ descriptor: Int32) -> FramedSocket? {
        guard let server = FramedSocket(descriptor, isClient: true) else { return nil }
        return server.send(request.frames.map { Self.frame($0, of: 1) }) ? server : nil
    }

    /// Passes the reply on as it comes.
    ///
    /// - Returns: false if the connection is to be closed.
    private func relay(_ request: Request, to client: FramedSocket, _ stream: UInt32, limit: Int = .max) -> Bool {
        guard let descriptor = SocketBytes.connect(to: target) else { return false }
        defer { Foundation.close(descriptor) }
        guard let server = begin(request, descriptor) else { return false }
        var passed = 0
        while passed < limit {
            var awaited = [
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: client.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&awaited, 2, -1) > 0 else { continue }
            if awaited[1].revents != 0 {
                guard let frames = client.available() else { return false }
                // The client wants no more of it.
                if let end = frames.firstIndex(where: { $0.kind == Frame.reset }) {
                    client.pending = Array(frames[(end + 1)...])
                    return true
                }
            }
            guard awaited[0].revents != 0 else { continue }
            guard let frames = server.available() else { return false }
            for frame in frames {
                guard frame.stream == 1, pass(Self.frame(frame, of: stream).bytes, to: client.descriptor) else {
                    return false
                }
                passed += 9 + frame.content.count
                if frame.kind == Frame.reset || frame.kind <= Frame.headers && frame.flags & Frame.endsStream != 0 {
                    return true
                }
            }
        }
        return false
    }

    private func pass(_ part: [UInt8], to client: Int32) -> Bool {
        if lock.withLock({ silenced.contains(client) }) { return true }
        guard lock.withLock({ isSlow }) else { return SocketBytes.write(part, to: client) }
        for start in stride(from: 0, to: part.count, by: 1 << 10) {
            poll(nil, 0, 5)
            guard SocketBytes.write(Array(part[start..<min(start + (1 << 10), part.count)]), to: client) else {
                return false
            }
        }
        return true
    }
}

extension String {
    /// Of two digits at least.
    fileprivate var leftPadded: String { count < 2 ? "0" + self : self }
}

/// Sockets of the loopback.
enum SocketBytes {
    private static func socket() -> Int32 {
        let descriptor = Foundation.socket(AF_INET, 1, 0)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return descriptor
    }

    /// Without waiting for an answer to what was sent before.
    static func sendAtOnce(_ descriptor: Int32) {
        var isOn: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, 4)
    }

    private static func withAddress(
        of port: Int, _ call: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                call($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    /// A socket that is connected to a port of the loopback; nil if nobody listens on it.
    static func connect(to port: Int) -> Int32? {
        let descriptor = socket()
        sendAtOnce(descriptor)
        if withAddress(of: port, { Foundation.connect(descriptor, $0, $1) }) == 0 { return descriptor }
        Foundation.close(descriptor)
        return nil
    }

    /// A socket that listens on a port of the loopback; nil if the port is taken.
    static func listen(on port: Int) -> Int32? {
        guard let descriptor = bind(to: port) else { return nil }
        if Foundation.listen(descriptor, 64) == 0 { return descriptor }
        Foundation.close(descriptor)
        return nil
    }

    /// A socket that is bound to a port of the loopback; nil if somebody listens on it. A child that is being started still has it
    /// for a moment after it was closed. Others may listen on the port nevertheless, because this socket does not.
    static func bind(to port: Int) -> Int32? {
        let descriptor = socket()
        var isOn: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isOn, 4)
        if withAddress(of: port, { Foundation.bind(descriptor, $0, $1) }) == 0 { return descriptor }
        Foundation.close(descriptor)
        return nil
    }

    static func read(from descriptor: Int32) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = recv(descriptor, &bytes, bytes.count, 0)
            if count > 0 { return Array(bytes[..<count]) }
            if count == 0 || errno != EINTR { return nil }
        }
    }

    @discardableResult
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count > 0 { sent += count } else if errno != EINTR { return false }
        }
        return true
    }
}
