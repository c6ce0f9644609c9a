import Foundation

/// Runs the closure in a number of threads at once, each with its number, and waits for all of them. Uses threads,
/// because a queue starts only as many as there are cores.
package func inThreads(
    _ count: Int, file: StaticString = #fileID, line: UInt = #line, _ body: @escaping @Sendable (Int) -> Void
) {
    let running = DispatchGroup()
    for number in 0..<count {
        running.enter()
        Thread.detachNewThread {
            body(number)
            running.leave()
        }
    }
    Patience.await("the threads", file, line) { running.wait(timeout: $0) == .success }
}

/// Runs the closure on a thread with a small stack: by default 512 KB, as secondary threads of Apple's platforms have. A sanitizer makes
/// larger frames.
package func onSmallStack(
    kibibytes: Int = Hazard.isSanitized ? 8 << 10 : 512,
    file: StaticString = #fileID, line: UInt = #line, _ body: @escaping () throws -> Void
) throws {
    nonisolated(unsafe) let body = body
    nonisolated(unsafe) var result: Result<Void, any Error> = .success(())
    let done = DispatchSemaphore(value: 0)
    let thread = Thread {
        result = Result { try body() }
        done.signal()
    }
    thread.stackSize = kibibytes << 10
    thread.start()
    Patience.await("the thread", file, line) { done.wait(timeout: $0) == .success }
    try result.get()
}
