import Foundation
package import Testing

/// Runs the tests of a suite on threads that only such tests have.
///
/// The pool of tasks has one thread for each core. A test that waits in a call, for a process or for a time, keeps its thread from all other
/// tests. Here, it does not. (Elsewhere than on Linux, the tests run in the pool: macOS 14 has no executors of tasks.)
package struct WaitingThreads: SuiteTrait, TestTrait, TestScoping {
    /// Each has threads of its own. The tests of `.oneByOne` have one thread, so that they do not disturb one another.
    package enum Pool: Sendable { case common, fleet, oneByOne }

    package let isRecursive = true
    private let pool: Pool

    package init(_ pool: Pool = .common) { self.pool = pool }

    /// A suite with `.serialized` begins its next test on the thread of its scope. Without a scope, that is a thread of the pool, which all
    /// other tests have before.
    package func scopeProvider(for test: Test, testCase: Test.Case?) -> WaitingThreads? {
        testCase != nil || pool == .oneByOne ? self : nil
    }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        #if os(Linux)
            try await withTaskExecutorPreference(JobQueue.of(pool)) { try await function() }
        #else
            try await function()
        #endif
    }
}

extension Trait where Self == WaitingThreads {
    package static var waits: Self { WaitingThreads() }
}

#if os(Linux)
    /// The jobs of such tests, which threads take in their order.
    private final class JobQueue: TaskExecutor {
        private static let common = JobQueue(threads: 8)
        /// All tests of the fleet at once would keep one another waiting beyond the deadlines of the product.
        private static let fleet = JobQueue(threads: 6)
        private static let oneByOne = JobQueue(threads: 1)

        static func of(_ pool: WaitingThreads.Pool) -> JobQueue {
            switch pool {
            case .common: common
            case .fleet: fleet
            case .oneByOne: oneByOne
            }
        }

        private let condition = NSCondition()
        /// Only the holder of the condition uses it.
        nonisolated(unsafe) private var jobs: [UnownedJob] = []

        init(threads: Int) {
            for _ in 0..<threads { Thread.detachNewThread { self.work() } }
        }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            condition.withLock {
                jobs.append(job)
                condition.signal()
            }
        }

        private func work() {
            while true {
                let job = condition.withLock {
                    while jobs.isEmpty { condition.wait() }
                    return jobs.removeFirst()
                }
                job.runSynchronously(on: asUnownedTaskExecutor())
            }
        }
    }
#endif
