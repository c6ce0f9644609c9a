import Foundation
import PersistentPreferences

/// `etcd://[USER:PASSWORD@]HOST[:PORT][,HOST[:PORT]]…[/PREFIX]`.
struct EtcdURL {
    private(set) var endpoints: [URL] = []
    private(set) var prefix = "prefs/"
    private(set) var user: String?
    private(set) var password = ""

    /// - Throws: `PrefsError.invalidName`, which does not contain the password.
    init(_ text: String) throws(PrefsError) {
        let scheme = "etcd://"
        func invalid(_ reason: String) -> PrefsError {
            .invalidName(name: scheme + "…", reason: "is not a URL of an etcd store: \(reason)")
        }
        guard text.lowercased().hasPrefix(scheme) else { throw invalid("expected etcd://HOST:PORT/PREFIX") }
        var rest = text.dropFirst(scheme.count)
        // Escaped, it may be a part of the user, the password or the prefix.
        if let mark = rest.first(where: { "?#".contains($0) }) {
            throw invalid("found \(mark), but it has no options; write \(mark == "?" ? "%3F" : "%23") in a prefix")
        }
        if let slash = rest.firstIndex(of: "/") {
            let path = rest[rest.index(after: slash)...]
            // An unescaped slash in a password, probably: the rest of the password would be printed as part of the prefix.
            if path.contains("@") {
                throw invalid("write / in the user and the password as %2F, and every other @ as %40")
            }
            if !path.isEmpty {
                guard let decoded = String(path).removingPercentEncoding else { throw invalid("a wrong escape") }
                prefix = decoded.hasSuffix("/") ? decoded : decoded + "/"
            }
            rest = rest[..<slash]
        }
        if let at = rest.lastIndex(of: "@") {
            let parts = rest[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let decoded = parts.map { String($0).removingPercentEncoding }
            guard let user = decoded[0], let password = decoded.count > 1 ? decoded[1] : "" else {
                throw invalid("a wrong escape in the user or the password")
            }
            (self.user, self.password) = (user, password)
            rest = rest[rest.index(after: at)...]
        }
        for host in rest.split(separator: ",", omittingEmptySubsequences: false) {
            guard let url = URL(string: "http://\(host)"), url.host() != nil else { throw invalid("expected a host") }
            endpoints.append(url)
        }
    }
}
