import Foundation
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

/// Runs tests that wait for a cluster on threads of their own, because they would keep the few threads of the pool from other tests.
/// (Elsewhere than on Linux, they run in the pool: macOS 14 has no executors of tasks.)
struct FleetThreads: SuiteTrait, TestTrait, TestScoping {
    let isRecursive = true

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        #if os(Linux)
            try await withTaskExecutorPreference(FleetExecutor.shared) { try await function() }
        #else
            try await function()
        #endif
    }
}

extension Trait where Self == FleetThreads {
    static var waits: Self { FleetThreads() }
}

#if os(Linux)
    /// Six work at a time. All tests of the fleet at once would keep one another waiting beyond the deadlines of the product.
    ///
    /// Dispatch has 255 threads at most: if the tests that wait for their turn had them, the observers of the product would get none.
    private final class FleetExecutor: TaskExecutor {
        static let shared = FleetExecutor()

        private let turns = DispatchSemaphore(value: 6)

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            Thread.detachNewThread { [self] in
                turns.wait()
                job.runSynchronously(on: asUnownedTaskExecutor())
                turns.signal()
            }
        }
    }
#endif

/// Runs parts of a test at the same time, and waits for all of them. They stay in its task, by which a failure is known as one of the test.
func sideBySide(_ bodies: [@Sendable () async throws -> Void]) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        for body in bodies { group.addTask { try await body() } }
        try await group.waitForAll()
    }
}
