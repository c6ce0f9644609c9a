import Foundation

/// Runs the closure in threads that start together. Returns the seconds from their start to the end of the last one.
func race(_ threads: Int, _ body: @escaping @Sendable (_ thread: Int) -> Void) -> Double {
    let (waiting, running) = (DispatchGroup(), DispatchGroup())
    let start = DispatchSemaphore(value: 0)
    for thread in 0..<threads {
        waiting.enter()
        running.enter()
        Thread.detachNewThread {
            waiting.leave()
            start.wait()
            body(thread)
            running.leave()
        }
    }
    waiting.wait()
    let clock = ContinuousClock()
    let begin = clock.now
    for _ in 0..<threads { start.signal() }
    running.wait()
    return begin.duration(to: clock.now) / .seconds(1)
}
