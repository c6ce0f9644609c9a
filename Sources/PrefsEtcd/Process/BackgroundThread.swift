import Foundation

/// Threads of the store. `Thread` of Foundation does not say if the system has none to give.
enum BackgroundThread {
    fileprivate typealias Work = Guarded<@Sendable () -> Void>

    /// Runs the closure on a thread of its own, and does not wait for it.
    ///
    /// - Returns: false if the system has no thread to give.
    static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        // The name of the thread, which nobody needs, has another type on each platform.
        let name = UnsafeMutableRawPointer.allocate(byteCount: 16, alignment: 16)
        defer { name.deallocate() }
        let work = Unmanaged.passRetained(Work(body))
        if pthread_create(typed(name), nil, { perform($0) }, work.toOpaque()) == 0 { return true }
        work.release()
        return false
    }

    private static func typed<T>(_ memory: UnsafeMutableRawPointer) -> UnsafeMutablePointer<T> {
        memory.assumingMemoryBound(to: T.self)
    }
}

private func perform(_ work: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    pthread_detach(pthread_self())
    if let work { Unmanaged<BackgroundThread.Work>.fromOpaque(work).takeRetainedValue().withLock { $0 }() }
    return nil
}
