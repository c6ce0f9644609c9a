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

/// Runs the closure on a thread with 512 KB of stack, as secondary threads of Apple's platforms have. A sanitizer makes
/// larger frames.
package func onSmallStack(_ body: @escaping () throws -> Void) throws {
    nonisolated(unsafe) let body = body
    nonisolated(unsafe) var result: Result<Void, any Error> = .success(())
    let done = DispatchSemaphore(value: 0)
    let thread = Thread {
        result = Result { try body() }
        done.signal()
    }
    thread.stackSize = Hazard.isSanitized ? 8 << 20 : 512 << 10
    thread.start()
    done.wait()
    try result.get()
}
