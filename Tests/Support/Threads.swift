import Foundation

/// Runs the closure in so many threads at once, each with its number, and waits for all of them. Threads and not a queue:
/// a queue starts as many as there are cores.
package func inThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let done = NSCondition()
    nonisolated(unsafe) var running = count
    for number in 0..<count {
        Thread.detachNewThread {
            body(number)
            done.lock()
            running -= 1
            done.broadcast()
            done.unlock()
        }
    }
    done.lock()
    while running > 0 { done.wait() }
    done.unlock()
}
