import Foundation

// The messages of etcd's JSON gateway. In a reply, a missing field is zero. The gateway ignores fields that it does not know,
// so every request is made of these types.

/// A number of 64 bits, which the gateway writes as a string.
struct EtcdNumber: Codable {
    var value: Int64

    init(_ value: Int64) { self.value = value }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        // The next revision is computed, so the largest is none.
        guard let value = Int64(try container.decode(String.self)), value < .max else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a number")
        }
        self.value = value
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode("\(value)")
    }
}

struct EtcdHeader: Decodable {
    let revision: EtcdNumber?
}

struct EtcdKeyValue: Decodable {
    let key: Data
    let value: Data?
    let createRevision: EtcdNumber?
    let modRevision: EtcdNumber?

    enum CodingKeys: String, CodingKey {
        case key, value
        case createRevision = "create_revision"
        case modRevision = "mod_revision"
    }

    var bytes: Data { value ?? Data() }
    var created: Int64 { createRevision?.value ?? 0 }
    var modified: Int64 { modRevision?.value ?? 0 }
}

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
    let header: EtcdHeader?
    let kvs: [EtcdKeyValue]?

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
    /// nil if the comparisons failed.
    var revisionIfDone: Int64? { hasSucceeded ? revision : nil }
    /// Of the range operations, in their order.
    var ranges: [[EtcdKeyValue]] { (responses ?? []).compactMap(\.range?.all) }
}

// MARK: - Leases and users

struct LeaseGrantRequest: Encodable {
    let seconds: EtcdNumber

    enum CodingKeys: String, CodingKey { case seconds = "TTL" }
}

struct LeaseRequest: Encodable {
    let id: EtcdNumber

    enum CodingKeys: String, CodingKey { case id = "ID" }
}

struct LeaseReply: Decodable {
    let id: EtcdNumber?
    let seconds: EtcdNumber?

    enum CodingKeys: String, CodingKey {
        case id = "ID"
        case seconds = "TTL"
    }
}

/// A message of a stream.
struct StreamReply<Result: Decodable>: Decodable {
    let result: Result?
    let error: ErrorReply?
}

struct AuthenticateRequest: Encodable {
    let name: String
    let password: String
}

struct AuthenticateReply: Decodable {
    let token: String?
}

struct EmptyReply: Decodable {}

/// An error of the gateway. Newer servers leave out `error`; a stream has other names for the two.
struct ErrorReply: Decodable {
    let message: String?
    let code: Int?
    let grpcCode: Int?

    enum CodingKeys: String, CodingKey {
        case message, code
        case grpcCode = "grpc_code"
    }
}

// MARK: - Watching

struct WatchRequest: Encodable {
    struct Create: Encodable {
        let key: Data
        let rangeEnd: Data
        let startRevision: EtcdNumber
    }

    let createRequest: Create
}

struct WatchReply: Decodable {
    struct Event: Decodable {
        let type: String?
        let kv: EtcdKeyValue

        var isRemoval: Bool { type == "DELETE" }
    }

    let created: Bool?
    let canceled: Bool?
    let compactRevision: EtcdNumber?
    let cancelReason: String?
    let events: [Event]?

    enum CodingKeys: String, CodingKey {
        case created, canceled, events
        case compactRevision = "compact_revision"
        case cancelReason = "cancel_reason"
    }
}
