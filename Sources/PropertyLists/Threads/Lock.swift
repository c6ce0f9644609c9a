public import Foundation

/// A mutual-exclusion lock on a pthread mutex: what ThreadSanitizer understands on every platform, which it does not of
/// `Synchronization.Mutex` on Linux.
///
/// A forked child finds every lock free, and complete what it guards, unless the fork had to give up waiting (`LockRegistry`).
///
/// Unchecked because the pointers never change, and their targets are made for several threads.
@usableFromInline
package final class Lock: @unchecked Sendable {
    @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let entry: LockRegistry.Entry

    package init() {
        entry = LockRegistry.add()
        mutex = LockRegistry.mutex(of: entry)
    }

    deinit {
        LockRegistry.remove(entry)
    }

    /// Inlined, because passing on a result of a generic type would cost more than the lock.
    @inlinable @inline(__always)
    package func withLock<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body()
    }
}
