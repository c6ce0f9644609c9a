import Foundation

// MARK: - Reading

struct RangeRequest {
    var key: Data
    var rangeEnd: Data?
    var revision: Int64?
    var limit: Int64?
    var maxCreateRevision: Int64?
    var keysOnly = false
    /// `CREATE` or `MOD`: the keys with the newest of these revisions come first.
    private var order: String?

    init(key: Data, at revision: Int64? = nil) {
        (self.key, self.revision) = (key, revision)
    }

    /// All keys that begin with the given one.
    init(prefix: Data, keysOnly: Bool = false) {
        (key, rangeEnd, self.keysOnly) = (prefix, prefix.endOfPrefix, keysOnly)
    }

    /// The keys with the newest changes of all that begin with the given one.
    static func changed(_ prefix: Data) -> RangeRequest { RangeRequest(newest: "\"MOD\"", of: prefix, limit: 1) }

    /// The newest of the keys that begin with the given one.
    static func created(_ prefix: Data, limit: Int64) -> RangeRequest {
        RangeRequest(newest: "\"CREATE\"", of: prefix, limit: limit)
    }

    private init(newest order: String, of prefix: Data, limit: Int64) {
        self.init(prefix: prefix, keysOnly: true)
        (self.order, self.limit) = (order, limit)
    }

    var json: String {
        RequestJSON.object([
            "key": RequestJSON.bytes(key), "rangeEnd": rangeEnd.map(RequestJSON.bytes),
            "revision": revision.map(RequestJSON.number), "limit": limit.map(RequestJSON.number),
            "maxCreateRevision": maxCreateRevision.map(RequestJSON.number), "keysOnly": keysOnly ? "true" : nil,
            "sortOrder": order.map { _ in "\"DESCEND\"" }, "sortTarget": order,
        ])
    }
}

extension Data {
    /// The first key behind all that begin with this one, whose last byte is below 255.
    var endOfPrefix: Data {
        var end = self
        end[end.endIndex - 1] += 1
        return end
    }
}

struct RangeReply: EtcdReply {
    let revision: Int64
    let all: [EtcdKeyValue]
    /// Of all keys in the range, however few were asked for.
    let count: Int64
    /// Whether there are more keys than the limit of the request.
    let hasMore: Bool

    init(_ json: ReplyJSON) throws {
        revision = try EtcdHeader.inside(json).revision
        all = try json.replies("kvs")
        count = try json.number("count")
        hasMore = try json.flag("more")
    }
}

// MARK: - Transactions

struct EtcdCompare {
    let json: String

    /// The key was last changed in this revision; 0 if there is no such key.
    static func modified(_ key: Data, in revision: Int64) -> EtcdCompare {
        EtcdCompare(
            json: RequestJSON.object([
                "key": RequestJSON.bytes(key), "result": "\"EQUAL\"", "target": "\"MOD\"",
                "modRevision": RequestJSON.number(revision),
            ]))
    }
}

struct EtcdOperation {
    let json: String

    static func range(_ range: RangeRequest) -> EtcdOperation {
        EtcdOperation(json: RequestJSON.object(["requestRange": range.json]))
    }

    static func put(_ key: Data, _ value: Data, lease: Int64? = nil) -> EtcdOperation {
        let put = RequestJSON.object([
            "key": RequestJSON.bytes(key), "value": RequestJSON.bytes(value), "lease": lease.map(RequestJSON.number),
        ])
        return EtcdOperation(json: RequestJSON.object(["requestPut": put]))
    }

    static func delete(_ key: Data) -> EtcdOperation {
        EtcdOperation(
            json: RequestJSON.object(["requestDeleteRange": RequestJSON.object(["key": RequestJSON.bytes(key)])]))
    }
}

struct TxnRequest {
    var compare: [EtcdCompare] = []
    var success: [EtcdOperation] = []
    var failure: [EtcdOperation] = []

    /// etcd's limit of each of the three, unless its operator has changed it.
    static let mostOperations = 128

    var json: String {
        RequestJSON.object([
            "compare": RequestJSON.list(compare.map(\.json)), "success": RequestJSON.list(success.map(\.json)),
            "failure": RequestJSON.list(failure.map(\.json)),
        ])
    }
}

struct TxnReply: EtcdReply {
    private struct Response: EtcdReply {
        let range: RangeReply?

        init(_ json: ReplyJSON) throws {
            range = try json.reply("response_range")
        }
    }

    let revision: Int64
    let term: Int64
    let hasSucceeded: Bool
    /// Of the range operations, in their order.
    let replies: [RangeReply]

    init(_ json: ReplyJSON) throws {
        let header = try EtcdHeader.inside(json)
        (revision, term) = (header.revision, header.term)
        hasSucceeded = try json.flag("succeeded")
        let responses: [Response] = try json.replies("responses")
        replies = responses.compactMap(\.range)
    }

    /// nil if the comparisons failed.
    var revisionIfDone: Int64? { hasSucceeded ? revision : nil }
    var ranges: [[EtcdKeyValue]] { replies.map(\.all) }
}
