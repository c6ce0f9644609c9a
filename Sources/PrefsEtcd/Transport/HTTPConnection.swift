import Foundation

/// One HTTP/1.1 connection over a TCP socket, for one request at a time.
///
/// Every operation has a deadline. For one thread; `interrupt` may be called from any.
final class HTTPConnection {
    typealias Deadline = ContinuousClock.Instant

    private let endpoint: Endpoint
    private let descriptor: Int32
    private let identity: Socket.Identity?
    /// What has arrived and was not read yet.
    private var buffer: ArraySlice<UInt8> = []
    /// Bytes of the current chunk that were not read yet.
    private var restOfChunk = 0
    private(set) var isReusable = true

    init(to endpoint: Endpoint, until deadline: Deadline) throws(EtcdFailure) {
        self.endpoint = endpoint
        descriptor = try Socket.connect(to: endpoint, until: deadline)
        identity = Socket.Identity(of: descriptor)
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

    // MARK: - Requests

    /// Sends a POST request.
    func send(
        _ path: String, headers: [String: String], body: String, until deadline: Deadline
    ) throws(EtcdFailure) {
        isReusable = false
        guard isOpen else { throw EtcdFailure("the program has closed its descriptor") }
        var head = "POST \(path) HTTP/1.1\r\nHost: \(endpoint)\r\nContent-Type: application/json\r\n"
        for (name, value) in headers { head += "\(name): \(value)\r\n" }
        head += "Content-Length: \(body.utf8.count)\r\n\r\n"
        head += body
        let bytes = Array(head.utf8)
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress, $0.count, SocketSignals.sendFlags)
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

    // MARK: - Replies

    /// The beginning of a reply.
    struct Head {
        var status = 0
        /// nil if the length is unknown.
        var length: Int?
        var isChunked = false
        var closes = false
    }

    /// Bytes of the largest reply, or of a line of it.
    private static let mostBytes = 256 << 20
    private static let mostHeaderBytes = 64 << 10

    /// The status and the body.
    func receive(until deadline: Deadline) throws(EtcdFailure) -> (status: Int, body: Data) {
        let head = try receiveHead(until: deadline)
        var body = Data()
        if head.isChunked {
            while let part = try receivePart(until: deadline) {
                body += part
                guard body.count <= Self.mostBytes else { throw broken("the answer is too long") }
            }
        } else {
            guard let length = head.length else { throw broken("an answer without a length") }
            while body.count < length { body += try take(length - body.count, until: deadline) }
        }
        isReusable = !head.closes && buffer.isEmpty
        return (head.status, body)
    }

    /// The status and the headers that concern the body.
    func receiveHead(until deadline: Deadline) throws(EtcdFailure) -> Head {
        var head = Head()
        repeat {
            let words = try receiveLine(until: deadline).split(separator: " ", maxSplits: 2)
            guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]) else {
                throw broken("the answer is not HTTP/1.1")
            }
            head = Head(status: status)
            head.closes = words[0] == "HTTP/1.0"
            var total = 0
            while case let line = try receiveLine(until: deadline), !line.isEmpty {
                total += line.utf8.count
                guard total <= Self.mostHeaderBytes else { throw broken("the header is too long") }
                try read(header: line, into: &head)
            }
            // Preliminary replies have no body.
        } while (100..<200).contains(head.status)
        return head
    }

    private func read(header line: String, into head: inout Head) throws(EtcdFailure) {
        guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) else { throw broken("a header without a colon") }
        // Comparing the names of all headers costs more than the rest of a reply.
        guard "cCtT".utf8.contains(line.utf8[line.startIndex]) else { return }
        let words = line[line.index(after: colon)...].split { $0 == " " || $0 == "\t" }
        let value = words.count == 1 ? words[0] : ""
        switch line[..<colon].lowercased() {
        case "content-length":
            guard let length = Int(value), (0...Self.mostBytes).contains(length) else {
                throw broken("a wrong Content-Length")
            }
            head.length = length
        case "transfer-encoding": head.isChunked = value.lowercased() == "chunked"
        case "connection": head.closes = head.closes || value.lowercased() == "close"
        default: break
        }
    }

    /// What has come of a body in chunks, at least a byte; nil at its end, after the trailers.
    func receivePart(until deadline: Deadline) throws(EtcdFailure) -> ArraySlice<UInt8>? {
        if restOfChunk == 0 {
            let line = try receiveLine(until: deadline)
            guard let size = Int(line.prefix(while: \.isHexDigit), radix: 16), size <= Self.mostBytes else {
                throw broken("a wrong chunk size")
            }
            if size == 0 {
                while try !receiveLine(until: deadline).isEmpty {}
                return nil
            }
            restOfChunk = size
        }
        let part = try take(restOfChunk, until: deadline)
        restOfChunk -= part.count
        if restOfChunk == 0, try !receiveLine(until: deadline).isEmpty { throw broken("a chunk without an end") }
        return part
    }

    /// Whether something has arrived. Waits for it until the deadline.
    func hasInput(until deadline: Deadline) throws(EtcdFailure) -> Bool {
        if !buffer.isEmpty { return true }
        do throws(EtcdFailure) {
            try Socket.wait(for: descriptor, POLLIN, until: deadline)
            return true
        } catch {
            if .now >= deadline { return false }
            throw error
        }
    }

    private func receiveLine(until deadline: Deadline) throws(EtcdFailure) -> String {
        var searched = 0
        while true {
            if let end = buffer.dropFirst(searched).firstIndex(of: UInt8(ascii: "\n")) {
                let line = buffer[..<end]
                buffer = buffer[(end + 1)...]
                return String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
            }
            searched = buffer.count
            guard searched <= Self.mostHeaderBytes else { throw broken("a line is too long") }
            guard try fill(until: deadline) else { throw broken("the connection was closed") }
        }
    }

    /// What has come of so many bytes, at least one. The rest is not kept in the buffer, so that no reply is in memory twice.
    private func take(_ most: Int, until deadline: Deadline) throws(EtcdFailure) -> ArraySlice<UInt8> {
        if buffer.isEmpty, try !fill(until: deadline) { throw broken("the connection was closed") }
        let part = buffer.prefix(most)
        buffer = buffer[part.endIndex...]
        return part
    }

    /// - Returns: false at the end.
    private func fill(until deadline: Deadline) throws(EtcdFailure) -> Bool {
        while true {
            // Also if there is always more to read.
            guard .now < deadline else { throw broken("no answer in time") }
            guard isOpen else { throw broken("the program has closed its descriptor") }
            var (count, code) = (0, Int32(0))
            let part = [UInt8](unsafeUninitializedCapacity: 16 << 10) { space, used in
                count = recv(descriptor, space.baseAddress, space.count, 0)
                code = errno
                used = max(0, count)
            }
            if count >= 0 {
                if buffer.isEmpty { buffer = part[...] } else { buffer += part }
                return count > 0
            }
            if code == EINTR { continue }
            guard code == EAGAIN || code == EWOULDBLOCK else { throw .call("recv", code, hasSent: true) }
            try Socket.wait(for: descriptor, POLLIN, until: deadline, hasSent: true)
        }
    }

    private func broken(_ reason: String) -> EtcdFailure { EtcdFailure(reason, .unknown) }
}
