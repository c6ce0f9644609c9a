import Foundation
import Testing

/// A suite whose tests have threads of their own. They wait for a cluster, and would keep the few threads of the pool from other tests.
protocol ThreadSuite: Actor {
    nonisolated var thread: SuiteThread { get }
}

extension ThreadSuite {
    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }
}

/// Runs what belongs to an actor on a thread of Dispatch, which has as many as it needs.
final class SuiteThread: SerialExecutor {
    private let queue = DispatchQueue(label: "a test of the fleet")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}

/// Runs parts of a test at the same time, each on a thread of its own, and waits for all of them. They stay in its task, by which a failure
/// is known as one of the test.
func sideBySide(_ bodies: @Sendable () throws -> Void...) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        for body in bodies { group.addTask { try await Part().run(body) } }
        try await group.waitForAll()
    }
}

private actor Part: ThreadSuite {
    nonisolated let thread = SuiteThread()

    func run(_ body: () throws -> Void) throws {
        try body()
    }
}

/// Runs four tests of the fleet at a time. All of them at once would keep one another waiting beyond the deadlines of the product.
struct FourAtATime: TestTrait, SuiteTrait, TestScoping {
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

extension Trait where Self == FourAtATime {
    static var fourAtATime: Self { FourAtATime() }
}
