import Foundation
import PersistentPreferences
import PrefsEtcd
import PrefsPropertyLists
import PrefsStoreKit
import Testing
import TestSupport

/// The store passes every check, in both ways to read.
@Suite(.waits, .enabled(if: EtcdCluster.isThere)) final class EtcdConformanceTests: FleetSuite {
    @Test(
        arguments: [EtcdStore.ReadMode.followed, .current], StoreCheck.all + StoreCheck.observing + StoreCheck.remote)
    func storePasses(_ reads: EtcdStore.ReadMode, _ check: StoreCheck) throws {
        try check.run(threads: 4, updates: 20, patience: Patience.seconds) { [cluster, prefix] in
            EtcdBackend(cluster.store(prefix, .patient(reads: reads)))
        }
    }

    /// Clients that do not know one another, as in two processes.
    @Test(arguments: [EtcdStore.ReadMode.followed, .current])
    func unreadableThrows(_ reads: EtcdStore.ReadMode) throws {
        let count = Locked(0)
        let isBroken = Locked(false)
        try StoreCheck.unreadableThrows(
            { [proxy, prefix] in
                // Another deadline is another client.
                let number = count.next()
                let url = isBroken.withLock { $0 } ? loopback(1) : proxy.url
                return EtcdBackend(
                    EtcdStore(
                        endpoints: [url], prefix: prefix,
                        options: .init(reads: reads, deadline: .milliseconds(3_000 + number))))
            },
            breaking: { isBroken.withLock { $0 = true } }, mending: { isBroken.withLock { $0 = false } })
    }
}

/// A store of etcd as a backend, so that the checks run over it.
private final class EtcdBackend: RemotePrefsBackend {
    private let store: EtcdStore

    init(_ store: EtcdStore) { self.store = store }

    func read(root: String) throws -> [String: Any]? { try store.read(root: root) }
    func current(root: String) throws -> [String: Any]? { try store.current(root: root) }
    func lastKnown(root: String) -> [String: Any]? { store.lastKnown(root: root) }

    func update(root: String, _ body: (inout [String: Any]?) throws -> Void) throws {
        try store.update(root: root, body)
    }

    func observe(root: String, _ action: @escaping @Sendable (PrefsChange) -> Void) throws -> PrefsObservation {
        try store.observe(root: root, action)
    }
}
