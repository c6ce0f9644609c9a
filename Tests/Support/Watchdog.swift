import Foundation

/// Waits for a process, and kills it if it does not end in time, so that no test waits for ever.
///
/// Does not use `waitUntilExit`, which runs a run loop on the caller's thread. Foundation on Linux destroys the run
/// loop and its memory when the thread ends; that crashes under ThreadSanitizer.
final class Watchdog: Sendable {
    private let ended = DispatchSemaphore(value: 0)

    /// - Parameter process: not started yet.
    init(_ process: Process) {
        process.terminationHandler = { [ended] _ in ended.signal() }
    }

    /// Waits until it ends.
    ///
    /// - Parameter limit: as long as a wait may last if it is nil.
    func wait(
        for process: Process, limit: DispatchTimeInterval? = nil, _ file: StaticString, _ line: UInt
    ) throws(ChildIsOverdue) {
        guard process.isRunning else { return }
        let isOverdue = ended.wait(timeout: .now() + (limit ?? .seconds(Patience.seconds))) == .timedOut
        if isOverdue {
            // Kills its forked children, too, because the test would wait for them: Foundation gives a child its own
            // process group.
            Foundation.kill(-process.processIdentifier, SIGKILL)
            Foundation.kill(process.processIdentifier, SIGKILL)
            ended.wait()
            let words = [process.executableURL?.lastPathComponent ?? ""] + (process.arguments ?? [])
            let what = "\(words.joined(separator: " ")): did not end"
            throw ChildIsOverdue(
                description: limit.map { "\(what) within \($0) (\(file):\(line))" }
                    ?? Patience.failure(what, file, line))
        }
    }
}

/// A process did not end in time, and was killed.
package struct ChildIsOverdue: Error, CustomStringConvertible {
    package let description: String
}
