import Foundation
import TestSupport
import Testing

/// A certificate authority in a temporary folder. Its certificates last a day.
final class CertificateAuthority {
    /// The files of a certificate and of its key.
    struct Identity {
        let certificate: String
        let key: String
    }

    private let folder: TemporaryFolder

    static let program = Child.installed("openssl")
    /// The name of each server: some programs compare names only, and no addresses.
    static let name = "etcd.fleet"

    init() throws {
        folder = try TemporaryFolder()
        try Self.openssl(["req", "-x509", "-days", "1", "-out", certificate] + newKey("ca", subject: "/CN=ca"))
    }

    /// The file of its own certificate.
    var certificate: String { path("ca.pem") }

    /// A certificate for 127.0.0.1 and the name, for a server and for a client.
    ///
    /// - Parameter subject: without a common name by default, which a cluster with users rejects.
    func issue(_ name: String, subject: String = "/O=fleet") throws -> Identity {
        let (request, extensions) = (path("\(name).csr"), path("\(name).ext"))
        try Self.openssl(["req", "-out", request] + newKey(name, subject: subject))
        let usage = "subjectAltName = IP:127.0.0.1,DNS:\(Self.name)\nextendedKeyUsage = serverAuth, clientAuth\n"
        try Data(usage.utf8).write(to: URL(filePath: extensions))
        let identity = Identity(certificate: path("\(name).pem"), key: path("\(name)-key.pem"))
        try Self.openssl([
            "x509", "-req", "-in", request, "-days", "1", "-extfile", extensions, "-CA", certificate, "-CAkey",
            path("ca-key.pem"), "-set_serial", "\(UInt32.random(in: 1...(.max)))", "-out", identity.certificate,
        ])
        return identity
    }

    private func path(_ name: String) -> String { folder.file(name).path }

    private func newKey(_ name: String, subject: String) -> [String] {
        [
            "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", path("\(name)-key.pem"),
            "-subj", subject,
        ]
    }

    static func openssl(_ arguments: [String]) throws {
        let program = URL(filePath: try #require(program))
        let result = try Child(program, arguments, environment: [:]).wait(limit: .seconds(30))
        try #require(result.code == 0, "openssl \(arguments): \(result.errors)")
    }
}
