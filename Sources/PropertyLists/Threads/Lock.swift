public import Foundation

/// State that can be accessed only under its lock, a pthread mutex. The compiler checks this rule. ThreadSanitizer
/// understands such a mutex on every platform; on Linux it does not understand `Synchronization.Mutex`.
///
/// One allocation has the mutex and the state. It is inlined into other modules, because a closure that is not specialized
/// costs more than the lock. The state is behind a pointer, to avoid the checks of exclusive access to a property. Together
/// this saves a fifth of a typed read.
///
/// In a forked child every lock is free and the state that it guards is complete, unless the fork gave up waiting
/// (`LockRegistry`).
///
/// Unchecked because the lock protects the state.
@usableFromInline
package struct Locked<State>: @unchecked Sendable {
    @usableFromInline let storage: ManagedBuffer<LockRegistry.Node, State>

    package init(_ state: State) {
        storage = LockStorage<State>.create(minimumCapacity: 1) { _ in LockRegistry.Node() }
        storage.withUnsafeMutablePointers { node, place in
            place.initialize(to: state)
            LockRegistry.add(node)
        }
    }

    /// The object that has the state, the same for all copies.
    package var object: AnyObject { storage }

    @inlinable @inline(__always)
    package func withLock<R, E: Error>(_ body: (inout State) throws(E) -> R) throws(E) -> R {
        try storage.withUnsafeMutablePointers { node, state throws(E) in
            let mutex = LockRegistry.mutex(of: node)
            pthread_mutex_lock(mutex)
            defer { pthread_mutex_unlock(mutex) }
            return try body(&state.pointee)
        }
    }
}

/// A lock without state of its own.
package typealias Lock = Locked<Void>

extension Locked<Void> {
    package init() {
        self.init(())
    }

    @inlinable @inline(__always)
    package func withLock<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
        try withLock { _ throws(E) in try body() }
    }
}

private final class LockStorage<State>: ManagedBuffer<LockRegistry.Node, State> {
    deinit {
        withUnsafeMutablePointers { node, state in
            LockRegistry.remove(node)
            state.deinitialize(count: 1)
        }
    }
}

// MARK: - Forks

/// The locks of this process, so that `fork` finds them free.
///
/// A forked child has only the thread that called `fork`. A lock that another thread held would stay locked in the
/// child for ever, and the state that it guards could be half changed. So `fork` takes every lock first, in the parent,
/// and both processes release them (`pthread_atfork`).
@usableFromInline
package enum LockRegistry {
    /// A mutex and its position in the list of a shard.
    @usableFromInline
    package struct Node {
        var mutex = pthread_mutex_t()
        var previous: Entry?
        var next: Entry?

        @usableFromInline init() {}
    }

    @usableFromInline package typealias Entry = UnsafeMutablePointer<Node>

    /// - Parameter entry: a new node at its place, which it keeps.
    static func add(_ entry: Entry) {
        initialize(mutex(of: entry))
        let shard = shard(of: entry)
        pthread_mutex_lock(shard.pointee.mutex)
        entry.pointee.next = shard.pointee.first
        shard.pointee.first?.pointee.previous = entry
        shard.pointee.first = entry
        pthread_mutex_unlock(shard.pointee.mutex)
    }

    static func remove(_ entry: Entry) {
        let shard = shard(of: entry)
        pthread_mutex_lock(shard.pointee.mutex)
        let node = entry.pointee
        if let previous = node.previous { previous.pointee.next = node.next } else { shard.pointee.first = node.next }
        node.next?.pointee.previous = node.previous
        pthread_mutex_unlock(shard.pointee.mutex)
        pthread_mutex_destroy(mutex(of: entry))
    }

    /// The mutex of an entry, which is the first field of its node.
    @inlinable
    package static func mutex(of entry: Entry) -> UnsafeMutablePointer<pthread_mutex_t> {
        UnsafeMutableRawPointer(entry).assumingMemoryBound(to: pthread_mutex_t.self)
    }

    /// The number of forks between this process and the one that started the program. Distinguishes a forked child from
    /// its parent without a system call.
    fileprivate static var forkCount: Int { shared.pointee.forks }

    // MARK: - Fork

    /// A list of locks. There are several, so that threads that make locks do not take turns.
    private struct Shard {
        /// Guards the list.
        let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        var first: Entry?
    }

    private struct Shared {
        let shards = UnsafeMutablePointer<Shard>.allocate(capacity: shardCount)
        /// Whether the thread in `fork` holds all locks.
        var areHeld = false
        var forks = 0
    }

    private static var shardCount: Int { 16 }

    private static func shard(of entry: Entry) -> UnsafeMutablePointer<Shard> {
        // Neighbors in memory are often made by one thread.
        shared.pointee.shards + Int(bitPattern: entry) >> 10 & (shardCount - 1)
    }

    nonisolated(unsafe) private static let shared = {
        let shared = UnsafeMutablePointer<Shared>.allocate(capacity: 1)
        shared.initialize(to: Shared())
        for shard in 0..<shardCount {
            (shared.pointee.shards + shard).initialize(to: Shard())
            initialize(shared.pointee.shards[shard].mutex)
        }
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
    /// threads nest locks is unknown here. The lists are taken in order.
    ///
    /// Gives up after 20,000 tries, at least a second, because the forking thread may hold a lock itself, or a disk may
    /// be slow. The child's locks are then free, too, but the state that they guard may be half changed.
    private static func takeAll() {
        for _ in 0..<20_000 {
            lockShards()
            if tryAll() {
                shared.pointee.areHeld = true
                return
            }
            // A thread that holds a lock may be waiting for a list to create another lock.
            unlockShards()
            usleep(50)
        }
        lockShards()
    }

    private static func lockShards() {
        for shard in 0..<shardCount { pthread_mutex_lock(shared.pointee.shards[shard].mutex) }
    }

    private static func unlockShards() {
        for shard in 0..<shardCount { pthread_mutex_unlock(shared.pointee.shards[shard].mutex) }
    }

    /// Calls the closure with each lock until it returns false.
    private static func forEachLock(_ body: (Entry) -> Bool) {
        for shard in 0..<shardCount {
            var entry = shared.pointee.shards[shard].first
            while let next = entry {
                guard body(next) else { return }
                entry = next.pointee.next
            }
        }
    }

    private static func tryAll() -> Bool {
        var held: Entry?
        forEachLock { entry in
            if pthread_mutex_trylock(mutex(of: entry)) != 0 { held = entry }
            return held == nil
        }
        guard let held else { return true }
        release(before: held)
        return false
    }

    private static func release(before end: Entry?) {
        forEachLock { entry in
            if entry == end { return false }
            pthread_mutex_unlock(mutex(of: entry))
            return true
        }
    }

    private static func releaseAll() {
        if shared.pointee.areHeld { release(before: nil) }
        shared.pointee.areHeld = false
        unlockShards()
    }

    private static func renewAll() {
        if shared.pointee.areHeld {
            release(before: nil)
        } else {
            forEachLock { entry in
                initialize(mutex(of: entry))
                return true
            }
        }
        shared.pointee.areHeld = false
        for shard in 0..<shardCount { initialize(shared.pointee.shards[shard].mutex) }
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
