import Foundation
import TestSupport
import Testing

/// A stunnel that is configured as the article "A fleet" recommends: a port on the loopback for each node.
final class Stunnel: Reachable, @unchecked Sendable {
    // Unchecked because its process is only ended by the test that has it.

    let urls: [URL]
    private let cluster: EtcdCluster
    private let process: ServerProcess
    private let folder: TemporaryFolder

    static let program = Child.installed("stunnel")

    /// For `.enabled(if:)`.
    static let isThere = Hazard.canRun(
        "etcd over TLS", if: program != nil && CertificateAuthority.program != nil,
        else: "stunnel or openssl is missing; Scripts/tools.sh installs them")

    /// - Parameters:
    ///   - authority: the authority whose certificates it accepts from servers.
    ///   - address: what these certificates have to be for.
    ///   - client: what it shows to the servers.
    init(
        to cluster: EtcdCluster, trusting authority: CertificateAuthority, checking address: String = "127.0.0.1",
        as client: CertificateAuthority.Identity?
    ) throws {
        guard let program = Self.program else { throw EtcdCluster.Failure(description: "no stunnel") }
        self.cluster = cluster
        folder = try TemporaryFolder()
        var lines = [
            "foreground = quiet", "output = \(folder.file("log").path)", "client = yes",
            "CAfile = \(authority.certificate)", "verifyChain = yes",
        ]
        if let client { lines += ["cert = \(client.certificate)", "key = \(client.key)"] }
        let ports = cluster.nodes.map { _ in EtcdCluster.freePort() }
        for (node, port) in zip(cluster.nodes, ports) {
            lines += [
                "[\(node.name)]", "accept = 127.0.0.1:\(port)", "connect = 127.0.0.1:\(node.clientPort)",
                "checkIP = \(address)",
            ]
        }
        let configuration = folder.file("stunnel.conf")
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: configuration)
        urls = ports.map { loopback($0) }
        process = try ServerProcess([program, configuration.path])
        for port in ports { wait { LossyProxy.connect(to: port).map { Foundation.close($0) } != nil } }
    }

    func close() { process.kill() }

    /// What it has logged.
    var log: String { (try? String(contentsOf: folder.file("log"), encoding: .utf8)) ?? "" }
}
