import Foundation

struct EtcdHeader: Decodable {
    @OrZero var revision: Int64
    /// Of the leader. Grows with each election.
    @OrZero var term: Int64

    enum CodingKeys: String, CodingKey {
        case revision
        case term = "raft_term"
    }
}

struct EtcdKeyValue: Decodable {
    @OrZero var key: Data
    @OrZero var bytes: Data
    @OrZero var created: Int64
    @OrZero var modified: Int64
    /// 0 if the key stays until it is removed.
    @OrZero var lease: Int64

    enum CodingKeys: String, CodingKey {
        case key, lease
        case bytes = "value"
        case created = "create_revision"
        case modified = "mod_revision"
    }
}

struct RangeReply: Decodable {
    let header: EtcdHeader
    @OrZero var all: [EtcdKeyValue]
    /// Of all keys in the range, however few were asked for.
    @OrZero var count: Int64
    /// Whether there are more keys than the limit of the request.
    @OrZero var hasMore: Bool

    enum CodingKeys: String, CodingKey {
        case header, count
        case all = "kvs"
        case hasMore = "more"
    }

    var revision: Int64 { header.revision }
}

struct TxnReply: Decodable {
    struct Response: Decodable {
        let range: RangeReply?

        enum CodingKeys: String, CodingKey {
            case range = "response_range"
        }
    }

    let header: EtcdHeader
    @OrZero var hasSucceeded: Bool
    @OrZero private var responses: [Response]

    enum CodingKeys: String, CodingKey {
        case header, responses
        case hasSucceeded = "succeeded"
    }

    var revision: Int64 { header.revision }
    var term: Int64 { header.term }
    /// nil if the comparisons failed.
    var revisionIfDone: Int64? { hasSucceeded ? revision : nil }
    /// Of the range operations, in their order.
    var replies: [RangeReply] { responses.compactMap(\.range) }
    var ranges: [[EtcdKeyValue]] { replies.map(\.all) }
}

struct WatchReply: Decodable {
    struct Event: Decodable {
        let type: String?
        let kv: EtcdKeyValue

        var isRemoval: Bool { type == "DELETE" }
    }

    @OrZero var isCanceled: Bool
    let cancelReason: String?
    @OrZero var events: [Event]

    enum CodingKeys: String, CodingKey {
        case events
        case isCanceled = "canceled"
        case cancelReason = "cancel_reason"
    }
}

struct LeaseReply: Decodable {
    @OrZero var id: Int64
    @OrZero var seconds: Int64

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

/// An error of the gateway. Newer servers leave out `error`; a stream has other names for the two.
struct ErrorReply: Decodable {
    let message: String?
    /// 0 if there is none.
    @OrZero var code: Int64
}

struct AuthenticateReply: Decodable {
    let token: String?

    enum CodingKeys: CodingKey {
        case token
    }

    init(from decoder: any Decoder) throws {
        token = try decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(String.self, forKey: .token)
        // It becomes a line of a header.
        guard token?.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) ?? true else {
            throw CocoaError(.coderInvalidValue)
        }
    }
}

// MARK: - Members

/// A member of a reply. In replies, a missing member is zero, and so is null.
@propertyWrapper struct OrZero<Value: ReplyMember>: Decodable {
    let wrappedValue: Value

    init(_ value: Value) {
        wrappedValue = value
    }

    init(from decoder: any Decoder) throws {
        wrappedValue = try Value.member(from: decoder)
    }
}

extension KeyedDecodingContainer {
    /// What the synthesized initializers call for such a member.
    func decode<Value>(_ type: OrZero<Value>.Type, forKey key: Key) throws -> OrZero<Value> {
        try decodeIfPresent(type, forKey: key) ?? OrZero(Value.zero)
    }
}

protocol ReplyMember: Decodable {
    static var zero: Self { get }
    static func member(from decoder: any Decoder) throws -> Self
}

extension ReplyMember {
    static func member(from decoder: any Decoder) throws -> Self {
        try decoder.singleValueContainer().decode(Self.self)
    }
}

extension Bool: ReplyMember {
    static var zero: Bool { false }
}

extension Data: ReplyMember {
    static var zero: Data { Data() }
}

extension Array: ReplyMember where Element: Decodable {
    static var zero: [Element] { [] }
}

extension Int64: ReplyMember {
    /// The gateway writes 64 bits as a string. The next revision is computed, so the largest number is none.
    static func member(from decoder: any Decoder) throws -> Int64 {
        let container = try decoder.singleValueContainer()
        let number = try (try? container.decode(String.self)).map { Int64($0) } ?? container.decode(Int64.self)
        guard let number, number < .max else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a number of etcd")
        }
        return number
    }
}
