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

/// State that can be accessed only under its lock. The compiler checks this rule.
///
/// It is inlined into other modules, because a closure that is not specialized costs more than the lock. The state is
/// behind a pointer, to avoid the checks of exclusive access to a property. Together this saves a fifth of a typed
/// read. Unchecked because the lock protects the state.
@usableFromInline
package final class Locked<State>: @unchecked Sendable {
    @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
    @usableFromInline let state = UnsafeMutablePointer<State>.allocate(capacity: 1)
    private let entry: LockRegistry.Entry

    package init(_ state: State) {
        self.state.initialize(to: state)
        entry = LockRegistry.add()
        mutex = LockRegistry.mutex(of: entry)
    }

    deinit {
        LockRegistry.remove(entry)
        state.deinitialize(count: 1)
        state.deallocate()
    }

    @inlinable @inline(__always)
    package func withLock<R, E: Error>(_ body: (inout State) throws(E) -> R) throws(E) -> R {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state.pointee)
    }
}
