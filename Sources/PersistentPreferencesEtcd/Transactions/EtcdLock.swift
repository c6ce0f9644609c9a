import Foundation
import PersistentPreferences
import PrefsFileEngine
import PrefsPropertyLists

/// The lock of a place, and the commits of those who have it.
///
/// The lock admits: the first ticket has it. The revisions of the roots and of the marker protect, whatever becomes of the lock. For one
/// transaction of the process at a time.
final class EtcdLock: Sendable {
    typealias Deadline = ContinuousClock.Instant

    /// What the owner of the lock begins with.
    struct Grant {
        let identity: ClientIdentity
        let revision: Int64
        let root: StoredRoot
    }

    private let client: EtcdClient
    private let keys: EtcdKeys
    private let watch: EtcdWatch
    private let patience: Duration
    private let keeper: LeaseKeeper
    private let state = Locked(State())

    private struct State {
        var process = LockRegistry.forks
        var identity: ClientIdentity?
    }

    init(_ client: EtcdClient, _ keys: EtcdKeys, _ watch: EtcdWatch, patience: Duration) {
        self.client = client
        self.keys = keys
        self.watch = watch
        self.patience = patience
        keeper = LeaseKeeper(client)
    }

    deinit {
        keeper.stop()
    }

    private var deadline: Deadline { .now + patience }

    /// Waits for the lock.
    func acquire(_ root: String) throws -> Grant {
        let deadline = deadline
        do throws(EtcdFailure) {
            while true {
                try checkTime(until: deadline)
                let identity = try readyIdentity(until: deadline)
                if let grant = try acquire(root, identity, until: deadline) { return grant }
            }
        } catch {
            throw PrefsError.notStored(keys.failure(error))
        }
    }

    /// - Returns: nil if the identity had to be given up.
    private func acquire(
        _ root: String, _ identity: ClientIdentity, until deadline: Deadline
    ) throws(EtcdFailure) -> Grant? {
        let (ticket, marker) = (keys.ticket(identity.name), keys.marker(identity.name))
        var tickets = RangeRequest(prefix: keys.tickets, keysOnly: true)
        (tickets.sortOrder, tickets.sortTarget) = ("ASCEND", "CREATE")
        let reading: [EtcdOperation] = [
            .range(tickets), .range(RangeRequest(key: keys.root(root))), .range(RangeRequest(key: marker)),
        ]
        while let lease = identity.ticketLease {
            // The marker keeps out a late copy of a request of an earlier transaction.
            let request = TxnRequest(
                compare: [.isAbsent(ticket), .modified(marker, in: identity.marker)],
                success: [.put(ticket, Data(), lease: lease)] + reading, failure: reading)
            let reply: TxnReply
            do throws(EtcdFailure) {
                reply = try client.commit(request, until: deadline)
            } catch {
                abandon(identity)
                guard error.isRejected(EtcdFailure.notFound) else { throw error }
                // The lease has ended, most likely while this process was stopped.
                return nil
            }
            let ranges = reply.ranges
            guard ranges.count == reading.count, let index = ranges[0].firstIndex(where: { $0.key == ticket }) else {
                abandon(identity)
                // Without its ticket if somebody has removed the marker, and otherwise never.
                guard ranges.count == reading.count else { throw unexpected }
                state.withLock { $0.identity = nil }
                return nil
            }
            guard ranges[2].first?.modified ?? 0 == identity.marker else {
                // Somebody has removed the marker.
                abandon(identity)
                state.withLock { $0.identity = nil }
                return nil
            }
            if index == 0 {
                return Grant(identity: identity, revision: reply.revision, root: StoredRoot(ranges[1].first))
            }
            let predecessor = ranges[0][index - 1]
            guard .now < deadline else {
                release(identity)
                throw EtcdFailure(
                    kind: .unreachable, endpoint: "lock",
                    reason: "\(index) others were before this process for all of the time")
            }
            // Asks again after a second at the latest, should the watch not work.
            try? watch.start(until: min(deadline, .now + .seconds(1)))
            watch.waitForEnd(
                ofTicket: predecessor.key, created: predecessor.created, seenIn: reply.revision,
                until: min(deadline, .now + .seconds(1)))
        }
        return nil
    }

    private var unexpected: EtcdFailure {
        EtcdFailure(kind: .rejected(code: -1), endpoint: "etcd", reason: "the answer is not complete")
    }

    /// Stores the changes of a session, together with the marker and the end of the ticket.
    func commit(
        _ changes: TxnRequest, steps: [EntryChange], results: [String: [String: Any]?], as identity: ClientIdentity
    ) throws {
        let operation = newOperation()
        let marker = keys.marker(identity.name)
        var request = changes
        request.compare.append(.modified(marker, in: identity.marker))
        request.success += ending(identity, operation)
        request.failure = [.range(RangeRequest(key: marker))]
        watch.expect(operation, steps, results: results)
        let reply: TxnReply
        do throws(EtcdFailure) {
            reply = try client.commit(request, until: deadline)
        } catch {
            abandon(identity)
            guard error.mayBeDone else {
                watch.forget(operation)
                throw PrefsError.notStored(keys.failure(error))
            }
            throw PrefsError.outcomeUnknown(keys.failure(error))
        }
        if reply.hasSucceeded {
            finish(identity, at: reply.revision)
            return watch.confirm(operation, at: reply.revision)
        }
        if let found = reply.ranges.first?.first, found.bytes == Data(operation.utf8) {
            // A copy of this request was carried out before.
            finish(identity, at: found.modified)
            return watch.confirm(operation, at: found.modified)
        }
        watch.forget(operation)
        abandon(identity)
        guard reply.ranges.first?.first != nil || identity.marker == 0 else {
            throw PrefsError.outcomeUnknown(
                keys.failure("the marker of this client was removed"))
        }
        throw keys.notStored("another client has changed the roots of this update, or the lock was lost")
    }

    /// Ends the ticket of a session that has changed nothing.
    func release(_ identity: ClientIdentity) {
        let operation = newOperation()
        let request = TxnRequest(
            compare: [.modified(keys.marker(identity.name), in: identity.marker)], success: ending(identity, operation))
        do throws(EtcdFailure) {
            let reply = try client.commit(request, until: deadline)
            if reply.hasSucceeded { finish(identity, at: reply.revision) } else { abandon(identity) }
        } catch {
            abandon(identity)
        }
    }

    private func ending(_ identity: ClientIdentity, _ operation: String) -> [EtcdOperation] {
        let lease = identity.withState { $0.markerLease?.id }
        return [
            .put(keys.marker(identity.name), Data(operation.utf8), lease: lease), .delete(keys.ticket(identity.name)),
        ]
    }

    private func newOperation() -> String { String(UInt64.random(in: 1...(.max)), radix: 36) }

    private func finish(_ identity: ClientIdentity, at revision: Int64) {
        identity.withState { ($0.marker, $0.isInUse, $0.lastUse) = (revision, false, .now) }
    }

    // MARK: - The identity

    /// After a failure: copies of a request may be under way, and the ticket may be there. Its lease is left to end, so that it
    /// keeps nobody out.
    private func abandon(_ identity: ClientIdentity) {
        identity.withState { ($0.ticketLease, $0.needsFence, $0.isInUse) = (nil, true, false) }
    }

    /// The identity of this process, with leases. No copy of an earlier request of it can be carried out any more.
    private func readyIdentity(until deadline: Deadline) throws(EtcdFailure) -> ClientIdentity {
        let former = state.withLock { state in
            // A forked child is another client, and leaves the ticket of its parent alone.
            if state.process != LockRegistry.forks { state = State() }
            return state.identity
        }
        var identity = former ?? ClientIdentity()
        if former?.isTooOld == true {
            identity = ClientIdentity()
        } else if let former, former.withState({ $0.needsFence }) {
            do throws(EtcdFailure) {
                try fence(former, until: deadline)
            } catch {
                guard error.isRejected(EtcdFailure.notFound) else { throw error }
                identity = ClientIdentity()
            }
        }
        let lease = identity.withState { state in
            (state.isInUse, state.lastUse) = (true, .now)
            return state.ticketLease
        }
        if identity.withState({ $0.markerLease }) == nil {
            let lease = try client.grantLease(seconds: ClientIdentity.markerSeconds, until: deadline)
            identity.withState { $0.markerLease = (lease, .now) }
        }
        if lease == nil {
            let lease = try client.grantLease(seconds: ClientIdentity.ticketSeconds, until: deadline)
            identity.withState { $0.ticketLease = lease }
            keeper.keep(lease, of: identity)
        }
        let ready = identity
        state.withLock { $0.identity = ready }
        return ready
    }

    /// A server whose answers contradict each other must not keep a thread for ever.
    private func checkTime(until deadline: Deadline) throws(EtcdFailure) {
        guard .now < deadline else {
            throw EtcdFailure(kind: .unreachable, endpoint: "etcd", reason: "the lock was not granted in time")
        }
    }

    /// Puts another marker, so that late copies of earlier requests fail, and removes the ticket.
    private func fence(_ identity: ClientIdentity, until deadline: Deadline) throws(EtcdFailure) {
        let marker = keys.marker(identity.name)
        let operation = newOperation()
        while true {
            try checkTime(until: deadline)
            // Compared, so that a late copy of this request fails, too.
            let found = try client.range(RangeRequest(key: marker), until: deadline).all.first
            let isDone = found?.bytes == Data(operation.utf8)
            let request = TxnRequest(
                compare: [.modified(marker, in: found?.modified ?? 0)], success: ending(identity, operation))
            guard let revision = try isDone ? found?.modified : client.commit(request, until: deadline).revisionIfDone
            else { continue }
            return identity.withState { ($0.marker, $0.needsFence) = (revision, false) }
        }
    }
}
