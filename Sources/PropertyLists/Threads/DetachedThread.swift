import Foundation

/// A thread that nobody waits for. `Thread` does not tell whether the system has a thread to give.
package enum DetachedThread {
    private final class Work {
        let body: () -> Void

        init(_ body: @escaping () -> Void) {
            self.body = body
        }
    }

    /// Runs the closure on a new thread.
    ///
    /// - Returns: false if the system has no thread to give.
    package static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        let work = Unmanaged.passRetained(Work(body))
        let hasStarted = create(work.toOpaque())
        if !hasStarted { work.release() }
        return hasStarted
    }

    /// The function of the thread, which detaches itself: one that has ended before another thread detaches it would be a leak if the
    /// process ended in between.
    static func perform(_ work: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        pthread_detach(pthread_self())
        if let work { Unmanaged<Work>.fromOpaque(UnsafeRawPointer(work)).takeRetainedValue().body() }
        return nil
    }
}
