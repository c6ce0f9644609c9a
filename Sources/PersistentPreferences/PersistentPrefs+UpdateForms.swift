import Dispatch
import PrefsFileEngine

/// Updates whose bodies return a value.
extension PersistentPrefs {
    /// Changes many keys in one transaction, and returns the body's value. If a body fits both forms, the compiler
    /// chooses the form without a value.
    ///
    /// ```swift
    /// let number = try prefs.update { values -> Int in
    ///     let next = (values["next"] as? Int ?? 1)
    ///     values["next"] = next + 1
    ///     return next
    /// }.get()
    /// ```
    ///
    /// - Parameters:
    ///   - timeout: how long to wait before the body runs, as for the form without a value.
    ///   - body: returns the value.
    /// - Returns: the body's value if the new state is committed; otherwise the error of this call.
    /// - Throws: what the body throws; then nothing has changed.
    @_disfavoredOverload
    @discardableResult
    public func update<R>(
        timeout: Duration? = nil, _ body: (inout [String: Any]) throws -> R
    ) rethrows -> Result<R, PrefsError> {
        var result: R?
        let failure = try update(timeout: timeout) { (values: inout [String: Any]) -> Void in
            result = try body(&values)
        }
        return Self.outcome(result, failure)
    }

    /// Makes the accesses in the body one transaction, and returns what the body returns:
    /// `try prefs.update { prefs.next += 1; return prefs.next }.get()`.
    ///
    /// - Parameters:
    ///   - timeout: how long to wait before the body runs, as for the form without a value.
    ///   - body: returns the value.
    /// - Returns: the body's value if the new state is committed; otherwise the error of this call.
    /// - Throws: what the body throws; then nothing has changed.
    @_disfavoredOverload
    @discardableResult
    public func update<R>(timeout: Duration? = nil, _ body: () throws -> R) rethrows -> Result<R, PrefsError> {
        var result: R?
        let failure = try update(timeout: timeout) { () -> Void in result = try body() }
        return Self.outcome(result, failure)
    }

    /// A store of your own may end an update without running its body.
    private static func outcome<R>(_ value: R?, _ failure: PrefsError?) -> Result<R, PrefsError> {
        if let failure, !failure.isWarning { return .failure(failure) }
        return value.map(Result.success) ?? .failure(.unknownError(error: nil))
    }
}

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
    ///     error is ``PrefsError/busy(_:)``. nil waits for ``lockTimeout``.
    ///   - body: makes the accesses.
    /// - Returns: the error of this call, or nil if the new state is committed.
    /// - Throws: what the body throws; then nothing has changed.
    @discardableResult
    public func update(
        timeout: Duration? = nil, _ body: @Sendable () throws -> Void
    ) async rethrows -> PrefsError? {
        try await withoutBlocking(timeout) { try update(body) }
    }

    /// Changes many keys in one transaction, without blocking the task's thread. Parameters and results are as for the
    /// form without a dictionary.
    @discardableResult
    public func update(
        timeout: Duration? = nil, _ body: @Sendable (inout [String: Any]) throws -> Void
    ) async rethrows -> PrefsError? {
        try await withoutBlocking(timeout) { try update(body) }
    }

    /// Makes the accesses in the body one transaction, without blocking the task's thread, and returns what the body
    /// returns.
    @_disfavoredOverload
    @discardableResult
    public func update<R: Sendable>(
        timeout: Duration? = nil, _ body: @Sendable () throws -> R
    ) async rethrows -> Result<R, PrefsError> {
        try await withoutBlocking(timeout) { try update(body) }
    }

    /// Changes many keys in one transaction, without blocking the task's thread, and returns what the body returns.
    @_disfavoredOverload
    @discardableResult
    public func update<R: Sendable>(
        timeout: Duration? = nil, _ body: @Sendable (inout [String: Any]) throws -> R
    ) async rethrows -> Result<R, PrefsError> {
        try await withoutBlocking(timeout) { try update(body) }
    }
}

extension PersistentPrefs {
    /// Removes the values of several keys in one transaction, without blocking the task's thread. Parameters and results
    /// are as for the synchronous form.
    @discardableResult
    public func remove(_ keys: String...) async -> PrefsError? {
        await withoutBlocking { removeValues(of: keys) }
    }

    /// Runs a call in the caller's task, on a thread of the store.
    ///
    /// - Parameter timeout: how long the call may wait for the lock; nil for the limit of the class.
    func withoutBlocking<R: Sendable>(
        _ timeout: Duration? = nil, _ body: @Sendable () throws -> R
    ) async rethrows -> R {
        try await LockWait.within(timeout ?? lockTimeoutNow) { end in
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
