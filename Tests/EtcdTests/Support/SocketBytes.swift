import Foundation

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

    /// Writes the last bytes. The other end may still send: a close would reset the connection then, and lose them.
    ///
    /// - Returns: true, as an answer after which the connection goes on.
    static func writeLast(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        write(bytes, to: descriptor)
        shutdown(descriptor, Int32(SHUT_WR))
        return true
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
