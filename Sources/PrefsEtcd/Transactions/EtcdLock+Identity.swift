import Foundation

/// The identity of this process, its leases, and the fence that keeps out late copies of its requests.
///
/// Used by the thread whose transaction it is; meanwhile, only the thread that renews the lease of the tickets reads that.
extension EtcdLock {
    var identity: ClientIdentity { state.withLock { $0.client } }

    /// After a failure: copies of a request may be under way, and the tickets may be there. Their lease is renewed no more, so that they
    /// keep nobody out.
    func abandon() {
        state.withLock { state in
            state.client.formerTicketLease = state.client.ticketLease ?? state.client.formerTicketLease
            (state.client.ticketLease, state.client.needsFence, state.client.endOfUse) = (nil, true, nil)
        }
    }

    /// Makes sure that this process has an identity with leases, that no copy of an earlier request of it can be carried out any more, and
    /// that it may write at all. Each request has the whole patience, because a slow disk makes each of them slow.
    func prepare(forTicket needsTicket: Bool) throws(EtcdFailure) {
        // As for most changes.
        if !needsTicket, state.withLock({ $0.isPrepared }) { return }
        // Without a lease it has sent nothing.
        if identity.needsFence, identity.markerLease != nil {
            do throws(EtcdFailure) {
                _ = try fence(until: .now + patience)
            } catch {
                // Its marker has expired, which no request of it survives.
                guard error.isRejected(EtcdFailure.notFound) else { throw error }
                forgetIdentity()
            }
        }
        if identity.isTooOld { forgetIdentity() }
        if state.withLock({ $0.version }) == nil {
            let found = try client.range(RangeRequest(key: keys.version), until: .now + patience).kvs.first
            try checkVersion(found)
        }
        if identity.markerLease == nil {
            let lease = try client.grantLease(seconds: ClientIdentity.markerSeconds, until: .now + patience)
            state.withLock { $0.client.markerLease = (lease.id, .now) }
        }
        if needsTicket, identity.ticketLease == nil {
            let lease = try client.grantLease(seconds: ClientIdentity.ticketSeconds, until: .now + patience)
            let asked = ClientIdentity.ticketSeconds
            let excess = Duration.seconds(max(lease.seconds, asked) - asked)
            state.withLock { ($0.client.ticketLease, $0.client.leaseExcess) = (lease.id, min(excess, patience)) }
        }
        if needsTicket {
            state.withLock { ($0.client.endOfUse, $0.client.lastUse) = (.now + patience, .now) }
            keepLease()
        }
    }

    /// Goes on with another name. What the former one has sent can no longer be found out.
    func forgetIdentity() {
        let former = state.withLock { state in
            defer { state.client = ClientIdentity() }
            return state.client
        }
        watch.state.withLock { $0.forgetUnknown(marker: keys.marker(former.name)) }
    }

    /// Takes what the key of the protocol says.
    func checkVersion(_ found: EtcdKeyValue?) throws(EtcdFailure) {
        if let found, found.bytes != EtcdProtocol.current {
            state.withLock { $0.version = nil }
            throw EtcdProtocol.failure(found.bytes)
        }
        state.withLock { $0.version = found?.modified ?? 0 }
    }

    /// After a round without progress. A server whose answers contradict each other keeps no thread busy, and none for ever.
    func pause(until deadline: Deadline) throws(EtcdFailure) {
        guard .now < deadline else { throw EtcdFailure("the lock was not granted in time") }
        poll(nil, 0, 50)
    }

    /// Puts another marker, so that late copies of earlier requests fail, and removes the tickets by the end of their lease: they may be
    /// more than a transaction may delete.
    ///
    /// - Parameter last: the operation that the earlier requests are about.
    /// - Returns: the revision in which it was carried out meanwhile; nil if it was not.
    func fence(after last: String? = nil, until deadline: Deadline) throws(EtcdFailure) -> Int64? {
        let identity = identity
        let marker = keys.marker(identity.name)
        let operation = ClientIdentity.newOperation()
        while true {
            // Compared, so that a late copy of this request fails, too.
            let found = try client.range(RangeRequest(key: marker), until: deadline).kvs.first
            if let found {
                if found.operation == last {
                    state.withLock { ($0.client.marker, $0.client.needsFence) = (found.modified, true) }
                    return found.modified
                }
                // A commit of unknown outcome, perhaps: once there is another marker, nobody could tell.
                watch.confirm(found.operation, at: found.modified)
            }
            let isDone = found?.operation == operation
            let request = TxnRequest(
                compare: [.modified(marker, in: found?.modified ?? 0)], success: [ownMarker(operation, of: identity)])
            guard let revision = try isDone ? found?.modified : client.commit(request, until: deadline).revisionIfDone
            else {
                try pause(until: deadline)
                continue
            }
            let lease = state.withLock { state in
                defer { (state.client.tickets, state.client.formerTicketLease) = ([], nil) }
                return state.client.tickets.isEmpty ? nil : state.client.formerTicketLease
            }
            finish(at: revision)
            if let lease { try? client.revokeLease(lease, until: deadline) }
            watch.state.withLock { $0.forgetUnknown(marker: marker) }
            return nil
        }
    }

    /// Puts the identifier of the operation into the marker.
    private func ownMarker(_ operation: String, of identity: ClientIdentity) -> TxnRequest.Operation {
        .put(
            keys.marker(identity.name), Data("\(operation) \(identity.description)".utf8),
            lease: identity.markerLease?.id)
    }

    /// Puts the identifier of the operation into the marker, and removes as many tickets as a transaction may.
    func ending(_ operation: String, of identity: ClientIdentity, beside others: Int = 0) -> [TxnRequest.Operation] {
        let tickets = identity.tickets.prefix(TxnRequest.mostOperations - 2 - others)
        return [ownMarker(operation, of: identity)] + tickets.map { .delete($0) }
    }

    /// After a transaction that has changed the marker and removed tickets.
    func finish(at revision: Int64, beside others: Int = 0) {
        state.withLock { state in
            (state.client.marker, state.client.needsFence, state.client.lastUse) = (revision, false, .now)
            let removed = state.client.tickets.prefix(TxnRequest.mostOperations - 2 - others)
            if let first = state.client.firstTicket, removed.contains(first.key) { state.client.firstTicket = nil }
            state.client.tickets.removeFirst(removed.count)
            if state.client.tickets.isEmpty { (state.client.firstTicket, state.client.endOfUse) = (nil, nil) }
        }
    }

    /// Ends the leases, and so removes the marker and the tickets, for a program that ends. Another thread that does so is waited for, not
    /// longer than until the deadline, although that thread may have more time.
    func end(until deadline: Deadline) {
        guard turnToEnd.wait(until: deadline) else { return }
        defer { turnToEnd.signal() }
        let client = state.withLock { state in
            defer { state.client = ClientIdentity() }
            return state.client
        }
        // A forked child leaves the keys of its parent alone.
        guard client.process == CurrentProcess.id else { return }
        for lease in [client.ticketLease, client.markerLease?.id].compactMap({ $0 }) {
            try? self.client.revokeLease(lease, until: deadline)
        }
    }

    // MARK: - The lease of the tickets

    /// After so long without a transaction, the lease is left to end.
    private static let idleTime = Duration.seconds(30)
    /// The time from the start of one renewal to the start of the next, and the limit of each. A lease lasts three times as long, so one
    /// renewal may fail.
    private static let renewalTime = Duration.milliseconds(ClientIdentity.ticketSeconds * 1_000 / 3)

    /// Renews the lease of the tickets on a thread, which ends if the lease was not used for a while or is given up. Without a thread, the
    /// lease ends after its time, and another one is granted.
    private func keepLease() {
        state.withLock { state in
            if state.isKeeping { return }
            state.isKeeping = BackgroundThread.start { [weak self] in
                var begin = ContinuousClock.now
                repeat {
                    begin += Self.renewalTime
                    begin = max(begin, .now)
                    // A signal ends a call early.
                    while begin > .now { poll(nil, 0, Int32(((begin - .now) / .milliseconds(1)).rounded(.up))) }
                } while self?.renewLease() == true
            }
        }
    }

    /// - Returns: false if there is none to renew.
    private func renewLease() -> Bool {
        let lease = state.withLock { state in
            // A body that hangs keeps others out for so long, and no longer.
            let end = state.client.endOfUse ?? state.client.lastUse + Self.idleTime
            if .now > end { state.client.ticketLease = nil }
            state.isKeeping = state.client.ticketLease != nil
            return state.client.ticketLease
        }
        guard let lease else { return false }
        if (try? client.keepLease(lease, until: .now + Self.renewalTime)) == false {
            state.withLock { if $0.client.ticketLease == lease { $0.client.ticketLease = nil } }
        }
        return true
    }
}
