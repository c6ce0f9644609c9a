import Foundation
import PersistentPreferences

/// The namespaces that are in use, so that stores with the same settings share one.
enum EtcdNamespaces {
    private struct Entry {
        weak var namespace: PerProcess<EtcdNamespace>?
    }

    /// The process that has created the first store. Any other one is its forked child.
    static let firstProcess = getpid()
    private static let namespaces = Guarded<[[AnyHashable]: Entry]>([:])

    /// - Throws: `PrefsError.invalidName`.
    static func namespace(
        _ urls: [URL], _ prefix: String, _ options: EtcdStore.Options
    ) throws(PrefsError) -> PerProcess<EtcdNamespace> {
        let endpoints = try urls.map { url throws(PrefsError) in try Endpoint(url) }
        guard !endpoints.isEmpty else { throw .invalidName(name: prefix, reason: "has no endpoints") }
        if prefix.utf8.contains(0) {
            throw .invalidName(name: prefix, reason: "is not a valid prefix: it contains a NUL")
        }
        if let last = ["r/", "l/", "m/"].first(where: { prefix == $0 || prefix.hasSuffix("/" + $0) }) {
            throw .invalidName(
                name: prefix, reason: "is not a valid prefix: the keys of a shorter prefix may begin with \(last)")
        }
        let user = options.user.map { EtcdClient.User(name: $0, password: options.password) }
        let deadline = max(options.deadline, .milliseconds(100))
        let staleness = max(options.staleness, .seconds(1))
        let key: [AnyHashable] = [Set(endpoints), prefix, user, deadline, staleness]
        _ = firstProcess
        return namespaces.withLock { namespaces in
            if let namespace = namespaces[key]?.namespace { return namespace }
            namespaces = namespaces.filter { $0.value.namespace != nil }
            let namespace = PerProcess {
                let client = EtcdClient(endpoints: endpoints, user: user, patience: deadline / 4)
                return EtcdNamespace(client, prefix: prefix, deadline: deadline, staleness: staleness)
            }
            namespaces[key] = Entry(namespace: namespace)
            return namespace
        }
    }
}
