import Foundation
import PersistentPreferences

/// The namespaces that are in use, so that stores with the same settings share one.
enum EtcdNamespaces {
    private struct Entry {
        weak var namespace: PerProcess<EtcdNamespace>?
    }

    /// The process that has created the first store. Any other one is its forked child.
    static let firstProcess = CurrentProcess.id
    private static let namespaces = Guarded<[[AnyHashable]: Entry]>([:])

    /// The locks of namespaces that are not used any more, and still have keys in the cluster.
    private static let ending = Guarded<[EtcdLock]>([])

    /// Removes the keys of a client on a thread of its own.
    static func end(_ locks: [EtcdLock]) {
        if locks.isEmpty { return }
        ending.withLock { $0 += locks }
        _ = BackgroundThread.start {
            for lock in locks {
                lock.end(until: .now + lock.patience)
                ending.withLock { $0.removeAll { $0 === lock } }
            }
        }
    }

    /// A program that ends leaves no keys behind, unless it is killed.
    private static let endsAtExit: Void = {
        atexit {
            let all = EtcdNamespaces.namespaces.withLock { $0.values.compactMap(\.namespace) }
            for namespace in all { namespace.existing?.end() }
            let deadline = EtcdLock.Deadline.now + .seconds(1)
            for lock in EtcdNamespaces.ending.withLock({ $0 }) { lock.end(until: deadline) }
        }
    }()

    /// - Throws: `PrefsError.invalidName`.
    static func namespace(
        _ urls: [URL], _ prefix: String, _ user: EtcdClient.User?, deadline: Duration, staleness: Duration,
        lastKnown: URL?
    ) throws(PrefsError) -> PerProcess<EtcdNamespace> {
        let endpoints = try urls.map { url throws(PrefsError) in try Endpoint(url) }
        guard !endpoints.isEmpty else { throw .invalidName(name: prefix, reason: "has no endpoints") }
        if prefix.utf8.contains(0) {
            throw .invalidName(name: prefix, reason: "is not a valid prefix: it contains a NUL")
        }
        // What is below `r/` is a root, and below the others a key with a lease may be taken for a ticket or a marker.
        let path = "/" + prefix
        if let word = path.contains("/r/") ? "r/" : ["l/", "m/"].first(where: { path.hasSuffix("/" + $0) }) {
            throw .invalidName(
                name: prefix, reason: "is not a valid prefix: the keys of a shorter prefix may begin with \(word)")
        }
        let (deadline, staleness) = (max(deadline, .milliseconds(100)), max(staleness, .seconds(1)))
        let key: [AnyHashable] = [Set(endpoints), prefix, user, deadline, staleness, lastKnown]
        _ = (firstProcess, endsAtExit)
        return namespaces.withLock { namespaces in
            if let namespace = namespaces[key]?.namespace { return namespace }
            namespaces = namespaces.filter { $0.value.namespace != nil }
            let namespace = PerProcess {
                let client = EtcdClient(endpoints: endpoints, user: user, patience: deadline / 4)
                return EtcdNamespace(
                    client, prefix: prefix, deadline: deadline, staleness: staleness,
                    lastKnown: lastKnown.map(LastKnownFile.init))
            }
            namespaces[key] = Entry(namespace: namespace)
            return namespace
        }
    }
}
