import EngineSupport
import Foundation
import TestSupport
import Testing

/// What encrypts a fleet as the article "Operating a fleet" shows: on a port of the loopback for each node.
final class EncryptingProxy: Reachable, @unchecked Sendable {
    // Unchecked because its processes are only ended by the test that has it.

    /// A program that clients may have before the cluster.
    enum Program: String, CaseIterable, Sendable {
        case haproxy, nginx
        case etcd = "etcd grpc-proxy"

        var path: String? { self == .etcd ? EtcdCluster.program : Child.installed(rawValue) }

        /// Those that are installed.
        static let installed = allCases.filter { program in
            Hazard.canRun(
                "etcd behind \(program.rawValue)", if: program.path != nil,
                else: "\(program.rawValue) is missing; Scripts/tools.sh installs it")
        }
    }

    let urls: [URL]
    private let cluster: EtcdCluster
    private var processes: [ServerProcess] = []
    private let folder: TemporaryFolder

    /// For `.enabled(if:)`.
    static let isThere = Hazard.canRun(
        "etcd over TLS", if: CertificateAuthority.program != nil,
        else: "openssl is missing; Scripts/tools.sh installs it")

    /// - Parameters:
    ///   - authority: the authority whose certificates it accepts from servers. nil: it does not encrypt.
    ///   - isOther: whether it asks for another name than the servers have.
    ///   - client: what it shows to the servers.
    ///   - limit: the most bytes of a request that nginx passes on.
    ///   - silence: the seconds after which nginx and haproxy end a stream that is silent.
    init(
        _ program: Program = .etcd, to cluster: EtcdCluster, trusting authority: CertificateAuthority?,
        asksForOther isOther: Bool = false, as client: CertificateAuthority.Identity? = nil, limit: String = "4m",
        silence: Int = 86_400
    ) throws {
        guard let path = program.path else { throw EtcdCluster.Failure(description: "no \(program)") }
        self.cluster = cluster
        folder = try TemporaryFolder()
        let ports = cluster.nodes.map { _ in EtcdCluster.freePort() }
        urls = ports.map { loopback($0) }
        for (node, port) in zip(cluster.nodes, ports) {
            let own = folder.file("\(port)")
            try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
            let file = own.appending(path: "conf")
            let words: [String]
            switch program {
            case .etcd:
                // A name of the certificate, or not.
                let host = isOther ? "localhost" : "127.0.0.1"
                var command = [
                    path, "grpc-proxy", "start", "--endpoints",
                    "\(authority == nil ? "http" : "https")://\(host):\(node.clientPort)",
                    "--listen-addr", "127.0.0.1:\(port)", "--advertise-client-url", "127.0.0.1:\(port)", "--data-dir",
                    own.path,
                ]
                if let authority { command += ["--cacert", authority.certificate] }
                if let client { command += ["--cert", client.certificate, "--key", client.key] }
                words = command
            // One process: a worker would go on without its master, which alone is stopped and killed here.
            case .nginx:
                let name = isOther ? "other.fleet" : CertificateAuthority.name
                let tls = authority.map { authority in
                    "grpc_ssl_verify on; grpc_ssl_trusted_certificate \(authority.certificate); grpc_ssl_name \(name);"
                }
                let identity = client.map {
                    "grpc_ssl_certificate \($0.certificate); grpc_ssl_certificate_key \($0.key);"
                }
                let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
                    "\($0)_temp_path \(own.path)/\($0);"
                }
                try Data(
                    """
                    daemon off; master_process off; pid \(own.path)/pid; error_log \(own.path)/log;
                    events {}
                    http {
                        access_log off; \(temporary.joined(separator: " "))
                        client_max_body_size \(limit); client_body_timeout \(silence)s; keepalive_requests 100000;
                        grpc_read_timeout \(silence)s; grpc_send_timeout \(silence)s;
                        server {
                            listen 127.0.0.1:\(port) http2;
                            location / {
                                grpc_pass \(authority == nil ? "grpc" : "grpcs")://127.0.0.1:\(node.clientPort);
                                \(tls ?? "") \(identity ?? "")
                            }
                        }
                    }
                    """.utf8
                ).write(to: file)
                words = [path, "-p", own.path, "-c", file.path, "-e", "\(own.path)/log"]
            case .haproxy:
                let name = isOther ? "other.fleet" : CertificateAuthority.name
                var tls =
                    authority.map { "ssl alpn h2 verify required ca-file \($0.certificate) verifyhost \(name)" }
                    ?? "proto h2"
                if let client {
                    let both = own.appending(path: "client.pem")
                    let parts = try [client.certificate, client.key].map { try Data(contentsOf: URL(filePath: $0)) }
                    try (parts[0] + parts[1]).write(to: both)
                    tls += " crt \(both.path)"
                }
                try Data(
                    """
                    defaults
                        mode http
                        timeout connect 5s
                        timeout client \(silence)s
                        timeout server \(silence)s
                    listen etcd
                        bind 127.0.0.1:\(port) proto h2
                        server etcd 127.0.0.1:\(node.clientPort) \(tls)

                    """.utf8
                ).write(to: file)
                words = [path, "-db", "-f", file.path]
            }
            processes.append(try ServerProcess(words))
        }
        for port in ports {
            expectEventually(SocketBytes.connect(to: port).map { Foundation.close($0) }, "a server on port \(port)") {
                $0 != nil
            }
        }
    }

    func stop() { for process in processes { process.stop() } }
    func resume() { for process in processes { process.resume() } }

    func close() {
        for process in processes { process.kill() }
    }
}
