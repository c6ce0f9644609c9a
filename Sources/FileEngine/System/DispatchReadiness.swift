package import Dispatch
import PrefsPropertyLists

/// Starts Dispatch, and keeps what is due while it cannot be started.
///
/// On Linux, the first timer, event source or concurrent queue of a process takes three descriptors, and the first
/// closure of the main queue takes one more. Without them, Dispatch ends the process. So this takes them and some more
/// first, and releases them when Dispatch starts. A closure of a serial queue needs none.
///
/// While Dispatch cannot be started, what is due waits, and the thread of `FilePoller` tries again once a second.
package final class DispatchReadiness: Sendable {
    package static let shared = DispatchReadiness()

    private struct Waiting {
        /// nil for a closure without a timer.
        let time: DispatchTime?
        let queue: DispatchQueue
        let action: @Sendable () -> Void

        /// Whether it can run although Dispatch is not started.
        func isDue(at now: DispatchTime) -> Bool { time.map { $0 <= now } ?? false }
    }

    private struct State {
        var isStarted = !DispatchDescriptors.areNeeded
        /// Whether Dispatch could not be started, or something still waits for its start.
        var mustWait = false
        var waiting: [Waiting] = []
    }

    private let take: @Sendable () throws(StorageFailure) -> DispatchDescriptors
    private let state = Locked(State())
    private let polling = Polling()
    /// Keeps the order of what waited.
    private let turns = Lock()
    private let queue = DispatchQueue(label: "PersistentPreferences.DispatchReadiness")

    init(
        take: @escaping @Sendable () throws(StorageFailure) -> DispatchDescriptors = {
            () throws(StorageFailure) in try DispatchDescriptors()
        }
    ) {
        self.take = take
    }

    // MARK: - The start

    /// Takes what Dispatch needs, for `start`. Any thread.
    ///
    /// - Returns: nil if Dispatch is started, and in a forked child, in which it does not run.
    /// - Throws: what cannot be taken.
    func reserve() throws(StorageFailure) -> DispatchDescriptors? {
        if ProcessMark.isInForkedChild || state.withLock({ $0.isStarted }) { return nil }
        do throws(StorageFailure) {
            return try take()
        } catch {
            state.withLock { $0.mustWait = true }
            throw error
        }
    }

    /// Starts Dispatch. If the system has no thread to give, Dispatch waits here until it has one.
    func start(with descriptors: DispatchDescriptors?) {
        guard let descriptors else { return }
        descriptors.release()
        // At once, so that no other thread of the program takes the descriptors.
        DispatchQueue.main.async {}
        queue.asyncAfter(deadline: .now() + .milliseconds(1)) { [self] in
            // A timer needs the last descriptor.
            let hasWaited = state.withLock { state in
                state.isStarted = true
                return state.mustWait
            }
            if hasWaited { runWaiting() }
        }
    }

    // MARK: - Closures and timers

    /// Runs the closure on any queue, also the main queue or a concurrent one.
    package func async(on queue: DispatchQueue, _ action: @escaping @Sendable () -> Void) {
        guard state.withLock({ $0.mustWait }) else { return queue.async(execute: action) }
        wait(Waiting(time: nil, queue: queue, action: action))
    }

    /// Runs the closure on a serial queue, not before a time.
    package func after(_ time: DispatchTime, on queue: DispatchQueue, _ action: @escaping @Sendable () -> Void) {
        guard !state.withLock({ $0.isStarted }) else { return queue.asyncAfter(deadline: time, execute: action) }
        wait(Waiting(time: time, queue: queue, action: action))
    }

    private func wait(_ new: Waiting) {
        state.withLock { state in
            state.mustWait = true
            state.waiting.append(new)
        }
        runWaiting()
    }

    /// Runs what waits, if Dispatch can be started. Timers that are due run in any case.
    private func runWaiting() {
        turns.withLock {
            let (isStarted, now) = (tryStart(), DispatchTime.now())
            let ready = state.withLock { state in
                defer { state.waiting.removeAll { isStarted || $0.isDue(at: now) } }
                return state.waiting.filter { isStarted || $0.isDue(at: now) }
            }
            for waiting in ready {
                if isStarted, let time = waiting.time {
                    waiting.queue.asyncAfter(deadline: time, execute: waiting.action)
                } else {
                    waiting.queue.async(execute: waiting.action)
                }
            }
            state.withLock { $0.mustWait = !isStarted || !$0.waiting.isEmpty }
        }
        polling.update(isNeeded: state.withLock({ !$0.waiting.isEmpty })) { [weak self] in self?.runWaiting() }
    }

    private func tryStart() -> Bool {
        do throws(StorageFailure) {
            start(with: try reserve())
            return true
        } catch {
            return false
        }
    }
}
