import Foundation
import PersistentPreferences

/// The locks of the roots of a namespace, for bodies that run once.
///
/// The lock of a root decides whose turn it is. The roots are protected by comparisons of revisions in the commit, whatever becomes of
/// the lock.
///
/// 1. A client puts a *ticket* of the root: a key with a lease of 5 seconds, which it renews, and the name of its process as the value. The
///    client with the oldest ticket has the lock. The same request reads the root. The others wait until the ticket before theirs is
///    removed, and look again. A change that is data takes no ticket: its transaction compares that there is none.
/// 2. The commit is one transaction of etcd. It compares the revisions of all roots that the update has read, and of the client's
///    *marker*. It stores the roots, puts an identifier of the operation into the marker, and removes the tickets.
/// 3. A commit without an answer is sent again. Each copy compares the marker, so etcd carries out one at most.
/// 4. After a failure, copies may still arrive. Before it reports that a commit was rejected, and before its next ticket, the client
///    changes its marker once more. This *fence* makes every earlier copy fail, because the request for a ticket compares the marker, too.
///    It also finds out whether a copy was carried out before.
///
/// For one transaction at a time. `LockPool` gives each transaction that runs a lock of its own.
final class EtcdLock: Sendable {
    typealias Deadline = ContinuousClock.Instant

    /// What became of a ticket.
    private enum Turn {
        /// The root, which does not change as long as the lock is held.
        case granted(StoredRoot)
        /// Another client has the lock, and this one does not wait.
        case taken(by: String)
        /// The identity had to be given up.
        case lost
    }

    /// Keys that the answer to a new ticket lists: the newest, among which is usually the one before it.
    private static let mostTickets: Int64 = 8

    let client: EtcdClient
    let keys: EtcdKeys
    let watch: EtcdWatch
    let patience: Duration
    let state = Guarded(State())
    let turnToEnd = DispatchSemaphore(value: 1)

    struct State {
        var client = ClientIdentity()
        /// Whether a thread renews the lease of the tickets.
        var isKeeping = false
        /// The revision of the key of the protocol; 0 if it is missing, nil if it was not read.
        var version: Int64?

        /// Whether a transaction that needs no ticket may be sent.
        var isPrepared: Bool {
            client.markerLease != nil && version != nil && !client.needsFence && !client.isTooOld
        }
    }

    init(_ client: EtcdClient, _ keys: EtcdKeys, _ watch: EtcdWatch, patience: Duration) {
        self.client = client
        self.keys = keys
        self.watch = watch
        self.patience = patience
    }

    // MARK: - Tickets

    /// Waits for the lock of a root, the first of a transaction, and reads the root.
    func acquire(_ root: String, until deadline: Deadline) throws -> StoredRoot {
        do throws(EtcdFailure) {
            // The leases may take their own time.
            var deadline = deadline
            while true {
                let begin = ContinuousClock.Instant.now
                try prepare(forTicket: true)
                deadline += .now - begin
                let end = deadline + identity.leaseExcess
                if case .granted(let stored) = try takeTurn(root, until: end) { return stored }
                try pause(until: end)
            }
        } catch {
            throw PrefsError.notStored(keys.failure(error))
        }
    }

    /// Waits for the lock of a further root.
    ///
    /// - Parameter waits: false if others, who have that lock, may be waiting for one of this client.
    func acquireAnother(_ root: String, waits: Bool, until deadline: Deadline) throws(PrefsError) -> StoredRoot {
        let turn: Turn
        do throws(EtcdFailure) {
            turn = try takeTurn(root, waits: waits, until: deadline)
        } catch {
            throw .notStored(keys.failure(error))
        }
        switch turn {
        case .granted(let stored): return stored
        case .lost: throw keys.notStored("the lock was lost")
        case .taken(let holder):
            throw .busy(
                keys.failure(
                    """
                    \(holder) has the lock of root \(root), which is before a root that this update has locked; name it in \
                    update(root:alsoLocking:)
                    """))
        }
    }

    /// Puts a ticket, and waits for the end of each one before it.
    private func takeTurn(_ root: String, waits: Bool = true, until deadline: Deadline) throws(EtcdFailure) -> Turn {
        let identity = identity
        guard let lease = identity.ticketLease else { return .lost }
        let (ticket, marker) = (keys.ticket(identity.name, of: root), keys.marker(identity.name))
        let read = TxnRequest.Operation.range(RangeRequest(key: keys.root(root)))
        // Not after ours, once it is known when that was created.
        var tickets = RangeRequest(prefix: keys.tickets(root))
        // The marker keeps out a late copy of a request of an earlier transaction.
        var request = TxnRequest(
            compare: [.modified(ticket, in: 0), .modified(marker, in: identity.marker)],
            success: [
                .put(ticket, Data(identity.description.utf8), lease: lease),
                .range(
                    RangeRequest(newest: .created, of: keys.tickets(root), limit: Self.mostTickets, keysOnly: false)),
                read,
            ])
        state.withLock { $0.client.tickets.append(ticket) }
        var former: Int64?
        while self.identity.ticketLease == lease {
            let isLook = request.compare.isEmpty
            guard let reply = try ask(request, ranges: isLook ? 3 : 2, until: deadline) else { return .lost }
            // Reads only, which etcd answers without a flush.
            defer { request = TxnRequest(success: [.range(tickets), read, .range(RangeRequest(key: marker))]) }
            // An earlier copy of the request has put the ticket, or the marker is another one.
            if !isLook, !reply.succeeded { continue }
            let ranges = reply.ranges
            // Somebody has removed the marker, or the lease of the ticket has ended.
            let hasMarker = !isLook || ranges[2].first?.modified ?? 0 == identity.marker
            guard hasMarker, let own = ranges[0].first(where: { $0.key == ticket }) else {
                abandon()
                if !hasMarker { forgetIdentity() }
                return .lost
            }
            let ahead = ranges[0].filter { $0.created < own.created && keys.isTicket($0, of: root) }
            tickets.maxCreateRevision = own.created
            guard let predecessor = ahead.max(by: { $0.created < $1.created }) else {
                // Behind so many keys that are no tickets there may be one.
                if !isLook, reply.results[0].more { continue }
                state.withLock { state in
                    state.client.firstTicket = state.client.firstTicket ?? (ticket, own.modified)
                    state.client.endOfUse = .now + patience
                }
                return .granted(StoredRoot(ranges[1].first))
            }
            let holder = ahead.min { $0.created < $1.created }?.holder ?? ""
            guard waits else { return .taken(by: holder) }
            // The watch has told of its end, and the server has it still.
            if former == predecessor.created { poll(nil, 0, 50) }
            former = predecessor.created
            let names = "\(holder); clients ahead: \(ahead.count)"
            try wait(for: predecessor, in: reply.revision, of: root, held: names, until: deadline)
        }
        return .lost
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

    /// Waits until a ticket that was found in a revision has ended, for a second at the longest: a watch may be silent.
    private func wait(
        for ticket: EtcdKeyValue, in revision: Int64, of root: String, held holder: String, until deadline: Deadline
    ) throws(EtcdFailure) {
        // The rest of the time is for giving the ticket back.
        let end = deadline - patience / 4
        guard .now < end else {
            // The locks of a session end with it.
            if identity.firstTicket == nil { release(until: deadline) }
            throw EtcdFailure("timed out waiting for the lock of root \(root), held by \(holder)")
        }
        state.withLock { $0.client.endOfUse = deadline }
        do throws(EtcdFailure) {
            try client.waitForChange(of: ticket, in: revision, until: min(end, .now + .seconds(1)))
        } catch {
            poll(nil, 0, 20)
        }
    }

    /// Ends the tickets of a session that has changed nothing. Nothing depends on it: at the latest, they end with their lease.
    func release(until deadline: Deadline? = nil) {
        let deadline = deadline ?? .now + patience / 4
        while case let identity = identity, !identity.tickets.isEmpty {
            let request = TxnRequest(
                compare: [.modified(keys.marker(identity.name), in: identity.marker)],
                success: ending(ClientIdentity.newOperation(), of: identity))
            guard let reply = try? client.commit(request, until: deadline), reply.succeeded else { return abandon() }
            finish(at: reply.revision)
        }
    }
}

extension EtcdKeyValue {
    /// Who has put a ticket. The text of another program is cut and escaped.
    fileprivate var holder: String { ClientIdentity.readable(bytes) }
}
