import Foundation
import PrefsEtcd
import PrefsPropertyLists
import PrefsTesting
import Testing
import TestSupport

/// The store passes every check, in both ways to read.
@Suite(.enabled(if: EtcdCluster.isThere)) actor EtcdConformanceTests: ThreadSuite {
    nonisolated let thread = SuiteThread()

    @Test(
        arguments: [EtcdStore.ReadMode.followed, .current], StoreCheck.all + StoreCheck.observing + StoreCheck.remote)
    func storePasses(_ reads: EtcdStore.ReadMode, _ check: StoreCheck) throws {
        let cluster = try EtcdCluster.shared.get()
        let prefix = EtcdCluster.prefix()
        try check.run(threads: 4, updates: 20, patience: 30) {
            cluster.store(prefix, .patient(reads: reads))
        }
    }

    /// Clients that do not know one another, as in two processes.
    @Test(arguments: [EtcdStore.ReadMode.followed, .current])
    func unreadableThrows(_ reads: EtcdStore.ReadMode) throws {
        let cluster = try EtcdCluster.shared.get()
        let proxy = try LossyProxy(to: cluster.nodes[0].clientPort)
        defer { proxy.close() }
        let prefix = EtcdCluster.prefix()
        let count = Locked(0)
        let isBroken = Locked(false)
        try StoreCheck.unreadableThrows(
            {
                // Another deadline is another client.
                let number = count.next()
                let url = isBroken.withLock { $0 } ? loopback(1) : proxy.url
                return EtcdStore(
                    endpoints: [url], prefix: prefix,
                    options: .init(reads: reads, deadline: .milliseconds(3_000 + number)))
            },
            breaking: { isBroken.withLock { $0 = true } }, mending: { isBroken.withLock { $0 = false } })
    }
}
