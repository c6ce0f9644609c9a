import Foundation
import PersistentPreferences

/// A host and a port where etcd listens.
struct Endpoint: Hashable, Sendable, CustomStringConvertible {
    let host: String
    let port: Int

    /// As in a URL.
    var description: String { (host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host) + ":\(port)" }

    /// - Throws: `PrefsError.invalidName`.
    init(_ url: URL) throws(PrefsError) {
        func invalid(_ reason: String) -> PrefsError {
            // Without a user and a password.
            .invalidName(name: "\(url.scheme ?? "")://\(url.host() ?? "")", reason: reason)
        }
        switch url.scheme?.lowercased() {
        case "http": break
        case "https":
            throw invalid(
                """
                is an https endpoint, and this package does not encrypt; run `etcd grpc-proxy` on this host, and use its \
                address (see the article "A fleet")
                """)
        default: throw invalid("is not an etcd endpoint: expected http://HOST:PORT")
        }
        guard let host = url.host(percentEncoded: false), !host.isEmpty else { throw invalid("has no host") }
        // The search for the host would end at a NUL.
        guard host.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { throw invalid("has a blank in its host") }
        guard url.user == nil, url.password == nil else {
            throw invalid("contains a user; put user and password into the options")
        }
        guard ["", "/"].contains(url.path()), url.query == nil else {
            throw invalid("has a path; put the prefix of the keys into `prefix`")
        }
        self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        port = url.port ?? 2379
        // The search for the host would cut the number, and so find another server.
        guard (1...65_535).contains(port) else { throw invalid("has the port \(port); expected 1 to 65535") }
    }
}
