import Foundation
import PersistentPreferences

/// Who this process is for the others.
struct ClientIdentity {
    /// The name under which it takes tickets and leaves its marker.
    let name = newName()
    let process = CurrentProcess.id
    /// The lease of the tickets; nil if it has to be granted. It ends soon after its owner does.
    var ticketLease: Int64?
    /// The lease of the tickets before, until it was ended.
    var formerTicketLease: Int64?
    /// By how much the lease is longer than the one that was asked for: etcd grants none below one and a half elections. The ticket of a
    /// client that has died stays for so much longer.
    var leaseExcess = Duration.zero
    /// The lease of the marker, which has to live as long as a late copy of a request may arrive.
    var markerLease: (id: Int64, granted: ContinuousClock.Instant)?
    /// The revision of the last marker; 0 if there was none.
    var marker: Int64 = 0
    /// The tickets that it has put, perhaps.
    var tickets: [Data] = []
    /// The first of those that were granted, and its revision.
    var firstTicket: (key: Data, revision: Int64)?
    /// Whether a late copy of a request may still arrive, so that nothing else may be sent before another marker is there.
    var needsFence = false
    /// Until when the tickets are renewed; nil if none is in use.
    var endOfUse: ContinuousClock.Instant?
    var lastUse = ContinuousClock.Instant.now

    static let ticketSeconds: Int64 = 5
    static let markerSeconds: Int64 = 3_600

    static func newName() -> String { String(UInt64.random(in: 1...(.max)), radix: 36) }

    private static let operations = (word: newName(), last: Guarded<UInt64>(0))

    /// An identifier that no other operation of a client has. Random numbers would be system calls.
    static func newOperation() -> String {
        let number = operations.last.withLock { last in
            last += 1
            return last
        }
        return "\(operations.word)-\(number)"
    }

    /// Whether its marker has expired, or may do so soon.
    var isTooOld: Bool {
        markerLease.map { .now - $0.granted > .seconds(Self.markerSeconds * 3 / 4) } ?? false
    }

    /// The host and the program.
    private static let program: String = {
        var host = [CChar](repeating: 0, count: 256)
        gethostname(&host, host.count - 1)
        let bytes = host.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return "\(String(decoding: bytes, as: UTF8.self)) \(ProcessInfo.processInfo.processName)"
    }()

    /// The host, the program and the process, for those who wait for it, or ask who has changed a root.
    let description = "\(program) (process \(CurrentProcess.id))"

    /// The description of a client. The text of another program is cut and escaped.
    static func readable(_ description: Data) -> String {
        StorageFailure(path: "", reason: String(decoding: description.prefix(200), as: UTF8.self)).description
    }
}

/// The value of a marker: the identifier of an operation, a space, and the description of the client.
extension EtcdKeyValue {
    var operation: String { String(decoding: bytes.prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self) }
    var client: String { ClientIdentity.readable(bytes.drop { $0 != UInt8(ascii: " ") }.dropFirst()) }
}
