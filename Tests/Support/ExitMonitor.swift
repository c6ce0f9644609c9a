import Foundation

/// The thread by which Swift Testing waits for the ends of exit tests.
///
/// From the first exit test on, it asks the system for ended children in a loop, as long as one has not been collected by the thread that
/// waits for it (Swift 6.3). While all processors are busy, that took a tenth of their time.
enum ExitMonitor {
    private static let lock = NSLock()
    nonisolated(unsafe) private static var isCalm = false

    /// Leaves it the time that nothing else needs, once it is there. Linux only.
    static func calm() {
        #if os(Linux)
            lock.withLock {
                guard !isCalm else { return }
                let folder = "/proc/self/task"
                for thread in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
                    let name = try? String(contentsOfFile: "\(folder)/\(thread)/comm", encoding: .utf8)
                    guard name == "SWT ExT monitor\n", let number = id_t(thread) else { continue }
                    isCalm = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), number, 19) == 0
                }
            }
        #endif
    }
}
