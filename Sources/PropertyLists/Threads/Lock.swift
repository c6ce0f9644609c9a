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

// MARK: - A value and its lock

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

    /// The object that has the state.
    package var object: AnyObject { self }

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

// MARK: - Forks

/// The locks of this process, so that `fork` finds them free.
///
/// A forked child has only the thread that called `fork`. A lock that another thread held would stay locked in the
/// child for ever, and the state that it guards could be half changed. So `fork` takes every lock first, in the parent,
/// and both processes release them (`pthread_atfork`).
package enum LockRegistry {
    /// A mutex and its position in the list of all mutexes.
    struct Node {
        var mutex = pthread_mutex_t()
        var previous: Entry?
        var next: Entry?
    }

    typealias Entry = UnsafeMutablePointer<Node>

    static func add() -> Entry {
        let entry = Entry.allocate(capacity: 1)
        entry.initialize(to: Node())
        initialize(mutex(of: entry))
        let shared = shared
        pthread_mutex_lock(shared.pointee.mutex)
        entry.pointee.next = shared.pointee.first
        shared.pointee.first?.pointee.previous = entry
        shared.pointee.first = entry
        pthread_mutex_unlock(shared.pointee.mutex)
        return entry
    }

    static func remove(_ entry: Entry) {
        let shared = shared
        pthread_mutex_lock(shared.pointee.mutex)
        let node = entry.pointee
        if let previous = node.previous { previous.pointee.next = node.next } else { shared.pointee.first = node.next }
        node.next?.pointee.previous = node.previous
        pthread_mutex_unlock(shared.pointee.mutex)
        pthread_mutex_destroy(mutex(of: entry))
        entry.deallocate()
    }

    /// The mutex of an entry, which is the first field of its node.
    static func mutex(of entry: Entry) -> UnsafeMutablePointer<pthread_mutex_t> {
        UnsafeMutableRawPointer(entry).assumingMemoryBound(to: pthread_mutex_t.self)
    }

    /// The number of forks between this process and the one that started the program. Distinguishes a forked child from
    /// its parent without a system call.
    fileprivate static var forkCount: Int { shared.pointee.forks }

    // MARK: - Fork

    private struct Shared {
        /// Guards the list.
        let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        var first: Entry?
        /// Whether the thread in `fork` holds all locks.
        var areHeld = false
        var forks = 0
    }

    nonisolated(unsafe) private static let shared = {
        let shared = UnsafeMutablePointer<Shared>.allocate(capacity: 1)
        shared.initialize(to: Shared())
        initialize(shared.pointee.mutex)
        let code = pthread_atfork(
            { LockRegistry.takeAll() }, { LockRegistry.releaseAll() }, { LockRegistry.renewAll() })
        precondition(code == 0, "no memory for pthread_atfork")
        return shared
    }()

    private static func initialize(_ mutex: UnsafeMutablePointer<pthread_mutex_t>) {
        let code = pthread_mutex_init(mutex, nil)
        precondition(code == 0, "no memory for a lock")
    }

    /// Takes every lock before a fork. Never waits for one lock while it holds another, because the order in which
    /// threads nest locks is unknown here.
    ///
    /// Gives up after 20,000 tries, at least a second, because the forking thread may hold a lock itself, or a disk may
    /// be slow. The child's locks are then free, too, but the state that they guard may be half changed.
    private static func takeAll() {
        let shared = shared
        for _ in 0..<20_000 {
            pthread_mutex_lock(shared.pointee.mutex)
            if tryAll() {
                shared.pointee.areHeld = true
                return
            }
            // A thread that holds a lock may be waiting for this mutex to create another lock.
            pthread_mutex_unlock(shared.pointee.mutex)
            usleep(50)
        }
        pthread_mutex_lock(shared.pointee.mutex)
    }

    private static func tryAll() -> Bool {
        var entry = shared.pointee.first
        while let taken = entry {
            if pthread_mutex_trylock(mutex(of: taken)) != 0 {
                release(before: taken)
                return false
            }
            entry = taken.pointee.next
        }
        return true
    }

    private static func release(before end: Entry?) {
        var entry = shared.pointee.first
        while let taken = entry, taken != end {
            pthread_mutex_unlock(mutex(of: taken))
            entry = taken.pointee.next
        }
    }

    private static func releaseAll() {
        let shared = shared
        if shared.pointee.areHeld { release(before: nil) }
        shared.pointee.areHeld = false
        pthread_mutex_unlock(shared.pointee.mutex)
    }

    private static func renewAll() {
        let shared = shared
        if shared.pointee.areHeld { release(before: nil) }
        var entry = shared.pointee.first
        while let renewed = entry {
            if !shared.pointee.areHeld { initialize(mutex(of: renewed)) }
            entry = renewed.pointee.next
        }
        shared.pointee.areHeld = false
        initialize(shared.pointee.mutex)
        shared.pointee.forks += 1
    }
}

// MARK: - Forked children

/// The process that has made something. A forked child has the memory of its parent, but none of its threads, its locks on
/// files and its queues of the kernel.
package struct ProcessMark: Equatable, Sendable {
    private let forks = LockRegistry.forkCount

    package init() {}

    /// False in a child that was forked later.
    package var isOfThisProcess: Bool { forks == LockRegistry.forkCount }

    /// Whether this process is a forked child of the one that started the program. Threads of Dispatch do not run in it.
    package static var isInForkedChild: Bool { LockRegistry.forkCount > 0 }
}

// MARK: - Values of one thread

/// A word per thread; nil at first.
@usableFromInline
package struct ThreadLocal: Sendable {
    @usableFromInline let key: pthread_key_t

    package init() {
        var key = pthread_key_t()
        let code = pthread_key_create(&key, nil)
        precondition(code == 0, "no thread-local storage left")
        self.key = key
    }

    @inlinable package var value: UnsafeRawPointer? {
        get { pthread_getspecific(key).map { UnsafeRawPointer($0) } }
        nonmutating set { pthread_setspecific(key, newValue) }
    }
}
