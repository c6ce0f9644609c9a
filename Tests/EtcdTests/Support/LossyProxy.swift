import Foundation
import PrefsPropertyLists
import TestSupport

/// A proxy between clients and a node that treats some requests badly.
///
/// It understands as much of HTTP as etcd's gateway needs. A thread for each connection.
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
    private var silenced: Set<Int32> = []
    private var interceptor: (@Sendable (String) -> String?)?
    private var requests: [[UInt8]] = []
    private var openStreams: Set<Int32> = []

    var url: URL { loopback(port) }
    var urls: [URL] { [url] }

    /// - Parameter percent: of requests that are treated badly.
    init(to target: Int, percent: Int = 0, seed: UInt64 = 1) throws {
        port = EtcdCluster.freePort()
        guard let descriptor = Self.listen(on: port) else { throw EtcdCluster.Failure(description: "no port") }
        self.descriptor = descriptor
        self.target = target
        self.percent = percent
        generator = SeededGenerator(seed: seed)
        Thread.detachNewThread { [self] in
            while true {
                let client = accept(descriptor, nil, nil)
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

    /// Passes all streams on slowly: 1 KiB after another, 200 of them in a second at most.
    func slowDown() {
        lock.withLock { isSlow = true }
    }

    /// Calls the closure with each request before it is passed on. If it returns an answer, that is sent instead.
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
        request.contains("/v3/watch") || request.contains("/v3/kv/txn") && !request.contains("requestPut")
    }

    /// Calls the closure with the numbers of the requests that read or write, beginning with 1.
    func answer(_ answer: @escaping @Sendable (_ number: Int, String) -> String?) {
        let count = Locked(0)
        intercept { $0.contains("/v3/kv/") ? answer(count.next(), $0) : nil }
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
        _ = exchange(Array(request.utf8))
    }

    /// A whole answer of HTTP.
    static func answer(_ status: Int, _ body: String = "") -> String {
        "HTTP/1.1 \(status) \r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)"
    }

    /// A stream with one message, and its end.
    static func stream(_ message: String) -> String {
        let size = String(message.utf8.count + 1, radix: 16)
        return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(size)\r\n\(message)\n\r\n0\r\n\r\n"
    }

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
        var buffer: [UInt8] = []
        guard let request = Self.readRequest(from: client, &buffer), !lock.withLock({ isBlocked }) else { return }
        lock.withLock {
            openStreams.insert(client)
            silenced.remove(client)
        }
        defer { lock.withLock { _ = openStreams.remove(client) } }
        let isStream = String(decoding: request.prefix(64), as: UTF8.self).contains("/v3/watch")
        if let answer = lock.withLock({ interceptor })?(String(decoding: request, as: UTF8.self)) {
            Self.write(Array(answer.utf8), to: client)
            return
        }
        if !isStream { lock.withLock { requests.append(request) } }
        guard let fault = nextFault() else { return relay(request, to: client) }
        if isStream {
            // Cut after a while.
            return relay(request, to: client, limit: random(200...2_000))
        }
        switch fault {
        case .lostRequest: return
        case .lostReply: _ = exchange(request)
        case .cutReply:
            let reply = exchange(request)
            Self.write(Array(reply.prefix(reply.count / 2)), to: client)
        case .lateReply:
            let reply = exchange(request)
            poll(nil, 0, Int32(random(100...400)))
            Self.write(reply, to: client)
        case .doubled:
            let reply = exchange(request)
            Self.write(reply, to: client)
            poll(nil, 0, Int32(random(0...50)))
            _ = exchange(request)
        case .lateRequest:
            shutdown(client, Int32(SHUT_RDWR))
            poll(nil, 0, Int32(random(20...500)))
            _ = exchange(request)
        }
    }

    /// Sends the request and returns the whole reply.
    private func exchange(_ request: [UInt8]) -> [UInt8] {
        guard let server = Self.connect(to: target) else { return [] }
        defer { Foundation.close(server) }
        Self.write(request, to: server)
        var reply: [UInt8] = []
        while let part = Self.read(from: server) { reply += part }
        return reply
    }

    /// Passes the reply on as it comes.
    private func relay(_ request: [UInt8], to client: Int32, limit: Int = .max) {
        guard let server = Self.connect(to: target) else { return }
        defer { Foundation.close(server) }
        Self.write(request, to: server)
        var passed = 0
        while passed < limit {
            var awaited = [
                pollfd(fd: server, events: Int16(POLLIN), revents: 0),
                pollfd(fd: client, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&awaited, 2, -1) > 0 else { continue }
            // The client says nothing before it has the reply: it has gone.
            if awaited[0].revents == 0 { return }
            guard let part = Self.read(from: server), pass(part, to: client) else { return }
            passed += part.count
        }
    }

    private func pass(_ part: [UInt8], to client: Int32) -> Bool {
        if lock.withLock({ silenced.contains(client) }) { return true }
        guard lock.withLock({ isSlow }) else { return Self.write(part, to: client) }
        for start in stride(from: 0, to: part.count, by: 1 << 10) {
            poll(nil, 0, 5)
            guard Self.write(Array(part[start..<min(start + (1 << 10), part.count)]), to: client) else { return false }
        }
        return true
    }

    // MARK: - Sockets

    private static func socket() -> Int32 {
        let descriptor = Foundation.socket(AF_INET, 1, 0)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return descriptor
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

    /// A request with its body, in which the client asks for the end of the connection.
    private static func readRequest(from client: Int32, _ buffer: inout [UInt8]) -> [UInt8]? {
        while true {
            let text = String(decoding: buffer, as: UTF8.self)
            if let head = text.range(of: "\r\n\r\n") {
                let header = text[..<head.lowerBound]
                let length = header.components(separatedBy: "\r\n")
                    .first { $0.hasPrefix("Content-Length:") }
                    .flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) }
                let size = header.utf8.count + 4 + (length ?? 0)
                if buffer.count >= size {
                    return Array("\(header)\r\nConnection: close\r\n\r\n".utf8) + buffer[(header.utf8.count + 4)..<size]
                }
            }
            guard let more = read(from: client) else { return nil }
            buffer += more
        }
    }

    private static func read(from descriptor: Int32) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = recv(descriptor, &bytes, bytes.count, 0)
            if count > 0 { return Array(bytes[..<count]) }
            if count == 0 || errno != EINTR { return nil }
        }
    }

    @discardableResult
    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
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
