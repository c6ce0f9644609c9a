import Foundation
import Testing

/// Gives the tests of a suite threads of their own, because they wait in calls: for processes, locks and times. The pool of tasks has one
/// thread for each core; a test that waits on it leaves a core to nobody.
struct OnThreads: SuiteTrait, TestTrait, TestScoping {
    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
            try await withTaskExecutorPreference(TestThreads.shared) { try await function() }
        } else {
            try await function()
        }
    }
}

extension Trait where Self == OnThreads {
    /// For tests that wait in calls.
    static var onThreads: Self { Self() }
}

/// Runs the jobs of tests in their order, four at a time: more would make each wait longer for a core.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
private final class TestThreads: TaskExecutor, @unchecked Sendable {
    // Unchecked because the condition guards the jobs.

    static let shared = TestThreads()

    private let condition = NSCondition()
    private var jobs: [UnownedJob] = []

    private init() {
        for _ in 0..<4 {
            let thread = Thread { while true { self.next().runSynchronously(on: self.asUnownedTaskExecutor()) } }
            // As much as the main thread has: the pool's threads have as little as the system gives.
            thread.stackSize = 8 << 20
            thread.start()
        }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        condition.withLock { jobs.append(job) }
        condition.signal()
    }

    private func next() -> UnownedJob {
        condition.withLock {
            while jobs.isEmpty { condition.wait() }
            return jobs.removeFirst()
        }
    }
}
