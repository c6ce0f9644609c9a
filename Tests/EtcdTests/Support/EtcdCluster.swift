import Foundation
import PrefsEtcd
import TestSupport
import Testing

/// The URL of a server on a port of the loopback.
func loopback(_ port: Int, scheme: String = "http") -> URL {
    guard let url = URL(string: "\(scheme)://127.0.0.1:\(port)") else { preconditionFailure("no port") }
    return url
}

/// What clients connect to.
protocol Reachable {
    var urls: [URL] { get }
}

extension Reachable {
    func store(_ prefix: String, _ options: EtcdStore.Options = .patient(), lastKnown: URL? = nil) -> EtcdStore {
        EtcdStore(endpoints: urls, prefix: prefix, options: options, lastKnown: lastKnown)
    }
}

/// Nodes of etcd on loopback ports of their own, with their data in a temporary folder.
///
/// The nodes end with this process, however it ends.
final class EtcdCluster: Reachable, @unchecked Sendable {
    // Unchecked because the nodes are only changed by the one test that has the cluster.

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    final class Node {
        let name: String
        let clientPort: Int
        let peerPort: Int
        let url: URL
        fileprivate var process: ServerProcess?

        init(name: String, ports: (Int, Int), scheme: String) {
            self.name = name
            (clientPort, peerPort) = ports
            url = loopback(clientPort, scheme: scheme)
        }

        var peer: String { "http://127.0.0.1:\(peerPort)" }
    }

    let nodes: [Node]
    private let folder: TemporaryFolder
    private let arguments: [String]
    /// Owns the files of the certificates.
    private let authority: CertificateAuthority?
    /// What etcdctl needs.
    private let controlArguments: [String]

    static let program = Child.installed("etcd")
    static let control = Child.installed("etcdctl")

    /// For `.enabled(if:)`, which is asked before the tests begin: the shared node starts meanwhile, so that no thread of the pool waits
    /// for it.
    static let isThere: Bool = {
        let isThere = Hazard.canRun(
            "etcd", if: program != nil && control != nil, else: "etcd is missing; Scripts/tools.sh installs it")
        if isThere { Thread.detachNewThread { _ = shared } }
        return isThere
    }()

    /// Whether all tests of the fleet run. In the usual form, those do not that start nodes or programs of their own, unless PREFS_FLEET asks
    /// for them: they take most of the processor time of all.
    static let isWhole = isThere && (Hazard.isLong || Hazard.count("PREFS_FLEET", default: 0) > 0)

    /// One node that tests share, each with its own prefix.
    static let shared: Result<EtcdCluster, any Error> = Result { try EtcdCluster(nodes: 1) }

    /// One node that tests share which drop former revisions.
    static let compacted: Result<EtcdCluster, any Error> = Result { try EtcdCluster(nodes: 1) }

    /// - Parameter authority: if given, the nodes speak TLS with clients, which need a certificate of it.
    init(nodes count: Int, arguments: [String] = [], authority: CertificateAuthority? = nil) throws {
        folder = try TemporaryFolder()
        self.authority = authority
        if let authority {
            let server = try authority.issue("server")
            let identity = ["--cert-file", server.certificate, "--key-file", server.key]
            self.arguments =
                arguments + identity + ["--trusted-ca-file", authority.certificate, "--client-cert-auth"]
            controlArguments = ["--cacert", authority.certificate, "--cert", server.certificate, "--key", server.key]
        } else {
            (self.arguments, controlArguments) = (arguments, [])
        }
        let scheme = authority == nil ? "http" : "https"
        nodes = (0..<count).map { Node(name: "n\($0)", ports: (Self.freePort(), Self.freePort()), scheme: scheme) }
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
        let words = [
            program, "--name", node.name, "--data-dir", folder.file(node.name).path, "--listen-client-urls",
            "\(node.url)", "--advertise-client-urls", "\(node.url)", "--listen-peer-urls", node.peer,
            "--initial-advertise-peer-urls", node.peer, "--initial-cluster",
            nodes.map { "\($0.name)=\($0.peer)" }.joined(separator: ","), "--heartbeat-interval", "50",
            "--election-timeout", "500", "--log-level", "error",
        ]
        node.process = try ServerProcess(words + arguments, data: folder.file(node.name))
    }

    func kill(_ node: Node) {
        node.process?.kill()
        node.process = nil
    }

    func stop(_ node: Node) { node.process?.stop() }
    func resume(_ node: Node) { node.process?.resume() }

    // MARK: - Control

    @discardableResult
    func control(_ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
        try control(arguments, seconds: 25, sourceLocation)
    }

    private func control(
        _ arguments: [String], seconds: Int, of nodes: [Node]? = nil,
        _ sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> String {
        guard let program = Self.control else { throw Failure(description: "no etcdctl") }
        let seconds = seconds * Patience.slowness
        let endpoints = (nodes ?? self.nodes).map(\.url.absoluteString).joined(separator: ",")
        let result = try Child(
            URL(filePath: program),
            ["--endpoints", endpoints, "--command-timeout", "\(seconds)s"] + controlArguments + arguments,
            environment: ["ETCDCTL_API": "3"]
        ).wait(limit: .seconds(30))
        if result.code == 0 { return result.output }
        let place = "\(sourceLocation.fileID):\(sourceLocation.line)"
        throw Failure(description: "\(place): etcdctl \(arguments): \(result.errors)")
    }

    /// Adds users with all rights, each with its password, and asks for users from now on.
    func addUsers(_ users: String...) throws {
        for user in users {
            try control("user", "add", user)
            try control("user", "grant-role", String(user.prefix { $0 != ":" }), "root")
        }
        try control("auth", "enable")
    }

    /// Drops all revisions before the current one.
    func compact(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let status = try control("get", "-w", "json", "x", sourceLocation: sourceLocation)
        let revision = status.components(separatedBy: "\"revision\":").last?.prefix { $0.isNumber } ?? ""
        do {
            try control("compact", String(revision), sourceLocation: sourceLocation)
        } catch let failure as Failure where failure.description.contains("has been compacted") {
            // Another test has dropped them, and more.
        }
    }

    /// A copy of the data of the only node.
    func save() throws -> String {
        let file = folder.file("copy").path
        try control("snapshot", "save", file)
        return file
    }

    /// Starts the only node again with the data of a copy.
    func restore(_ copy: String) throws {
        let node = nodes[0]
        kill(node)
        let data = folder.file(node.name)
        try FileManager.default.removeItem(at: data)
        try control(
            "snapshot", "restore", copy, "--name", node.name, "--data-dir", data.path, "--initial-cluster",
            "\(node.name)=\(node.peer)", "--initial-advertise-peer-urls", node.peer)
        try start(node)
        try waitUntilHealthy()
    }

    func waitUntilHealthy(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let limit = ContinuousClock.Instant.now + .seconds(25 * Patience.slowness)
        while true {
            do {
                _ = try control(["get", "health"], seconds: 5, sourceLocation)
                return
            } catch  where ContinuousClock.Instant.now < limit {
                poll(nil, 0, 20)
            }
        }
    }

    /// The node that leads; nil if there is none.
    func leader() throws -> Node? {
        for node in nodes where node.process != nil {
            let status = try? control(["endpoint", "status"], seconds: 1, of: [node])
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
                if let descriptor = SocketBytes.bind(to: next) {
                    close(descriptor)
                    return next
                }
            }
        }
    }
}
