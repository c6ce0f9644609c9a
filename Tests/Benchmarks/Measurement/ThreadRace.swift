import Foundation

/// Threads that start together.
final class ThreadRace: @unchecked Sendable {
    private let threads: Int
    private let condition = NSCondition()
    // Guarded by the condition.
    private var waiting = 0
    private var running = 0
    private var isStarted = false

    init(_ threads: Int) {
        self.threads = threads
    }

    /// The seconds from the start to the end of the last thread.
    func run(_ body: @escaping @Sendable (_ thread: Int) -> Void) -> Double {
        for thread in 0..<threads {
            Thread.detachNewThread { [self] in
                waitForStart()
                body(thread)
                finish()
            }
        }
        let clock = ContinuousClock()
        condition.lock()
        while waiting < threads { condition.wait() }
        running = threads
        isStarted = true
        let start = clock.now
        condition.broadcast()
        while running > 0 { condition.wait() }
        condition.unlock()
        return start.duration(to: clock.now) / .seconds(1)
    }

    private func waitForStart() {
        condition.lock()
        waiting += 1
        condition.broadcast()
        while !isStarted { condition.wait() }
        condition.unlock()
    }

    private func finish() {
        condition.lock()
        running -= 1
        condition.broadcast()
        condition.unlock()
    }
}
