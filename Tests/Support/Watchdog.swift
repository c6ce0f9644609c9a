import Foundation

/// Waits for a process, and kills it where it does not come to an end, so that no test waits for ever.
final class Watchdog: @unchecked Sendable {
    private static let queue = DispatchQueue(label: "watchdogs")

    private let process: Process
    private let lock = NSLock()
    private var isOver = false
    private var hasKilled = false

    private init(_ process: Process) {
        self.process = process
    }

    /// Waits until it ends.
    static func wait(for process: Process, limit: DispatchTimeInterval) throws(ChildIsOverdue) {
        let dog = Watchdog(process)
        let alarm = DispatchWorkItem { dog.kill() }
        queue.asyncAfter(deadline: .now() + limit, execute: alarm)
        process.waitUntilExit()
        alarm.cancel()
        if dog.end() { throw ChildIsOverdue() }
    }

    private func kill() {
        lock.withLock {
            if isOver || !process.isRunning { return }
            hasKilled = true
            // And what it has forked, which would be waited for too: Foundation gives a child a group of its own.
            Foundation.kill(-process.processIdentifier, SIGKILL)
            Foundation.kill(process.processIdentifier, SIGKILL)
        }
    }

    private func end() -> Bool {
        lock.withLock {
            isOver = true
            return hasKilled
        }
    }
}

/// A process did not end in time, and was killed.
package struct ChildIsOverdue: Error {}
