import Foundation

/// One transaction of etcd over a connection that is kept, with nothing but the system calls: what a store cannot be faster than.
final class BareTransaction {
    struct Failure: Error {}

    private let descriptor: Int32
    private let host: String
    private let key: String

    /// - Parameter url: of a store, with a number as its host.
    init(url: String) throws {
        let parts = url.dropFirst("etcd://".count).split(separator: "/", maxSplits: 1)
        host = String(parts[0])
        key = Data("\(parts.dropFirst().first ?? "")bare".utf8).base64EncodedString()
        let ends = host.split(separator: ":")
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(ends.last.flatMap { UInt16($0) } ?? 2_379).bigEndian
        address.sin_addr.s_addr = inet_addr(String(ends[0]))
        // SOCK_STREAM, which is an enumeration on Linux and a number on Apple platforms.
        descriptor = socket(AF_INET, 1, 0)
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

    /// Compares a revision and puts a value.
    func run(value: String) throws {
        let body = """
            {"compare":[{"key":"\(key)","result":"GREATER","target":"MOD","modRevision":"-1"}],\
            "success":[{"requestPut":{"key":"\(key)","value":"\(Data(value.utf8).base64EncodedString())"}}]}
            """
        let request = Array(
            "POST /v3/kv/txn HTTP/1.1\r\nHost: \(host)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8)
        guard send(descriptor, request, request.count, 0) == request.count else { throw Failure() }
        // The answer is short, and comes at once.
        var answer = [UInt8](repeating: 0, count: 4_096)
        let count = recv(descriptor, &answer, answer.count, 0)
        guard count > 0, String(decoding: answer[..<count], as: UTF8.self).contains("\"succeeded\":true") else {
            throw Failure()
        }
    }
}
