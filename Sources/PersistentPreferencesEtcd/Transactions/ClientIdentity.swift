import Foundation
import PrefsPropertyLists

/// Who this process is for the others: the name under which it takes tickets and leaves its marker.
///
/// Used by one thread at a time, the one whose transaction it is; only the keeper reads the lease of the ticket meanwhile.
final class ClientIdentity: Sendable {
    let name = String(UInt64.random(in: 1...(.max)), radix: 36)
    private let state = Locked(State())

    struct State {
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
    }

    static let ticketSeconds: Int64 = 5
    static let markerSeconds: Int64 = 3_600

    func withState<R>(_ body: (inout State) throws -> R) rethrows -> R {
        try state.withLock { try body(&$0) }
    }

    var ticketLease: Int64? { state.withLock { $0.ticketLease } }
    var marker: Int64 { state.withLock { $0.marker } }

    /// Whether its marker has expired, or may do so soon.
    var isTooOld: Bool {
        state.withLock { state in
            guard let granted = state.markerLease?.granted else { return false }
            return .now - granted > .seconds(Self.markerSeconds * 3 / 4)
        }
    }
}
