import Foundation

// MARK: - Reading

struct RangeRequest: Encodable {
    var key: Data
    var rangeEnd: Data?
    var revision: EtcdNumber?
    var limit: EtcdNumber?
    var keysOnly: Bool?
    var sortOrder: String?
    var sortTarget: String?

    init(key: Data, at revision: Int64? = nil, keysOnly: Bool? = nil) {
        self.key = key
        self.revision = revision.map { EtcdNumber($0) }
        self.keysOnly = keysOnly
    }

    /// All keys that begin with the given one.
    init(prefix: Data, keysOnly: Bool? = nil) {
        self.init(key: prefix, keysOnly: keysOnly)
        rangeEnd = prefix.endOfPrefix
    }

    /// The key with the newest change of all that begin with the given one.
    static func newest(_ prefix: Data) -> RangeRequest {
        var request = RangeRequest(prefix: prefix, keysOnly: true)
        (request.sortOrder, request.sortTarget, request.limit) = ("DESCEND", "MOD", EtcdNumber(1))
        return request
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

struct RangeReply: Decodable {
    let header: EtcdHeader
    let kvs: [EtcdKeyValue]?
    /// Of all keys in the range, however few were asked for; missing for 0.
    let count: EtcdNumber?

    var revision: Int64 { header.revision?.value ?? 0 }
    var all: [EtcdKeyValue] { kvs ?? [] }
}

// MARK: - Transactions

struct EtcdCompare: Encodable {
    private let key: Data
    private let modRevision: EtcdNumber?
    private let createRevision: EtcdNumber?

    enum CodingKeys: String, CodingKey { case key, result, target, modRevision, createRevision }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(key, forKey: .key)
        try container.encode("EQUAL", forKey: .result)
        try container.encode(modRevision == nil ? "CREATE" : "MOD", forKey: .target)
        try container.encodeIfPresent(modRevision, forKey: .modRevision)
        try container.encodeIfPresent(createRevision, forKey: .createRevision)
    }

    /// The key was last changed in this revision; 0 if there is no such key.
    static func modified(_ key: Data, in revision: Int64) -> EtcdCompare {
        EtcdCompare(key: key, modRevision: EtcdNumber(revision), createRevision: nil)
    }

    static func isAbsent(_ key: Data) -> EtcdCompare {
        EtcdCompare(key: key, modRevision: nil, createRevision: EtcdNumber(0))
    }
}

struct EtcdOperation: Encodable {
    struct Put: Encodable {
        let key: Data
        let value: Data
        let lease: EtcdNumber?
    }

    struct Delete: Encodable {
        let key: Data
    }

    private var requestRange: RangeRequest?
    private var requestPut: Put?
    private var requestDeleteRange: Delete?

    static func range(_ range: RangeRequest) -> EtcdOperation { EtcdOperation(requestRange: range) }

    static func put(_ key: Data, _ value: Data, lease: Int64? = nil) -> EtcdOperation {
        EtcdOperation(requestPut: Put(key: key, value: value, lease: lease.map { EtcdNumber($0) }))
    }

    static func delete(_ key: Data) -> EtcdOperation { EtcdOperation(requestDeleteRange: Delete(key: key)) }
}

struct TxnRequest: Encodable {
    var compare: [EtcdCompare] = []
    var success: [EtcdOperation] = []
    var failure: [EtcdOperation] = []

    /// etcd's limit of each of the three, unless its operator has changed it.
    static let mostOperations = 128
}

struct TxnReply: Decodable {
    struct Response: Decodable {
        let range: RangeReply?

        enum CodingKeys: String, CodingKey { case range = "response_range" }
    }

    let header: EtcdHeader
    let succeeded: Bool?
    let responses: [Response]?

    var hasSucceeded: Bool { succeeded ?? false }
    var revision: Int64 { header.revision?.value ?? 0 }
    var term: Int64 { header.term?.value ?? 0 }
    /// nil if the comparisons failed.
    var revisionIfDone: Int64? { hasSucceeded ? revision : nil }
    /// Of the range operations, in their order.
    var ranges: [[EtcdKeyValue]] { replies.map(\.all) }
    var replies: [RangeReply] { (responses ?? []).compactMap(\.range) }
}
