import Foundation

/// Runs a test that waits a lot on a thread of its own, so that it takes none of the threads on which the other tests run. It stays in its
/// task, by which a failure is known as one of the test.
func onThread(_ body: @escaping @Sendable () throws -> Void) async throws {
    try await ThreadActor().run(body)
}

private actor ThreadActor {
    private let executor = ThreadExecutor()

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func run(_ body: () throws -> Void) throws {
        try body()
    }
}

/// A thread for each job; an actor has one at a time.
private final class ThreadExecutor: SerialExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        Thread.detachNewThread { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}
