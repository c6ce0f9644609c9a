import Foundation

/// Waits for a process, and kills it where it does not come to an end, so that no test waits for ever.
///
/// Not by `waitUntilExit`: that runs a run loop on the caller's thread, which Foundation on Linux takes down when the
/// thread ends, with memory of its own; under ThreadSanitizer that crashes.
final class Watchdog: Sendable {
    private let ended = DispatchSemaphore(value: 0)

    /// - Parameter process: not started yet.
    init(_ process: Process) {
        process.terminationHandler = { [ended] _ in ended.signal() }
    }

    /// Waits until it ends.
    func wait(for process: Process, limit: DispatchTimeInterval) throws(ChildIsOverdue) {
        guard process.isRunning else { return }
        let isOverdue = ended.wait(timeout: .now() + limit) == .timedOut
        if isOverdue {
            // And what it has forked, which would be waited for too: Foundation gives a child a group of its own.
            Foundation.kill(-process.processIdentifier, SIGKILL)
            Foundation.kill(process.processIdentifier, SIGKILL)
            ended.wait()
            throw ChildIsOverdue()
        }
    }
}

/// A process did not end in time, and was killed.
package struct ChildIsOverdue: Error {}
