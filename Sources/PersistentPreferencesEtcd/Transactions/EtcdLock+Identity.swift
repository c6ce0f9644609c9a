import Foundation
import PrefsFileEngine
import PrefsPropertyLists

/// The identity of this process, and the fence that keeps out late copies of its requests.
extension EtcdLock {
    /// After a failure: copies of a request may be under way, and the ticket may be there. Its lease is left to end, so that it
    /// keeps nobody out.
    func abandon(_ identity: ClientIdentity) {
        identity.withState { ($0.ticketLease, $0.needsFence, $0.isInUse) = (nil, true, false) }
    }

    /// The identity of this process, with leases. No copy of an earlier request of it can be carried out any more.
    func readyIdentity(until deadline: Deadline) throws(EtcdFailure) -> ClientIdentity {
        let former = state.withLock { state in
            // A forked child is another client, and leaves the ticket of its parent alone.
            if state.process != LockRegistry.forks { state = State() }
            return state.identity
        }
        var identity = former ?? ClientIdentity()
        if let former, former.withState({ $0.needsFence }) {
            do throws(EtcdFailure) {
                _ = try fence(former, until: deadline)
            } catch {
                // Its marker has expired, which no request of it survives.
                guard error.isRejected(EtcdFailure.notFound) else { throw error }
                identity = ClientIdentity()
            }
        }
        if identity.isTooOld { identity = ClientIdentity() }
        let lease = identity.withState { state in
            (state.isInUse, state.lastUse) = (true, .now)
            return state.ticketLease
        }
        if identity.withState({ $0.markerLease }) == nil {
            let lease = try client.grantLease(seconds: ClientIdentity.markerSeconds, until: deadline)
            identity.withState { $0.markerLease = (lease, .now) }
        }
        // Now, so that another failure does not cost another lease.
        let ready = identity
        state.withLock { $0.identity = ready }
        if lease == nil {
            let lease = try client.grantLease(seconds: ClientIdentity.ticketSeconds, until: deadline)
            identity.withState { $0.ticketLease = lease }
            LeaseKeeper.keep(identity, of: client)
        }
        return identity
    }

    /// After a round without progress. A server whose answers contradict each other keeps no thread busy, and none for ever.
    func pause(until deadline: Deadline) throws(EtcdFailure) {
        guard .now < deadline else {
            throw EtcdFailure(kind: .unreachable, endpoint: "etcd", reason: "the lock was not granted in time")
        }
        poll(nil, 0, 50)
    }

    /// Puts another marker, so that late copies of earlier requests fail, and removes the ticket.
    ///
    /// - Parameter last: the operation that the earlier requests are about.
    /// - Returns: the revision in which it was carried out meanwhile; nil if it was not.
    func fence(
        _ identity: ClientIdentity, after last: String? = nil, until deadline: Deadline
    ) throws(EtcdFailure) -> Int64? {
        let marker = keys.marker(identity.name)
        let operation = newOperation()
        while true {
            // Compared, so that a late copy of this request fails, too.
            let found = try client.range(RangeRequest(key: marker), until: deadline).all.first
            if let found {
                let done = String(decoding: found.bytes, as: UTF8.self)
                if done == last { return found.modified }
                // A commit of unknown outcome, perhaps: once there is another marker, nobody could tell.
                watch.confirm(done, at: found.modified)
            }
            let isDone = found?.bytes == Data(operation.utf8)
            let request = TxnRequest(
                compare: [.modified(marker, in: found?.modified ?? 0)], success: ending(identity, operation))
            guard let revision = try isDone ? found?.modified : client.commit(request, until: deadline).revisionIfDone
            else {
                try pause(until: deadline)
                continue
            }
            identity.withState { ($0.marker, $0.needsFence) = (revision, false) }
            return nil
        }
    }
}
