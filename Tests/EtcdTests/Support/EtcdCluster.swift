import Foundation
import TestSupport

/// The URL of a server on a port of the loopback.
func loopback(_ port: Int) -> URL {
    guard let url = URL(string: "http://127.0.0.1:\(port)") else { preconditionFailure("no port") }
    return url
}

/// Nodes of etcd on loopback ports of their own, with their data in a temporary folder.
///
/// The nodes end with this process, however it ends: a shell waits for the end of its input, and kills its node then.
final class EtcdCluster: @unchecked Sendable {
    // Unchecked because the nodes are only changed by the one test that has the cluster.

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    final class Node {
        let name: String
        let clientPort: Int
        let peerPort: Int
        fileprivate var process: Process?
        fileprivate var input: Pipe?
        fileprivate(set) var pid: pid_t = 0

        init(name: String, ports: (Int, Int)) {
            self.name = name
            (clientPort, peerPort) = ports
        }

        var url: URL { loopback(clientPort) }
        var peer: String { "http://127.0.0.1:\(peerPort)" }
    }

    let nodes: [Node]
    private let folder: TemporaryFolder
    private let arguments: [String]

    static let program = ["/usr/bin/etcd", "/usr/local/bin/etcd"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }
    static let control = ["/usr/bin/etcdctl", "/usr/local/bin/etcdctl"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    /// For `.enabled(if:)`.
    static let isThere = Hazard.canRun(
        "etcd", if: program != nil && control != nil, else: "etcd is missing; Scripts/etcd.sh installs it")

    /// One node that tests share, each with its own prefix.
    static let shared: Result<EtcdCluster, any Error> = Result { try EtcdCluster(nodes: 1) }

    init(nodes count: Int, arguments: [String] = []) throws {
        folder = try TemporaryFolder()
        self.arguments = arguments
        nodes = (0..<count).map { Node(name: "n\($0)", ports: (Self.freePort(), Self.freePort())) }
        for node in nodes { try start(node) }
        try waitUntilHealthy()
    }

    deinit {
        for node in nodes { kill(node) }
    }

    var urls: [URL] { nodes.map(\.url) }

    /// A new prefix.
    static func prefix() -> String { "t\(UInt64.random(in: 0...(.max)))/" }

    // MARK: - Nodes

    func start(_ node: Node) throws {
        guard let program = Self.program else { throw Failure(description: "no etcd") }
        let process = Process()
        let (input, output) = (Pipe(), Pipe())
        process.executableURL = URL(filePath: "/bin/sh")
        let words = [
            program, "--name", node.name, "--data-dir", folder.file(node.name).path, "--listen-client-urls",
            "\(node.url)", "--advertise-client-urls", "\(node.url)", "--listen-peer-urls", node.peer,
            "--initial-advertise-peer-urls", node.peer, "--initial-cluster",
            nodes.map { "\($0.name)=\($0.peer)" }.joined(separator: ","), "--heartbeat-interval", "50",
            "--election-timeout", "500", "--log-level", "error",
        ]
        process.arguments =
            [
                "-c",
                #""$@" >/dev/null 2>&1 & echo $!; cat >/dev/null; kill -9 $! 2>/dev/null; kill -CONT $! 2>/dev/null"#,
                "sh",
            ] + words
            + arguments
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let pid = pid_t(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw Failure(description: "no process: \(line)")
        }
        (node.process, node.input, node.pid) = (process, input, pid)
    }

    func kill(_ node: Node) {
        guard node.pid != 0 else { return }
        Foundation.kill(node.pid, SIGKILL)
        Foundation.kill(node.pid, SIGCONT)
        try? node.input?.fileHandleForWriting.close()
        node.process?.waitUntilExit()
        (node.process, node.input, node.pid) = (nil, nil, 0)
    }

    func stop(_ node: Node) { Foundation.kill(node.pid, SIGSTOP) }
    func resume(_ node: Node) { Foundation.kill(node.pid, SIGCONT) }

    // MARK: - Control

    @discardableResult
    func control(_ arguments: String...) throws -> String {
        guard let program = Self.control else { throw Failure(description: "no etcdctl") }
        let endpoints = urls.map(\.absoluteString).joined(separator: ",")
        let result = try Child(
            URL(filePath: program), ["--endpoints", endpoints] + arguments, environment: ["ETCDCTL_API": "3"]
        ).wait(limit: .seconds(60))
        guard result.code == 0 else { throw Failure(description: "etcdctl \(arguments): \(result.errors)") }
        return result.output
    }

    func waitUntilHealthy() throws {
        var last: (any Error)?
        for _ in 0..<100 {
            do {
                try control("get", "health")
                return
            } catch {
                last = error
                poll(nil, 0, 100)
            }
        }
        throw last ?? Failure(description: "not healthy")
    }

    /// The node that leads; nil if there is none.
    func leader() throws -> Node? {
        for node in nodes where node.pid != 0 {
            let status = try? Child(
                URL(filePath: Self.control ?? ""),
                ["--endpoints", "\(node.url)", "--command-timeout", "1s", "endpoint", "status"],
                environment: ["ETCDCTL_API": "3"]
            ).wait(limit: .seconds(60)).output
            let columns = (status ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
            if columns.count > 4, columns[4] == "true" { return node }
        }
        return nil
    }

    private static let taken = NSLock()
    nonisolated(unsafe) private static var next = 20_000 + Int(getpid()) * 16 % 9_000

    /// A port below the ephemeral range that nobody listens on.
    static func freePort() -> Int {
        taken.withLock {
            while true {
                next = next >= 31_000 ? 20_000 : next + 1
                if let descriptor = LossyProxy.listen(on: next) {
                    close(descriptor)
                    return next
                }
            }
        }
    }
}
