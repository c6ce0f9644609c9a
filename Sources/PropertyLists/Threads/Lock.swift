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

    /// Inlined: where the result is of a generic type, handing it on would cost more than the lock.
    @inlinable @inline(__always)
    package func withLock<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body()
    }
}

/// What a thread that holds a `Lock` waits for.
///
/// Unchecked because the pointer never changes, and its target is made for several threads.
package final class Condition: @unchecked Sendable {
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private let process = LockRegistry.forks

    package init() {
        let code = pthread_cond_init(condition, nil)
        precondition(code == 0, "no memory for a condition")
    }

    deinit {
        // In a forked child it would wait for threads of the parent. There is nothing to free.
        if process == LockRegistry.forks { pthread_cond_destroy(condition) }
        condition.deallocate()
    }

    /// Gives up the lock, which the caller holds, until a signal comes; may also return without one.
    package func wait(_ lock: Lock) {
        pthread_cond_wait(condition, lock.mutex)
    }

    package func broadcast() {
        pthread_cond_broadcast(condition)
    }
}
