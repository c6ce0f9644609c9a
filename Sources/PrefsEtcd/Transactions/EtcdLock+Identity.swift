import Foundation

/// Who this process is for the others.
struct ClientIdentity {
    /// The name under which it takes tickets and leaves its marker.
    let name = newName()
    /// The lease of the ticket; nil if it has to be granted. It ends soon after its owner does.
    var ticketLease: Int64?
    /// The lease of the marker, which has to live as long as a late copy of a request may arrive.
    var markerLease: (id: Int64, granted: ContinuousClock.Instant)?
    /// The revision of the last marker; 0 if there was none.
    var marker: Int64 = 0
    /// Whether a late copy of a request may still arrive, so that nothing else may be sent before another marker is there.
    var needsFence = false
    var isInUse = false
    var lastUse = ContinuousClock.Instant.now

    static let ticketSeconds: Int64 = 5
    static let markerSeconds: Int64 = 3_600

    static func newName() -> String { String(UInt64.random(in: 1...(.max)), radix: 36) }

    /// Whether its marker has expired, or may do so soon.
    var isTooOld: Bool {
        markerLease.map { .now - $0.granted > .seconds(Self.markerSeconds * 3 / 4) } ?? false
    }
}

/// The identity of this process, its leases, and the fence that keeps out late copies of its requests.
///
/// Used by the thread whose transaction it is; meanwhile, only the thread that renews the lease of the ticket reads that.
extension EtcdLock {
    var identity: ClientIdentity { state.withLock { $0.client } }

    /// After a failure: copies of a request may be under way, and the ticket may be there. Its lease is left to end, so that it
    /// keeps nobody out.
    func abandon() {
        state.withLock { ($0.client.ticketLease, $0.client.needsFence, $0.client.isInUse) = (nil, true, false) }
    }

    /// Makes sure that this process has an identity with leases, and that no copy of an earlier request of it can be carried out any more.
    func prepare(until deadline: Deadline) throws(EtcdFailure) {
        if identity.needsFence {
            do throws(EtcdFailure) {
                _ = try fence(until: deadline)
            } catch {
                // Its marker has expired, which no request of it survives.
                guard error.isRejected(EtcdFailure.notFound) else { throw error }
                state.withLock { $0.client = ClientIdentity() }
            }
        }
        let identity = state.withLock { state in
            if state.client.isTooOld { state.client = ClientIdentity() }
            (state.client.isInUse, state.client.lastUse) = (true, .now)
            return state.client
        }
        if identity.markerLease == nil {
            let lease = try client.grantLease(seconds: ClientIdentity.markerSeconds, until: deadline)
            state.withLock { $0.client.markerLease = (lease, .now) }
        }
        if identity.ticketLease == nil {
            let lease = try client.grantLease(seconds: ClientIdentity.ticketSeconds, until: deadline)
            state.withLock { $0.client.ticketLease = lease }
            keepLease()
        }
    }

    /// After a round without progress. A server whose answers contradict each other keeps no thread busy, and none for ever.
    func pause(until deadline: Deadline) throws(EtcdFailure) {
        guard .now < deadline else { throw EtcdFailure("the lock was not granted in time") }
        poll(nil, 0, 50)
    }

    /// Puts another marker, so that late copies of earlier requests fail, and removes the ticket.
    ///
    /// - Parameter last: the operation that the earlier requests are about.
    /// - Returns: the revision in which it was carried out meanwhile; nil if it was not.
    func fence(after last: String? = nil, until deadline: Deadline) throws(EtcdFailure) -> Int64? {
        let marker = keys.marker(identity.name)
        let operation = ClientIdentity.newName()
        while true {
            // Compared, so that a late copy of this request fails, too.
            let found = try client.range(RangeRequest(key: marker), until: deadline).kvs.first
            if let found {
                let done = String(decoding: found.bytes, as: UTF8.self)
                if done == last { return found.modified }
                // A commit of unknown outcome, perhaps: once there is another marker, nobody could tell.
                watch.confirm(done, at: found.modified)
            }
            let isDone = found?.bytes == Data(operation.utf8)
            let request = TxnRequest(
                compare: [.modified(marker, in: found?.modified ?? 0)], success: ending(operation))
            guard let revision = try isDone ? found?.modified : client.commit(request, until: deadline).revisionIfDone
            else {
                try pause(until: deadline)
                continue
            }
            state.withLock { ($0.client.marker, $0.client.needsFence) = (revision, false) }
            return nil
        }
    }

    // MARK: - The lease of the ticket

    /// After so long without a transaction, the lease is left to end.
    private static let idleTime = Duration.seconds(30)
    /// How long a renewal may take, so that the next one is not late.
    private static let longestTime = Duration.seconds(2)

    /// Renews the lease of the ticket on a thread, which ends if the lease was not used for a while or is given up. Without a thread, the
    /// lease ends after its time, and another one is granted.
    private func keepLease() {
        state.withLock { state in
            if state.isKeeping { return }
            state.isKeeping = BackgroundThread.start { [weak self] in
                repeat {
                    poll(nil, 0, Int32(ClientIdentity.ticketSeconds * 1_000 / 3))
                } while self?.renewLease() == true
            }
        }
    }

    /// - Returns: false if there is none to renew.
    private func renewLease() -> Bool {
        let lease = state.withLock { state in
            if !state.client.isInUse, .now - state.client.lastUse > Self.idleTime { state.client.ticketLease = nil }
            state.isKeeping = state.client.ticketLease != nil
            return state.client.ticketLease
        }
        guard let lease else { return false }
        if (try? client.keepLease(lease, until: .now + Self.longestTime)) == false {
            state.withLock { if $0.client.ticketLease == lease { $0.client.ticketLease = nil } }
        }
        return true
    }
}
