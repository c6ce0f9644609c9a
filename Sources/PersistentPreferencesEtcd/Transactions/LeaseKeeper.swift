import Foundation
import PrefsPropertyLists

/// Keeps the lease of a client's tickets alive while the client uses them, on a thread of its own.
///
/// The thread ends when the identity is released, was not used for a while, or has lost its lease.
final class LeaseKeeper: Sendable {
    private let client: EtcdClient
    private let current = Locked<(identity: ClientIdentity, lease: Int64)?>(nil)

    /// After so long without a transaction the lease is left to end.
    private static let idleTime = Duration.seconds(30)

    init(_ client: EtcdClient) {
        self.client = client
    }

    /// Begins to keep the ticket lease of an identity.
    func keep(_ lease: Int64, of identity: ClientIdentity) {
        current.withLock { $0 = (identity, lease) }
        let (process, client) = (LockRegistry.forks, client)
        Thread.detachNewThread { [weak self] in
            while process == LockRegistry.forks {
                poll(nil, 0, Int32(ClientIdentity.ticketSeconds * 1_000 / 3))
                guard let self, let identity = self.identity(of: lease), identity.ticketLease == lease else { return }
                let isIdle = identity.withState { state in
                    let isIdle = !state.isInUse && .now - state.lastUse > Self.idleTime
                    if isIdle, state.ticketLease == lease { state.ticketLease = nil }
                    return isIdle
                }
                if isIdle { return }
                let deadline = ContinuousClock.Instant.now + .seconds(ClientIdentity.ticketSeconds)
                let isAlive = try? client.keepLease(lease, until: deadline)
                if isAlive == false {
                    return identity.withState { if $0.ticketLease == lease { $0.ticketLease = nil } }
                }
            }
        }
    }

    private func identity(of lease: Int64) -> ClientIdentity? {
        current.withLock { $0?.lease == lease ? $0?.identity : nil }
    }

    /// Lets the leases end.
    func stop() {
        current.withLock { $0 = nil }
    }
}
