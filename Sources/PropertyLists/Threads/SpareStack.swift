import Foundation

/// Runs work on a thread with a large stack, because a secondary thread may have 96 KiB of stack or less.
package enum SpareStack {
    /// Twice the stack that recursion over the deepest property list takes in a debug build.
    private static let bytes = 2 << 20

    private final class Work {
        let body: () -> Void

        init(_ body: @escaping () -> Void) {
            self.body = body
        }
    }

    /// Runs the closure on a new thread, and waits for it. If the system has no thread to give, runs it on the caller's
    /// thread.
    package static func run<R>(_ body: () -> R) -> R {
        var result: R?
        withoutActuallyEscaping({ result = body() }) { runOnThread(Work($0)) }
        guard let result else { preconditionFailure("the work has not run") }
        return result
    }

    /// Runs the closure on a new thread, and does not wait for it.
    ///
    /// - Returns: false if the system has no thread to give.
    package static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        let work = Unmanaged.passRetained(Work(body))
        let hasStarted = withAttributes { detachThread($0, work.toOpaque()) }
        if !hasStarted { work.release() }
        return hasStarted
    }

    private static func runOnThread(_ work: Work) {
        let hasRun = withAttributes { runThread($0, Unmanaged.passUnretained(work).toOpaque()) }
        if !hasRun { work.body() }
    }

    private static func withAttributes(_ body: (UnsafePointer<pthread_attr_t>) -> Bool) -> Bool {
        let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
        pthread_attr_init(attributes)
        defer {
            pthread_attr_destroy(attributes)
            attributes.deallocate()
        }
        pthread_attr_setstacksize(attributes, bytes)
        return body(attributes)
    }

    /// The function of a thread that nobody waits for.
    static func performDetached(_ work: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        if let work { Unmanaged<Work>.fromOpaque(UnsafeRawPointer(work)).takeRetainedValue().body() }
        return nil
    }

    /// The function of a thread that the caller waits for.
    static func perform(_ work: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        if let work { Unmanaged<Work>.fromOpaque(UnsafeRawPointer(work)).takeUnretainedValue().body() }
        return nil
    }
}
