import Dispatch
import Foundation

/// Sockets that wait no longer than a deadline.
enum Socket {
    typealias Deadline = ContinuousClock.Instant

    /// Tells a socket from another file that has its number later.
    struct Identity: Equatable {
        private let device: dev_t
        private let node: ino_t

        init?(of descriptor: Int32) {
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { return nil }
            (device, node) = (status.st_dev, status.st_ino)
        }
    }

    /// Connects to one address of the endpoint's host after another. Each gets an equal share of the time that is left.
    static func connect(to endpoint: Endpoint, until deadline: Deadline) throws(EtcdFailure) -> Int32 {
        let lookup = try HostLookup.find(endpoint, until: deadline)
        defer { withExtendedLifetime(lookup) {} }
        let addresses = lookup.addresses
        var failure = EtcdFailure("cannot find the host")
        for (index, address) in addresses.enumerated() {
            let left = max(.zero, deadline - .now) / (addresses.count - index)
            do throws(EtcdFailure) {
                return try connect(to: address, until: .now + left)
            } catch {
                failure = error
            }
        }
        throw failure
    }

    private static func connect(to address: addrinfo, until deadline: Deadline) throws(EtcdFailure) -> Int32 {
        let first = socket(address.ai_family, address.ai_socktype | SocketSignals.closeOnExec, address.ai_protocol)
        guard first >= 0 else { throw .call("socket", errno) }
        // The program may have closed its standard streams. What it prints must not go to a server.
        let descriptor = fcntl(first, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
        close(first)
        guard descriptor >= 0 else { throw .call("dup", errno) }
        var isConnected = false
        defer { if !isConnected { close(descriptor) } }
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        var isOn: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
        SocketSignals.disable(on: descriptor)
        if Foundation.connect(descriptor, address.ai_addr, address.ai_addrlen) != 0 {
            guard errno == EINPROGRESS || errno == EINTR else { throw .call("connect", errno) }
            try wait(for: descriptor, POLLOUT, until: deadline)
            var code: Int32 = 0
            var size = socklen_t(MemoryLayout<Int32>.size)
            getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size)
            guard code == 0 else { throw .call("connect", code) }
        }
        isConnected = true
        return descriptor
    }

    /// - Parameters:
    ///   - events: `POLLIN` or `POLLOUT`.
    ///   - hasSent: whether a request may have reached the server if this fails.
    static func wait(
        for descriptor: Int32, _ events: some BinaryInteger, until deadline: Deadline, hasSent: Bool = false
    ) throws(EtcdFailure) {
        var awaited = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        while true {
            let milliseconds = max(0, (deadline - .now) / .milliseconds(1))
            let count = poll(&awaited, 1, Int32(min(milliseconds.rounded(.up), 1e6)))
            if count > 0 { return }
            if count < 0, errno != EINTR { throw .call("poll", errno, hasSent: hasSent) }
            if count == 0, .now >= deadline {
                throw EtcdFailure("no answer in time", hasSent ? .unknown : .unreachable)
            }
        }
    }
}

/// The addresses of a host. `getaddrinfo` knows no deadline, so a thread of its own calls it, unless the host is a number.
///
/// Unchecked because one thread fills it, and another one reads it after the signal.
private final class HostLookup: @unchecked Sendable {
    private let endpoint: Endpoint
    private let isDone = DispatchSemaphore(value: 0)
    private var code: Int32 = 0
    private var list: UnsafeMutablePointer<addrinfo>?

    static func find(_ endpoint: Endpoint, until deadline: Socket.Deadline) throws(EtcdFailure) -> HostLookup {
        let numeric = HostLookup(endpoint)
        numeric.run(flags: AI_NUMERICHOST)
        if numeric.code == 0 { return numeric }
        let lookup = HostLookup(endpoint)
        let isRunning = BackgroundThread.start {
            lookup.run()
            lookup.isDone.signal()
        }
        guard isRunning else { throw EtcdFailure("cannot find the host: no thread") }
        guard lookup.isDone.wait(until: deadline) else {
            throw EtcdFailure("cannot find the host: no answer in time")
        }
        guard lookup.code == 0 else {
            throw EtcdFailure("cannot find the host: \(String(cString: gai_strerror(lookup.code)))")
        }
        return lookup
    }

    private init(_ endpoint: Endpoint) {
        self.endpoint = endpoint
    }

    deinit {
        if let list { freeaddrinfo(list) }
    }

    private func run(flags: Int32 = 0) {
        var hints = addrinfo()
        // SOCK_STREAM, which is an enumeration on Linux and a number on Apple platforms.
        hints.ai_socktype = 1
        hints.ai_flags = flags
        code = getaddrinfo(endpoint.host, "\(endpoint.port)", &hints, &list)
    }

    /// Valid as long as this object lives.
    var addresses: [addrinfo] {
        sequence(first: list) { $0?.pointee.ai_next }.prefix { $0 != nil }.compactMap { $0?.pointee }
    }
}

extension DispatchSemaphore {
    /// - Returns: false if the deadline has passed.
    func wait(until deadline: ContinuousClock.Instant) -> Bool {
        wait(timeout: .now() + max(0, (deadline - .now) / .seconds(1))) == .success
    }
}
