import Dispatch
import PrefsFileEngine

/// Writes that block no thread of the cooperative pool.
///
/// In an asynchronous function, the compiler chooses these overloads and requires `await`, because a call that blocks
/// there stops a thread that all tasks share. To block on purpose, write in a synchronous function. A closure without
/// any `await` counts as one, and for `async let` the top-level code of `main.swift`.
extension PersistentPrefs {
    /// Makes the accesses in the body one transaction, without blocking the task's thread:
    /// `await prefs.update { prefs.low = 1; prefs.high = 9 }`.
    ///
    /// The body runs once, in the same task, on one of eight threads of the store, which are started when they are
    /// needed. It sees the task-local values, also the store of ``withStore(_:_:)``. Cancellation of the task neither
    /// prevents nor stops the body; it may ask `Task.isCancelled` and throw.
    ///
    /// - Parameters:
    ///   - timeout: how long to wait for other threads and processes before the body runs. If that is too long, the
    ///     error is ``PrefsError/busy(_:)``. nil waits for ``writeTimeout``.
    ///   - body: makes the accesses.
    /// - Returns: what the body returns, or the error, as for the synchronous form.
    /// - Throws: what the body throws; then nothing has changed.
    @discardableResult
    public func update<R>(
        timeout: Duration? = nil, _ body: @Sendable () throws -> R
    ) async rethrows -> sending Result<R, PrefsError> {
        try await withoutBlocking(timeout) { Passed(value: try update(body)) }.value
    }

    /// Changes many keys in one transaction, without blocking the task's thread. Parameters and results are as for the
    /// form without a dictionary.
    @discardableResult
    public func update<R>(
        timeout: Duration? = nil, _ body: @Sendable (inout [String: Any]) throws -> R
    ) async rethrows -> sending Result<R, PrefsError> {
        try await withoutBlocking(timeout) { Passed(value: try update(body)) }.value
    }

    /// What a body returns, such as the `Any?` of `$0.removeValue(forKey:)`, on its way to the task's thread.
    ///
    /// Unchecked because a body, which is `@Sendable`, can return only what it has made, what may be shared, and what an
    /// instance gives every thread.
    private struct Passed<Value>: @unchecked Sendable {
        let value: Value
    }
}

extension PersistentPrefs {
    /// Removes the stored values of some keys in one transaction, without blocking the task's thread. Parameters and
    /// results are as for the synchronous form.
    @discardableResult
    public func reset(_ key: String, _ others: String...) async -> PrefsError? {
        await withoutBlocking { removeValues(of: [key] + others) }
    }

    /// Runs a call in the caller's task, on a thread of the store.
    ///
    /// - Parameter timeout: how long the call may wait for the lock; nil for the limit of the class.
    func withoutBlocking<R: Sendable>(
        _ timeout: Duration? = nil, _ body: @Sendable () throws -> R
    ) async rethrows -> R {
        try await LockWait.within(timeout ?? writeTimeoutNow) { end in
            try await AsyncCall(on: state.roots.callThreads, by: end).run(body)
        }
    }
}

/// Runs one call in the caller's task, on a thread that the call may block.
actor AsyncCall {
    private let executor: Executor

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// - Parameter end: when to give up the wait. After that the call does not block.
    init(on threads: WorkerThreads, by end: DispatchTime?) {
        executor = Executor(threads: threads, end: end)
    }

    func run<R: Sendable>(_ body: @Sendable () throws -> R) rethrows -> R { try body() }

    /// Has one job, the call, so it keeps no order.
    private final class Executor: SerialExecutor {
        private let threads: WorkerThreads
        private let end: DispatchTime?

        init(threads: WorkerThreads, end: DispatchTime?) {
            self.threads = threads
            self.end = end
        }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            threads.run(by: end) { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
        }
    }
}
