import Dispatch
import Foundation
import PrefsPropertyLists

/// A bounded number of threads for code of the program that may block. A thread ends when nothing is left to do.
final class WorkerThreads: Sendable {
    /// For the closures of observers that have no queue of their own.
    ///
    /// Dispatch allows 64 blocked threads per queue and 255 in all, so a few shared threads leave room for the queues of the program.
    static let observers = WorkerThreads { queue.async(execute: $0) }

    static let count = 8

    private static let queue = DispatchQueue(label: "PersistentPreferences.observers", attributes: .concurrent)

    private struct State {
        /// Whose threads they are: a forked child has none of them.
        var process = LockRegistry.forks
        var jobs: [@Sendable () -> Void] = []
        var running = 0
    }

    private let state = Locked(State())
    private let start: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// - Parameter start: runs the closure on a thread of its own.
    init(start: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void = { Thread.detachNewThread($0) }) {
        self.start = start
    }

    /// Runs a job soon, in the order of the calls as far as threads are free.
    func run(_ job: @escaping @Sendable () -> Void) {
        let isThreadDue = state.withLock { state in
            if state.process != LockRegistry.forks { state = State() }
            state.jobs.append(job)
            guard state.running < Self.count else { return false }
            state.running += 1
            return true
        }
        if isThreadDue { start(runJobs) }
    }

    @Sendable private func runJobs() {
        while let job = next() { job() }
    }

    /// - Returns: nil if the thread is to end.
    private func next() -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard state.jobs.isEmpty else { return state.jobs.removeFirst() }
            state.running -= 1
            return nil
        }
    }
}
