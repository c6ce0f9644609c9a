import Foundation
import Testing

/// A suite whose tests have threads of their own. They wait for a cluster, and would keep the few threads of the pool from other tests.
protocol ThreadSuite: Actor {
    nonisolated var thread: SuiteThread { get }
}

extension ThreadSuite {
    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }
}

/// Runs what belongs to an actor on threads of its own. Dispatch has 255 threads at most: if the tests that wait for their turn had them, the
/// observers of the product would get none.
///
/// Six work at a time. All tests of the fleet at once would keep one another waiting beyond the deadlines of the product.
final class SuiteThread: SerialExecutor {
    private static let turns = DispatchSemaphore(value: 6)
    /// One job at a time has the actor.
    private let lock = NSLock()
    private let takesTurns: Bool

    init(takesTurns: Bool = true) {
        self.takesTurns = takesTurns
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        Thread.detachNewThread { [self] in
            if takesTurns { Self.turns.wait() }
            lock.withLock { job.runSynchronously(on: asUnownedSerialExecutor()) }
            if takesTurns { Self.turns.signal() }
        }
    }
}

/// Runs parts of a test at the same time, each on a thread of its own, and waits for all of them. They stay in its task, by which a
/// failure is known as one of the test.
func sideBySide(_ bodies: @Sendable () throws -> Void...) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        // The pool begins the tasks of a priority in their order, and those of all other tests are there already.
        for body in bodies { group.addTask(priority: .high) { try await Part().run(body) } }
        try await group.waitForAll()
    }
}

/// Its test works no more, but waits for it.
private actor Part: ThreadSuite {
    nonisolated let thread = SuiteThread(takesTurns: false)

    func run(_ body: () throws -> Void) throws {
        try body()
    }
}
