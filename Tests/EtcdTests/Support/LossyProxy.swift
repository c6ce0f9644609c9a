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
