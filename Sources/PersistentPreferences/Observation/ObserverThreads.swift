import Dispatch
import PrefsPropertyLists

/// The threads that call the closures of observers that have no queue of their own.
///
/// Dispatch allows 64 blocked threads per queue and 255 in all, so a few shared threads leave room for the queues of the program.
enum ObserverThreads {
    static let count = 8

    private struct State {
        var jobs: [@Sendable () -> Void] = []
        var running = 0
    }

    private static let state = Locked(State())
    private static let queue = DispatchQueue(label: "PersistentPreferences.observers", attributes: .concurrent)

    /// Runs a job soon, in the order of the calls as far as threads are free.
    static func run(_ job: @escaping @Sendable () -> Void) {
        let isThreadDue = state.withLock { state in
            state.jobs.append(job)
            guard state.running < count else { return false }
            state.running += 1
            return true
        }
        if isThreadDue { queue.async { runJobs() } }
    }

    private static func runJobs() {
        while let job = next() { job() }
    }

    /// - Returns: nil if the thread is to end.
    private static func next() -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard state.jobs.isEmpty else { return state.jobs.removeFirst() }
            state.running -= 1
            return nil
        }
    }
}
