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

    /// The function of the thread. The thread detaches itself: if its creator did, the thread and then the process could end before that,
    /// and ThreadSanitizer would report a leak.
    static func perform(_ work: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        pthread_detach(pthread_self())
        if let work { Unmanaged<Work>.fromOpaque(UnsafeRawPointer(work)).takeRetainedValue().body() }
        return nil
    }
}
