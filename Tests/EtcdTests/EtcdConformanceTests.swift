import Foundation
import PrefsEtcd
import PrefsPropertyLists
import PrefsTesting
import Testing
import TestSupport

/// The store passes every check, in both ways to read.
@Suite(.waits, .enabled(if: EtcdCluster.isThere)) final class EtcdConformanceTests: FleetSuite {
    @Test(
        arguments: [EtcdStore.ReadMode.followed, .current], StoreCheck.all + StoreCheck.observing + StoreCheck.remote)
    func storePasses(_ reads: EtcdStore.ReadMode, _ check: StoreCheck) throws {
        try check.run(threads: 4, updates: 20, patience: 30) { [cluster, prefix] in
            cluster.store(prefix, .patient(reads: reads))
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
                return EtcdStore(
                    endpoints: [url], prefix: prefix,
                    options: .init(reads: reads, deadline: .milliseconds(3_000 + number)))
            },
            breaking: { isBroken.withLock { $0 = true } }, mending: { isBroken.withLock { $0 = false } })
    }
}
