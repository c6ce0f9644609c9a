import Dispatch
import PrefsFileEngine
import PrefsPropertyLists

/// A bounded number of threads for code of the program that may block. A thread ends when nothing is left to do.
///
/// They are no threads of Dispatch, which allows 64 blocked ones per queue and waits for ever where the system has no
/// thread to give.
final class WorkerThreads: Sendable {
    /// The threads of observers' closures without a queue.
    static let observers = WorkerThreads()

    static let count = 8

    private static let queue = DispatchQueue(label: "PersistentPreferences.workers", attributes: .concurrent)
    private static let timers = DispatchQueue(label: "PersistentPreferences.workers.timers")

    private final class Job: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) {
            self.run = run
        }
    }

    private struct State {
        /// The process that the threads belong to. A forked child does not have them.
        var process = ProcessMark()
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
    func run(by end: DispatchTime? = nil, _ job: @escaping @Sendable () -> Void) {
        let job = Job(job)
        switch add(job) {
        case .newThread: break
        case .caller: runJobs()
        case .runningThread:
            guard let end else { return }
            DispatchReadiness.shared.after(end, on: Self.timers) {
                DispatchReadiness.shared.async(on: Self.queue) {
                    if self.takes(job) { job.run() }
                }
            }
        }
    }

    /// As `run`, for a caller that holds a lock.
    ///
    /// - Returns: what the caller must run when it holds no lock, because no thread can be started; otherwise nil.
    func begin(_ job: @escaping @Sendable () -> Void) -> (@Sendable () -> Void)? {
        if case .caller = add(Job(job)) { runJobs } else { nil }
    }

    /// Who runs a job.
    private enum Runner {
        case newThread, runningThread, caller
    }

    private func add(_ job: Job) -> Runner {
        let isThreadDue = state.withLock { state in
            if !state.process.isOfThisProcess { state = State() }
            state.jobs.append(job)
            guard state.running < Self.count else { return false }
            state.running += 1
            return true
        }
        guard isThreadDue else { return .runningThread }
        if start(runJobs) { return .newThread }
        return state.withLock { state in
            // Also if the caller itself runs a job, whose subscriber has more changes to receive.
            guard state.running > 1 else { return .caller }
            state.running -= 1
            return .runningThread
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
