import Foundation

/// One transaction of etcd over a connection that is kept, with nothing but the system calls: what a store cannot be faster than.
protocol BareTransaction {
    /// Compares a revision and puts a value.
    func run(value: String) throws
}

/// Its socket, and the key that it puts.
final class BareSocket {
    struct Failure: Error {}

    let descriptor: Int32
    let host: String
    let key: [UInt8]

    /// - Parameter url: of a store, with a number as its host.
    init(url: String) throws {
        let parts = url.dropFirst("etcd://".count).split(separator: "/", maxSplits: 1)
        host = String(parts[0])
        key = Array("\(parts.dropFirst().first ?? "")bare".utf8)
        let ends = host.split(separator: ":")
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(ends.last.flatMap { UInt16($0) } ?? 2_379).bigEndian
        address.sin_addr.s_addr = inet_addr(String(ends[0]))
        // SOCK_STREAM, which is an enumeration on Linux and a number on Apple platforms.
        descriptor = socket(AF_INET, 1, 0)
        var isOn: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else { throw Failure() }
    }

    deinit {
        close(descriptor)
    }

    func write(_ bytes: [UInt8]) throws {
        guard send(descriptor, bytes, bytes.count, 0) == bytes.count else { throw Failure() }
    }

    /// What has come.
    func read() throws -> ArraySlice<UInt8> {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else { throw Failure() }
        return bytes[..<count]
    }
}

/// By the gateway of etcd, in JSON.
struct BareGatewayTransaction: BareTransaction {
    private let socket: BareSocket

    init(url: String) throws {
        socket = try BareSocket(url: url)
    }

    func run(value: String) throws {
        let key = Data(socket.key).base64EncodedString()
        let body = """
            {"compare":[{"key":"\(key)","result":"GREATER","target":"MOD","modRevision":"-1"}],\
            "success":[{"requestPut":{"key":"\(key)","value":"\(Data(value.utf8).base64EncodedString())"}}]}
            """
        try socket.write(
            Array(
                "POST /v3/kv/txn HTTP/1.1\r\nHost: \(socket.host)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
                    .utf8
            ))
        // The answer is short, and comes at once.
        guard String(decoding: try socket.read(), as: UTF8.self).contains("\"succeeded\":true") else {
            throw BareSocket.Failure()
        }
    }
}

/// By gRPC, as the store does.
final class BareCall: BareTransaction {
    private let socket: BareSocket
    private var input: ArraySlice<UInt8> = []
    private var stream = -1

    init(url: String) throws {
        socket = try BareSocket(url: url)
        // The settings are empty. The window is as large as it may be, so that it lasts.
        try socket.write(
            Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + frame(4, 0, of: 0, [])
                + frame(8, 0, of: 0, bytes(Int(Int32.max) - 65_535)))
    }

    func run(value: String) throws {
        stream += 2
        // POST, http, and a block without a table.
        let headers: [UInt8] =
            [0x83, 0x86, 4] + text("/etcdserverpb.KV/Txn") + [1] + text(socket.host) + [0x0F, 0x10]
            + text("application/grpc") + [0] + text("te") + text("trailers")
        let key = [0x1A] + text(socket.key)
        // The revision is greater than -1.
        let compare = [8, 1, 0x10, 2] + key + [0x30] + Array(repeating: 0xFF, count: 9) + [1]
        let put = [0x0A] + text(socket.key) + [0x12] + text(value)
        let message = [0x0A] + text(compare) + [0x12] + text([0x12] + text(put))
        try socket.write(
            frame(1, 4, of: stream, headers) + frame(0, 1, of: stream, [0] + bytes(message.count) + message))
        guard try answer() else { throw BareSocket.Failure() }
    }

    /// Whether the answer says that the comparison holds.
    private func answer() throws -> Bool {
        var content: [UInt8] = []
        while true {
            while input.count < 9 { input += try socket.read() }
            let head = Array(input.prefix(9))
            let length = Int(head[1]) << 8 | Int(head[2])
            while input.count < 9 + length { input += try socket.read() }
            let body = Array(input.dropFirst(9).prefix(length))
            input = input.dropFirst(9 + length)
            switch (head[3], head[4] & 1) {
            case (0, _): content += body
            // The trailers.
            case (1, 1):
                // After the prefix of five bytes and the header of the answer.
                let place = content.count > 6 ? 7 + Int(content[6]) : 0
                return content.dropFirst(place).starts(with: [0x10, 1])
            case (4, 0): try socket.write(frame(4, 1, of: 0, []))
            case (6, 0): try socket.write(frame(6, 1, of: 0, body))
            default: break
            }
        }
    }

    private func frame(_ kind: UInt8, _ flags: UInt8, of stream: Int, _ content: [UInt8]) -> [UInt8] {
        bytes(content.count).dropFirst() + [kind, flags] + bytes(stream) + content
    }

    private func bytes(_ number: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) } }

    /// With its length, which is below 128.
    private func text(_ bytes: some Collection<UInt8>) -> [UInt8] { [UInt8(bytes.count)] + bytes }
    private func text(_ text: String) -> [UInt8] { self.text(text.utf8) }
}
