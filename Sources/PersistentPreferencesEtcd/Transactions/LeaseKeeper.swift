import Foundation
import PrefsPropertyLists

/// Keeps the leases of the tickets of this process alive while their clients use them, all on one thread.
///
/// A lease is given up if its client is gone or was not used for a while. The thread ends with the last one.
enum LeaseKeeper {
    private struct Kept {
        weak var identity: ClientIdentity?
        let client: EtcdClient
    }

    private struct State {
        var process = LockRegistry.forks
        var isRunning = false
        var kept: [ObjectIdentifier: Kept] = [:]
    }

    private static let state = Locked(State())
    /// After so long without a transaction a lease is left to end.
    private static let idleTime = Duration.seconds(30)
    /// How long a renewal may take, so that the next one is not late.
    private static let longestTime = Duration.seconds(2)

    /// Begins to keep the ticket lease of an identity. Without a thread, the lease ends after its time, and another one is granted.
    static func keep(_ identity: ClientIdentity, of client: EtcdClient) {
        state.withLock { state in
            // A forked child has no thread, and its parent's leases are the parent's.
            if state.process != LockRegistry.forks { state = State() }
            state.kept[ObjectIdentifier(identity)] = Kept(identity: identity, client: client)
            if !state.isRunning { state.isRunning = SpareStack.start(run) }
        }
    }

    @Sendable private static func run() {
        let process = LockRegistry.forks
        while true {
            poll(nil, 0, Int32(ClientIdentity.ticketSeconds * 1_000 / 3))
            let kept: [Kept] = state.withLock { state in
                guard process == state.process else { return [] }
                state.kept = state.kept.filter { $0.value.identity?.isKept(idleTime) == true }
                state.isRunning = !state.kept.isEmpty
                return Array(state.kept.values)
            }
            if kept.isEmpty { return }
            for kept in kept { renew(kept) }
        }
    }

    private static func renew(_ kept: Kept) {
        guard let identity = kept.identity, let lease = identity.ticketLease else { return }
        guard (try? kept.client.keepLease(lease, until: .now + longestTime)) == false else { return }
        identity.withState { if $0.ticketLease == lease { $0.ticketLease = nil } }
    }
}

extension ClientIdentity {
    /// Whether its lease has to be kept alive. One that was not used for a while is forgotten.
    fileprivate func isKept(_ idleTime: Duration) -> Bool {
        withState { state in
            if !state.isInUse, .now - state.lastUse > idleTime { state.ticketLease = nil }
            return state.ticketLease != nil
        }
    }
}
