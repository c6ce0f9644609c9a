import Dispatch
import PrefsPropertyLists

/// A bounded number of threads for code of the program that may block. A thread ends when nothing is left to do.
final class WorkerThreads: Sendable {
    /// The threads of observers' closures without a queue.
    ///
    /// Dispatch allows 64 blocked threads per queue and 255 in all, so a few shared threads leave room for the queues
    /// of the program.
    static let observers = WorkerThreads {
        queue.async(execute: $0)
        return true
    }

    static let count = 8

    private static let queue = DispatchQueue(label: "PersistentPreferences.observers", attributes: .concurrent)

    private final class Job: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) {
            self.run = run
        }
    }

    private struct State {
        /// The process that the threads belong to. A forked child does not have them.
        var process = LockRegistry.forks
        var jobs: [Job] = []
        var running = 0
    }

    private let state = Locked(State())
    private let start: @Sendable (@escaping @Sendable () -> Void) -> Bool

    /// - Parameter start: runs the closure on a new thread. Returns false if the system has no thread to give.
    init(start: @escaping @Sendable (@escaping @Sendable () -> Void) -> Bool = { DetachedThread.start($0) }) {
        self.start = start
    }

    /// Runs a job soon. Jobs start in the order of the calls while threads are free. If no thread can be started, the
    /// job runs on the thread of the caller.
    ///
    /// - Parameter end: the time at which the job runs even if no thread is free. After that it must not block.
    func run(by end: ContinuousClock.Instant? = nil, _ job: @escaping @Sendable () -> Void) {
        let job = Job(job)
        let isThreadDue = state.withLock { state in
            if state.process != LockRegistry.forks { state = State() }
            state.jobs.append(job)
            guard state.running < Self.count else { return false }
            state.running += 1
            return true
        }
        if isThreadDue {
            if !start(runJobs) { runJobs() }
        } else if let end {
            Self.queue.asyncAfter(deadline: .now() + max(0, (end - .now) / .seconds(1))) {
                if self.takes(job) { job.run() }
            }
        }
    }

    @Sendable private func runJobs() {
        while let job = next() { job.run() }
    }

    /// - Returns: nil if the thread is to end.
    private func next() -> Job? {
        state.withLock { state in
            guard state.jobs.isEmpty else { return state.jobs.removeFirst() }
            state.running -= 1
            return nil
        }
    }

    /// - Returns: false if the job has begun.
    private func takes(_ job: Job) -> Bool {
        state.withLock { state in
            guard let index = state.jobs.firstIndex(where: { $0 === job }) else { return false }
            state.jobs.remove(at: index)
            return true
        }
    }
}
