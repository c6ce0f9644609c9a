import Dispatch

/// The locks of a namespace. Each transaction has one of them, so that those of different roots do not wait for each other.
final class LockPool: Sendable {
    private struct State {
        var all: [EtcdLock] = []
        var idle: [EtcdLock] = []
    }

    private let make: @Sendable () -> EtcdLock
    private let state = Guarded(State())
    private let places = DispatchSemaphore(value: 0)

    /// Transactions that run at a time. Each lock has a marker in etcd, and perhaps a thread that renews its lease.
    private static let mostLocks = 16

    init(_ make: @escaping @Sendable () -> EtcdLock) {
        self.make = make
        for _ in 0..<Self.mostLocks { places.signal() }
    }

    var all: [EtcdLock] { state.withLock { $0.all } }

    /// A lock of which copies may be under way, so that its next transaction keeps them out; otherwise the one that was used last, which
    /// most likely has its leases.
    ///
    /// - Returns: nil if too many are in use until the deadline.
    func take(until deadline: EtcdLock.Deadline) -> EtcdLock? {
        guard places.wait(until: deadline) else { return nil }
        return state.withLock { state in
            let late = state.idle.lastIndex { $0.identity.needsFence }
            if let index = late ?? state.idle.indices.last { return state.idle.remove(at: index) }
            let lock = make()
            state.all.append(lock)
            return lock
        }
    }

    func giveBack(_ lock: EtcdLock) {
        state.withLock { $0.idle.append(lock) }
        places.signal()
    }
}
