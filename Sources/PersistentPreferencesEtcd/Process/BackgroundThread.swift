import Foundation

/// Threads of the store. `Thread` of Foundation does not say if the system has none to give.
enum BackgroundThread {
    fileprivate final class Work {
        let body: () -> Void

        init(_ body: @escaping () -> Void) {
            self.body = body
        }
    }

    /// Room for reading deep JSON. A secondary thread may have 512 KiB of stack or less.
    private static let stackBytes = 2 << 20

    /// Runs the closure on a thread of its own, and does not wait for it.
    ///
    /// - Returns: false if the system has no thread to give.
    static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
        pthread_attr_init(attributes)
        defer {
            pthread_attr_destroy(attributes)
            attributes.deallocate()
        }
        pthread_attr_setstacksize(attributes, stackBytes)
        pthread_attr_setdetachstate(attributes, Int32(PTHREAD_CREATE_DETACHED))
        // The name of the thread, which nobody needs, has another type on each platform.
        let name = UnsafeMutableRawPointer.allocate(byteCount: 16, alignment: 16)
        defer { name.deallocate() }
        let work = Unmanaged.passRetained(Work(body))
        if pthread_create(typed(name), attributes, { perform($0) }, work.toOpaque()) == 0 { return true }
        work.release()
        return false
    }

    private static func typed<T>(_ memory: UnsafeMutableRawPointer) -> UnsafeMutablePointer<T> {
        memory.assumingMemoryBound(to: T.self)
    }
}

private func perform(_ work: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let work { Unmanaged<BackgroundThread.Work>.fromOpaque(work).takeRetainedValue().body() }
    return nil
}
