import Foundation
import Testing

/// Runs a part of a test on a thread of its own. It stays in its task, by which a failure is known as one of the test.
func onThread(_ body: @escaping @Sendable () throws -> Void) async throws {
    try await ThreadActor().run(body)
}

/// Runs parts of a test at the same time, each on a thread of its own, and waits for all of them.
func sideBySide(_ bodies: @Sendable () throws -> Void...) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        for body in bodies { group.addTask { try await onThread(body) } }
        try await group.waitForAll()
    }
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

/// Runs four tests of the fleet at a time. All of them at once would keep one another waiting beyond the deadlines of the product.
struct OnThreads: TestTrait, SuiteTrait, TestScoping {
    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        guard testCase != nil else {
            return try await function()
        }
        await Turns.shared.take()
        let result: Result<Void, any Error>
        do {
            try await function()
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await Turns.shared.give()
        try result.get()
    }
}

/// Lets four in at a time.
private actor Turns {
    static let shared = Turns()

    private var free = 4
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func take() async {
        if free > 0 {
            free -= 1
        } else {
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    func give() {
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
}

extension Trait where Self == OnThreads {
    static var onThreads: Self { OnThreads() }
}
