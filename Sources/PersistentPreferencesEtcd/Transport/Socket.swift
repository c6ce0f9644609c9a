import Dispatch
import Foundation
import PrefsFileEngine
import PrefsPropertyLists

/// Sockets that wait no longer than a deadline.
enum Socket {
    typealias Deadline = ContinuousClock.Instant

    /// Connects to one address of the endpoint's host after another. Each gets an equal share of the time that is left.
    static func connect(to endpoint: Endpoint, until deadline: Deadline) throws(ConnectionFailure) -> Int32 {
        let lookup = try HostLookup.find(endpoint, until: deadline)
        defer { withExtendedLifetime(lookup) {} }
        let addresses = lookup.addresses
        var failure = ConnectionFailure(reason: "cannot find the host")
        for (index, address) in addresses.enumerated() {
            let left = max(.zero, deadline - .now) / (addresses.count - index)
            do throws(ConnectionFailure) {
                return try connect(to: address, until: .now + left)
            } catch {
                failure = error
            }
        }
        throw failure
    }

    private static func connect(to address: addrinfo, until deadline: Deadline) throws(ConnectionFailure) -> Int32 {
        #if os(Linux)
            // At once, because another thread may start a program.
            let type = address.ai_socktype | Int32(SOCK_CLOEXEC.rawValue)
        #else
            let type = address.ai_socktype
        #endif
        let descriptor = SystemCalls.aboveStandardStreams(socket(address.ai_family, type, address.ai_protocol))
        guard descriptor >= 0 else { throw .call("socket", errno) }
        var isConnected = false
        defer { if !isConnected { close(descriptor) } }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
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
    ) throws(ConnectionFailure) {
        var awaited = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        while true {
            let milliseconds = max(0, (deadline - .now) / .milliseconds(1))
            let count = poll(&awaited, 1, Int32(min(milliseconds.rounded(.up), 1e6)))
            if count > 0 { return }
            if count < 0, errno != EINTR { throw .call("poll", errno, hasSent) }
            if count == 0, .now >= deadline {
                throw ConnectionFailure(reason: "no answer in time", mayHaveArrived: hasSent)
            }
        }
    }
}

/// The addresses of a host. `getaddrinfo` knows no deadline, so a thread of its own calls it, unless the host is a number.
final class HostLookup: @unchecked Sendable {
    // Unchecked because one thread fills it, and others read it after the signal.

    private let endpoint: Endpoint
    private let begin = ContinuousClock.Instant.now
    private let isDone = DispatchSemaphore(value: 0)
    private var code: Int32 = 0
    private var list: UnsafeMutablePointer<addrinfo>?

    /// The lookups whose threads are running, so that a host that is not found for long has one thread and not one for each attempt.
    private struct Running {
        var process = LockRegistry.forks
        var lookups: [Endpoint: HostLookup] = [:]
    }

    private static let running = Locked(Running())

    static func find(_ endpoint: Endpoint, until deadline: Socket.Deadline) throws(ConnectionFailure) -> HostLookup {
        let numeric = HostLookup(endpoint)
        if numeric.run(flags: AI_NUMERICHOST) == 0 { return numeric }
        let lookup = running.withLock { running -> HostLookup? in
            if running.process != LockRegistry.forks { running = Running() }
            // One that takes longer does not end any more, perhaps.
            if let lookup = running.lookups[endpoint], .now - lookup.begin < .seconds(60) { return lookup }
            let lookup = HostLookup(endpoint)
            let isRunning = SpareStack.start {
                _ = lookup.run()
                self.running.withLock { if $0.lookups[endpoint] === lookup { $0.lookups[endpoint] = nil } }
                lookup.isDone.signal()
            }
            if isRunning { running.lookups[endpoint] = lookup }
            return isRunning ? lookup : nil
        }
        guard let lookup else { throw ConnectionFailure(reason: "cannot find the host: no thread") }
        guard lookup.isDone.wait(timeout: .now() + max(0, (deadline - .now) / .seconds(1))) == .success else {
            throw ConnectionFailure(reason: "cannot find the host: no answer in time")
        }
        // For the next that waits.
        lookup.isDone.signal()
        guard lookup.code == 0 else {
            throw ConnectionFailure(reason: "cannot find the host: \(String(cString: gai_strerror(lookup.code)))")
        }
        return lookup
    }

    private init(_ endpoint: Endpoint) {
        self.endpoint = endpoint
    }

    deinit {
        if let list { freeaddrinfo(list) }
    }

    private func run(flags: Int32 = 0) -> Int32 {
        var hints = addrinfo()
        // SOCK_STREAM, which is an enumeration on Linux and a number on Apple platforms.
        hints.ai_socktype = 1
        hints.ai_flags = flags
        code = getaddrinfo(endpoint.host, "\(endpoint.port)", &hints, &list)
        return code
    }

    /// Valid as long as this object lives.
    var addresses: [addrinfo] {
        var found: [addrinfo] = []
        var next = list
        while let address = next?.pointee {
            found.append(address)
            next = address.ai_next
        }
        return found
    }
}
