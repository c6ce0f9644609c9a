import Foundation

/// The messages of a watch.
struct WatchStream {
    let connection: GRPCConnection
    /// How many ranges the server has not taken yet.
    private(set) var missing: Int
    /// The revision after which the stream of the last range has begun, unless the range names an earlier one.
    private(set) var revision: Int64 = 0

    /// - Parameter ranges: how many were asked for.
    init(_ connection: GRPCConnection, ranges: Int) {
        (self.connection, missing) = (connection, ranges)
    }

    /// The messages that come next, perhaps none; nil if nothing comes until the deadline.
    ///
    /// - Parameter patience: how long a message that has begun may take to go on.
    /// - Throws: the reason for the end of the stream.
    mutating func receive(until deadline: EtcdClient.Deadline, patience: Duration) throws(EtcdFailure) -> [WatchReply]?
    {
        guard try connection.hasProgress(until: deadline, patience: patience) else { return nil }
        var messages: [WatchReply] = []
        while let message = try connection.nextMessage() {
            let reply = try WatchReply(message)
            if reply.isCreated { (missing, revision) = (missing - 1, max(revision, reply.revision)) }
            if reply.isCanceled {
                let reason = reply.cancelReason ?? ""
                throw EtcdFailure(reason.isEmpty ? "the watch was cancelled" : reason, .cancelled)
            }
            messages.append(reply)
        }
        if messages.isEmpty, connection.hasEnded {
            _ = try connection.receive(until: deadline)
            throw EtcdFailure("the watch has ended")
        }
        return messages
    }
}

extension EtcdClient {
    /// Opens a watch at one endpoint.
    func open(
        _ ranges: [WatchRange], at endpoint: Endpoint, until deadline: Deadline
    ) throws(EtcdFailure) -> WatchStream {
        let token = try token(at: endpoint, until: deadline)
        let connection = try connection(to: endpoint, until: deadline)
        try connection.call(.watch, token: token, ranges.map(\.bytes), until: deadline)
        return WatchStream(connection, ranges: ranges.count)
    }

    /// Waits until a key that was found in a revision has changed, as far as one server tells.
    ///
    /// The watch begins now. If other changes came between, the key is looked at once more.
    func waitForChange(of found: EtcdKeyValue, in revision: Int64, until deadline: Deadline) throws(EtcdFailure) {
        var stream = try open([WatchRange(key: found.key)], at: endpoints[preferred], until: deadline)
        var isFirst = true
        while let messages = try stream.receive(until: deadline, patience: max(.zero, deadline - .now)) {
            if messages.contains(where: { $0.events.contains { $0.kv.modified > found.modified } }) { break }
            guard isFirst, stream.missing <= 0 else { continue }
            isFirst = false
            if stream.revision <= revision { continue }
            // Not whether it is there: its owner may have put it again.
            let newest = try range(RangeRequest(revisionOf: found.key), until: deadline).kvs.first
            if newest?.modified != found.modified { break }
        }
        keep(stream.connection, until: deadline)
    }
}
