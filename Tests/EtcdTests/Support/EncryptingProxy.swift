import Foundation
import TestSupport
import Testing

/// What encrypts a fleet as the article "A fleet" recommends: for each node an `etcd grpc-proxy` on a port of the loopback.
final class EncryptingProxy: Reachable, @unchecked Sendable {
    // Unchecked because its processes are only ended by the test that has it.

    let urls: [URL]
    private let cluster: EtcdCluster
    private var processes: [ServerProcess] = []
    private let folder: TemporaryFolder

    /// For `.enabled(if:)`.
    static let isThere = Hazard.canRun(
        "etcd over TLS", if: CertificateAuthority.program != nil,
        else: "openssl is missing; Scripts/tools.sh installs it")

    /// - Parameters:
    ///   - authority: the authority whose certificates it accepts from servers.
    ///   - host: what these certificates have to be for.
    ///   - client: what it shows to the servers.
    init(
        to cluster: EtcdCluster, trusting authority: CertificateAuthority, at host: String = "127.0.0.1",
        as client: CertificateAuthority.Identity?
    ) throws {
        guard let program = EtcdCluster.program else { throw EtcdCluster.Failure(description: "no etcd") }
        self.cluster = cluster
        folder = try TemporaryFolder()
        let ports = cluster.nodes.map { _ in EtcdCluster.freePort() }
        urls = ports.map { loopback($0) }
        for (node, port) in zip(cluster.nodes, ports) {
            var words = [
                program, "grpc-proxy", "start", "--endpoints", "https://\(host):\(node.clientPort)", "--listen-addr",
                "127.0.0.1:\(port)", "--advertise-client-url", "127.0.0.1:\(port)", "--data-dir",
                folder.file("\(port)").path, "--cacert", authority.certificate,
            ]
            if let client { words += ["--cert", client.certificate, "--key", client.key] }
            processes.append(try ServerProcess(words))
        }
        for port in ports { wait { SocketBytes.connect(to: port).map { Foundation.close($0) } != nil } }
    }

    func close() {
        for process in processes { process.kill() }
    }
}
