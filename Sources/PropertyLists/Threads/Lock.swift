public import Foundation

/// A mutual-exclusion lock on a pthread mutex. ThreadSanitizer understands it on every platform; on Linux it does not
/// understand `Synchronization.Mutex`.
///
/// In a forked child every lock is free and the state that it guards is complete, unless the fork gave up waiting
/// (`LockRegistry`).
///
/// Unchecked because the pointers never change, and several threads may use their targets.
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

    /// Inlined, because passing a result of a generic type on would cost more than the lock.
    @inlinable @inline(__always)
    package func withLock<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body()
    }
}
