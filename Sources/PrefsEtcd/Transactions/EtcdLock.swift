import Foundation
import PersistentPreferences

/// The lock of a namespace, and the commits of those who have it.
///
/// The lock decides whose turn it is. The roots are protected by comparisons of revisions in the commit, whatever becomes of the lock.
///
/// 1. A client puts a *ticket*: an empty key with a lease of 5 seconds, which it renews. The client with the oldest ticket has the lock.
///    The same request reads the root. The others wait until the client before them changes its marker, and look again.
/// 2. The commit is one transaction of etcd. It compares the revisions of all roots that the update has read, and of the client's
///    *marker*. It stores the roots, puts an identifier of the operation into the marker, and removes the ticket.
/// 3. A commit without an answer is sent again. Each copy compares the marker, so etcd carries out one at most.
/// 4. After a failure, copies may still arrive. Before it reports that a commit was rejected, and before its next ticket, the client
///    changes its marker once more. This *fence* makes every earlier copy fail, because the request for a ticket compares the marker, too.
///    It also finds out whether a copy was carried out before.
///
/// For one transaction of the process at a time.
final class EtcdLock: Sendable {
    typealias Deadline = ContinuousClock.Instant

    /// Keys that the answer to a new ticket lists: the newest, among which is usually the one before it.
    private static let mostTickets: Int64 = 8

    let client: EtcdClient
    let keys: EtcdKeys
    let watch: EtcdWatch
    private let patience: Duration
    let state = Guarded(State())

    struct State {
        var client = ClientIdentity()
        /// Whether a thread renews the lease of the ticket.
        var isKeeping = false
    }

    init(_ client: EtcdClient, _ keys: EtcdKeys, _ watch: EtcdWatch, patience: Duration) {
        self.client = client
        self.keys = keys
        self.watch = watch
        self.patience = patience
    }

    /// Waits for the lock.
    ///
    /// - Returns: the revision in which it was granted, and the root in that revision.
    func acquire(_ root: String, until deadline: Deadline) throws -> (revision: Int64, root: StoredRoot) {
        do throws(EtcdFailure) {
            while true {
                try prepare(until: deadline)
                if let grant = try takeTurn(root, until: deadline) { return grant }
                try pause(until: deadline)
            }
        } catch {
            throw PrefsError.notStored(keys.failure(error))
        }
    }

    /// Puts a ticket, and waits for the end of each one before it.
    ///
    /// - Returns: nil if the identity had to be given up.
    private func takeTurn(
        _ root: String, until deadline: Deadline
    ) throws(EtcdFailure) -> (revision: Int64, root: StoredRoot)? {
        let identity = identity
        guard let lease = identity.ticketLease else { return nil }
        let (ticket, marker) = (keys.ticket(identity.name), keys.marker(identity.name))
        let root = TxnRequest.Operation.range(RangeRequest(key: keys.root(root)))
        // Not after ours, once it is known when that was created.
        var tickets = RangeRequest(prefix: keys.tickets, keysOnly: true)
        // The marker keeps out a late copy of a request of an earlier transaction.
        var request = TxnRequest(
            compare: [.modified(ticket, in: 0), .modified(marker, in: identity.marker)],
            success: [
                .put(ticket, Data(), lease: lease),
                .range(RangeRequest(newest: .created, of: keys.tickets, limit: Self.mostTickets)), root,
            ])
        var former: Int64?
        while self.identity.ticketLease == lease {
            let isLook = request.compare.isEmpty
            guard let reply = try ask(request, ranges: isLook ? 3 : 2, until: deadline) else { return nil }
            // Reads only, which etcd answers without a flush.
            defer { request = TxnRequest(success: [.range(tickets), root, .range(RangeRequest(key: marker))]) }
            // An earlier copy of the request has put the ticket, or the marker is another one.
            if !isLook, !reply.succeeded { continue }
            let ranges = reply.ranges
            // Somebody has removed the marker, or the lease of the ticket has ended.
            let hasMarker = !isLook || ranges[2].first?.modified ?? 0 == identity.marker
            guard hasMarker, let own = ranges[0].first(where: { $0.key == ticket }) else {
                abandon()
                if !hasMarker { state.withLock { $0.client = ClientIdentity() } }
                return nil
            }
            let ahead = ranges[0].filter { $0.created < own.created && keys.marker(ofTicket: $0) != nil }
            tickets.maxCreateRevision = own.created
            guard let predecessor = ahead.max(by: { $0.created < $1.created }) else {
                // Behind so many keys that are no tickets there may be one.
                if !isLook, reply.results[0].more { continue }
                return (reply.revision, StoredRoot(ranges[1].first))
            }
            // The watch has told of its end, and the server has it still.
            if former == predecessor.created { poll(nil, 0, 50) }
            former = predecessor.created
            try wait(for: predecessor, clients: ahead.count, until: deadline)
        }
        return nil
    }

    /// - Returns: nil if the lease of the identity has ended, most likely while this process was stopped.
    private func ask(
        _ request: TxnRequest, ranges count: Int, until deadline: Deadline
    ) throws(EtcdFailure) -> TxnReply? {
        do throws(EtcdFailure) {
            let reply = try client.commit(request, until: deadline)
            let isRefused = !request.compare.isEmpty && !reply.succeeded
            guard isRefused || reply.ranges.count == count else {
                throw EtcdFailure("the answer is not complete", .rejected(code: -1))
            }
            return reply
        } catch {
            abandon()
            guard error.isRejected(EtcdFailure.notFound) else { throw error }
            return nil
        }
    }

    /// Waits until a ticket has ended, for a second at the longest: a client that was killed leaves its marker as it is.
    ///
    /// - Parameter clients: how many are ahead.
    private func wait(for ticket: EtcdKeyValue, clients: Int, until deadline: Deadline) throws(EtcdFailure) {
        // The rest of the time is for giving the ticket back.
        let end = deadline - patience / 4
        guard .now < end else {
            release(until: deadline)
            throw EtcdFailure("timed out waiting for the lock; clients ahead: \(clients)")
        }
        let limit = min(end, .now + .seconds(1))
        try? watch.start(until: limit)
        watch.waitForEnd(ofTicket: ticket, until: limit)
    }

    /// Stores the changes of a session, together with the marker and the end of the ticket.
    func commit(_ changes: TxnRequest, steps: [RootStep]) throws {
        let operation = ClientIdentity.newName()
        let identity = identity
        let marker = keys.marker(identity.name)
        var request = changes
        request.compare.append(.modified(marker, in: identity.marker))
        request.success += ending(operation)
        request.failure = [.range(RangeRequest(key: marker))]
        watch.state.withLock { $0.own.append(OwnTransaction(operation: operation, steps: steps)) }
        let deadline = Deadline.now + patience
        var rejection = keys.notStored("another client has changed the roots of this update, or the lock was lost")
        let revision: Int64?
        do {
            let reply = try client.commit(request, until: deadline)
            if let done = reply.revisionIfDone { finish(at: done) }
            revision = try reply.revisionIfDone ?? self.revision(ofRejected: operation, reply, until: deadline)
        } catch let failure as EtcdFailure {
            rejection = .notStored(keys.failure(failure))
            revision = try self.revision(ofFailed: operation, failure, until: deadline)
        }
        if let revision { return watch.confirm(operation, at: revision) }
        watch.state.withLock { state in state.own.removeAll { $0.operation == operation } }
        throw rejection
    }

    /// The revision of a commit whose last copy was rejected, if another copy of it was carried out, before or after that one. Otherwise
    /// none will be.
    private func revision(
        ofRejected operation: String, _ reply: TxnReply, until deadline: Deadline
    ) throws(PrefsError) -> Int64? {
        abandon()
        guard reply.ranges.first?.first != nil || identity.marker == 0 else {
            throw .outcomeUnknown(keys.failure("the marker of this client was removed"))
        }
        do throws(EtcdFailure) {
            return try fence(after: operation, until: deadline)
        } catch {
            throw .outcomeUnknown(keys.failure(error))
        }
    }

    /// The revision of a commit that has ended with a failure, if it was carried out. Throws `outcomeUnknown` if nobody knows.
    private func revision(
        ofFailed operation: String, _ failure: EtcdFailure, until deadline: Deadline
    ) throws(PrefsError) -> Int64? {
        abandon()
        let unknown = PrefsError.outcomeUnknown(keys.failure(failure))
        guard case .rejected(let code) = failure.kind else {
            if failure.mayBeDone { throw unknown }
            return nil
        }
        do throws(EtcdFailure) {
            return try fence(after: operation, until: deadline)
        } catch {
            // A cluster without space rejects the fence, too. It has told the marker before: the commit was not carried out.
            guard error.isRejected(code), !failure.hadUnknownAttempt else { throw unknown }
            return nil
        }
    }

    /// Ends the ticket of a session that has changed nothing. Nothing depends on it: at the latest, the ticket ends with its lease.
    func release(until deadline: Deadline? = nil) {
        let identity = identity
        let request = TxnRequest(
            compare: [.modified(keys.marker(identity.name), in: identity.marker)],
            success: ending(ClientIdentity.newName()))
        do throws(EtcdFailure) {
            let reply = try client.commit(request, until: deadline ?? .now + patience / 4)
            if reply.succeeded { finish(at: reply.revision) } else { abandon() }
        } catch {
            abandon()
        }
    }

    /// Puts the identifier of the operation into the marker, and removes the ticket.
    func ending(_ operation: String) -> [TxnRequest.Operation] {
        let identity = identity
        return [
            .put(keys.marker(identity.name), Data(operation.utf8), lease: identity.markerLease?.id),
            .delete(keys.ticket(identity.name)),
        ]
    }

    private func finish(at revision: Int64) {
        state.withLock { ($0.client.marker, $0.client.isInUse, $0.client.lastUse) = (revision, false, .now) }
    }
}
