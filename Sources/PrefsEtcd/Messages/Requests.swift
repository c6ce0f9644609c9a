import Foundation

// The JSON of requests. The gateway ignores members that it does not know, so a misspelled name changes the meaning of a request.
// `JSONEncoder` would take a third of the processor time of an update.

/// - Parameter members: names and JSON; nil leaves the member out.
private func object(_ members: KeyValuePairs<String, String?>) -> String {
    var json = ""
    for case (let name, let value?) in members {
        json += json.isEmpty ? "{\"" : ",\""
        json += name
        json += "\":"
        json += value
    }
    return json + "}"
}

private func list(_ elements: [String]) -> String { "[" + elements.joined(separator: ",") + "]" }
private func base64(_ bytes: Data) -> String { "\"" + bytes.base64EncodedString() + "\"" }
private func number(_ number: Int64) -> String { String(number) }

struct RangeRequest {
    /// What the newest keys of a range are the newest by.
    enum Order: String {
        case created = "\"CREATE\""
        case modified = "\"MOD\""
    }

    var key: Data
    private var rangeEnd: Data?
    var revision: Int64?
    var limit: Int64?
    var maxCreateRevision: Int64?
    private var keysOnly = false
    private var order: Order?

    init(key: Data) {
        self.key = key
    }

    /// When a key was last changed.
    init(revisionOf key: Data) {
        (self.key, keysOnly) = (key, true)
    }

    /// All keys that begin with the given one.
    init(prefix: Data, keysOnly: Bool = false) {
        (key, rangeEnd, self.keysOnly) = (prefix, prefix.endOfPrefix, keysOnly)
    }

    /// The newest of the keys that begin with the given one.
    init(newest order: Order, of prefix: Data, limit: Int64, keysOnly: Bool = true) {
        self.init(prefix: prefix, keysOnly: keysOnly)
        (self.order, self.limit) = (order, limit)
    }

    var json: String {
        object([
            "key": base64(key), "rangeEnd": rangeEnd.map(base64), "revision": revision.map(number),
            "limit": limit.map(number), "maxCreateRevision": maxCreateRevision.map(number),
            "keysOnly": keysOnly ? "true" : nil, "sortOrder": order.map { _ in "\"DESCEND\"" },
            "sortTarget": order?.rawValue,
        ])
    }
}

extension Data {
    /// The first key behind all that begin with this one, whose last byte is below 255.
    fileprivate var endOfPrefix: Data { dropLast() + [self[endIndex - 1] + 1] }
}

struct TxnRequest {
    struct Compare {
        fileprivate let json: String

        /// The key was last changed in this revision; 0 if there is no such key.
        static func modified(_ key: Data, in revision: Int64) -> Compare {
            // The gateway takes long for each member, so those that are zero, as EQUAL is, are left out.
            Compare(json: object(["key": base64(key), "target": "\"MOD\"", "modRevision": number(revision)]))
        }

        /// No key begins with the given one.
        static func none(_ prefix: Data) -> Compare {
            // No version is one of zero.
            Compare(json: object(["key": base64(prefix), "rangeEnd": base64(prefix.endOfPrefix)]))
        }
    }

    struct Operation {
        fileprivate let json: String

        static func range(_ range: RangeRequest) -> Operation { Operation(json: object(["requestRange": range.json])) }

        static func put(_ key: Data, _ value: Data, lease: Int64? = nil) -> Operation {
            let put = object(["key": base64(key), "value": base64(value), "lease": lease.map(number)])
            return Operation(json: object(["requestPut": put]))
        }

        static func delete(_ key: Data) -> Operation {
            Operation(json: object(["requestDeleteRange": object(["key": base64(key)])]))
        }
    }

    var compare: [Compare] = []
    var success: [Operation] = []
    var failure: [Operation] = []

    /// etcd's limit of each of the three, unless its operator has changed it.
    static let mostOperations = 128

    var json: String {
        object([
            "compare": list(compare.map(\.json)), "success": list(success.map(\.json)),
            "failure": list(failure.map(\.json)),
        ])
    }
}

/// What a watch asks for.
struct WatchRange {
    let key: Data
    /// Whether it is about all keys that begin with the given one.
    var isPrefix = false
    /// The first revision to report; nil for what comes from now on. etcd reports what is past in rounds, ten a second.
    var startRevision: Int64?

    fileprivate var json: String {
        let create = object([
            "key": base64(key), "rangeEnd": isPrefix ? base64(key.endOfPrefix) : nil,
            "startRevision": startRevision.map(number),
        ])
        return object(["createRequest": create])
    }
}

/// The gateway takes the ranges one after another, if all of them arrive in one packet.
func watchRequest(_ ranges: [WatchRange]) -> String { ranges.map(\.json).joined(separator: "\n") }
