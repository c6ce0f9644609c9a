import Foundation

/// The messages of a watch.
struct WatchStream {
    let connection: HTTPConnection
    /// How many ranges the server has not taken yet.
    private(set) var missing: Int
    /// The revision after which the stream of the last range has begun, unless the range names an earlier one.
    private(set) var revision: Int64 = 0
    /// What has arrived of a line.
    private var rest = Data()
    /// Bytes of the longest line.
    private static let mostBytes = 256 << 20

    /// - Parameter ranges: how many were asked for.
    init(_ connection: HTTPConnection, ranges: Int) {
        (self.connection, missing) = (connection, ranges)
    }

    /// The messages that the next bytes complete, perhaps none; nil if nothing comes until the deadline.
    ///
    /// - Parameter patience: how long a message that has begun may take to go on.
    /// - Throws: the reason for the end of the stream.
    mutating func receive(until deadline: EtcdClient.Deadline, patience: Duration) throws(EtcdFailure) -> [WatchReply]?
    {
        guard try connection.hasInput(until: deadline) else { return nil }
        guard var part = try connection.receivePart(until: .now + patience) else {
            // What is left may be the reason for the end.
            _ = try message()
            throw EtcdFailure("the watch has ended")
        }
        var messages: [WatchReply] = []
        while let end = part.firstIndex(of: UInt8(ascii: "\n")) {
            rest += part[..<end]
            part = part[(end + 1)...]
            if let message = try message() { messages.append(message) }
        }
        rest += part
        guard rest.count <= Self.mostBytes else { throw EtcdFailure("a message of the watch is too long") }
        return messages
    }

    /// Takes the line that is complete.
    private mutating func message() throws(EtcdFailure) -> WatchReply? {
        if rest.isEmpty { return nil }
        defer { rest = Data() }
        let message = try EtcdMessage.read(StreamReply<WatchReply>.self, rest)
        guard let reply = message.result else {
            throw EtcdFailure(message.error?.message ?? "the watch has ended")
        }
        if reply.isCreated { (missing, revision) = (missing - 1, max(revision, reply.header?.revision ?? 0)) }
        if reply.isCanceled { throw EtcdFailure(reply.cancelReason ?? "the watch was cancelled", .cancelled) }
        return reply
    }
}

extension EtcdClient {
    /// Waits until a key that was found in a revision has changed, as far as one server tells.
    ///
    /// The watch begins now. If other changes came between, the key is looked at once more.
    func waitForChange(of found: EtcdKeyValue, in revision: Int64, until deadline: Deadline) throws(EtcdFailure) {
        let request = watchRequest([WatchRange(key: found.key)])
        var stream = WatchStream(try open("/v3/watch", request, at: endpoints[preferred], until: deadline), ranges: 1)
        var isFirst = true
        while let messages = try stream.receive(until: deadline, patience: max(.zero, deadline - .now)) {
            if messages.contains(where: { $0.events.contains { $0.kv.modified > found.modified } }) { return }
            guard isFirst, stream.missing <= 0 else { continue }
            isFirst = false
            if stream.revision <= revision { continue }
            // Not whether it is there: its owner may have put it again.
            let newest = try range(RangeRequest(revisionOf: found.key), until: deadline).kvs.first
            if newest?.modified != found.modified { return }
        }
    }
}
