import EngineSupport
import PersistentPreferences
import PrefsEtcd
import TestSupport
import Testing

/// A suite whose tests have a prefix of the shared node of etcd, and a proxy in front of that node.
class FleetSuite {
    let cluster: EtcdCluster
    let proxy: LossyProxy
    let prefix = EtcdCluster.prefix()
    let home: TemporaryFolder
    /// Two clients, as in two processes: another deadline is another client.
    let one, two: EtcdStore

    init() throws {
        cluster = try EtcdCluster.shared.get()
        proxy = try LossyProxy(to: cluster.nodes[0].clientPort)
        home = try TemporaryFolder()
        (one, two) = (cluster.store(prefix), cluster.store(prefix, .patient(1)))
    }

    deinit { proxy.close() }

    var url: String { "etcd://127.0.0.1:\(cluster.nodes[0].clientPort)/\(prefix)" }

    func storeBehindProxy(_ reads: EtcdStore.ReadMode = .current, deadline: Duration = ampleWait()) -> EtcdStore {
        proxy.store(prefix, .init(reads: reads, deadline: deadline))
    }

    func probe(_ words: String...) throws -> Child.Result { try Child("EtcdProbe", words, home: home).wait() }
}

extension EtcdStore {
    /// Changes a root as an assignment does, by a closure that may run more than once.
    func change(root: String, _ body: (inout [String: Any]?) throws -> Void) throws {
        try store.roots.requiredDomain().change(root, durability: .process) { transaction in
            var values = transaction[root]?.dictionary
            try values.change(body)
            if transaction[root]?.dictionary != values { transaction[root] = values.map(StoredValue.dictionary) }
        }
    }
}

extension Trait where Self == WaitingThreads {
    /// For suites that wait for a cluster.
    static var waits: Self { WaitingThreads(.fleet) }
}

/// Runs parts of a test at the same time, and waits for all of them. They stay in its task, by which a failure is known as one of the test.
func sideBySide(_ bodies: [@Sendable () async throws -> Void]) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        for body in bodies { group.addTask { try await body() } }
        try await group.waitForAll()
    }
}
