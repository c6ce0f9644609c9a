import Foundation

/// Writes the JSON of requests. The gateway ignores members that it does not know, so a misspelled name changes the meaning of a request.
///
/// `JSONEncoder` would take a third of the processor time of an update.
private enum RequestJSON {
    /// - Parameter members: names and JSON; nil leaves the member out.
    static func object(_ members: KeyValuePairs<String, String?>) -> String {
        "{" + members.compactMap { name, value in value.map { "\"\(name)\":\($0)" } }.joined(separator: ",") + "}"
    }

    static func list(_ elements: [String]) -> String { "[" + elements.joined(separator: ",") + "]" }

    static func bytes(_ bytes: Data) -> String { "\"\(bytes.base64EncodedString())\"" }

    static func number(_ number: Int64) -> String { "\(number)" }
}

struct RangeRequest {
    /// What the newest keys of a range are the newest by.
    enum Order: String {
        case created = "\"CREATE\""
        case modified = "\"MOD\""
    }

    var key: Data
    var rangeEnd: Data?
    var revision: Int64?
    var limit: Int64?
    var maxCreateRevision: Int64?
    private var keysOnly = false
    private var order: Order?

    init(key: Data, at revision: Int64? = nil) {
        (self.key, self.revision) = (key, revision)
    }

    /// All keys that begin with the given one.
    init(prefix: Data, keysOnly: Bool = false) {
        (key, rangeEnd, self.keysOnly) = (prefix, prefix.endOfPrefix, keysOnly)
    }

    /// The newest of the keys that begin with the given one, without their values.
    init(newest order: Order, of prefix: Data, limit: Int64) {
        self.init(prefix: prefix, keysOnly: true)
        (self.order, self.limit) = (order, limit)
    }

    var json: String {
        RequestJSON.object([
            "key": RequestJSON.bytes(key), "rangeEnd": rangeEnd.map(RequestJSON.bytes),
            "revision": revision.map(RequestJSON.number), "limit": limit.map(RequestJSON.number),
            "maxCreateRevision": maxCreateRevision.map(RequestJSON.number), "keysOnly": keysOnly ? "true" : nil,
            "sortOrder": order.map { _ in "\"DESCEND\"" }, "sortTarget": order?.rawValue,
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

struct EtcdCompare {
    fileprivate let json: String

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
    fileprivate let json: String

    private init(_ name: String, _ json: String) {
        self.json = "{\"\(name)\":\(json)}"
    }

    static func range(_ range: RangeRequest) -> EtcdOperation { EtcdOperation("requestRange", range.json) }

    static func put(_ key: Data, _ value: Data, lease: Int64? = nil) -> EtcdOperation {
        EtcdOperation(
            "requestPut",
            RequestJSON.object([
                "key": RequestJSON.bytes(key), "value": RequestJSON.bytes(value),
                "lease": lease.map(RequestJSON.number),
            ]))
    }

    static func delete(_ key: Data) -> EtcdOperation {
        EtcdOperation("requestDeleteRange", RangeRequest(key: key).json)
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

struct WatchRequest {
    let json: String

    /// Asks for all changes of a range of keys.
    init(from key: Data, to end: Data, startRevision: Int64) {
        let create = RequestJSON.object([
            "key": RequestJSON.bytes(key), "rangeEnd": RequestJSON.bytes(end),
            "startRevision": RequestJSON.number(startRevision),
        ])
        json = RequestJSON.object(["createRequest": create])
    }
}
