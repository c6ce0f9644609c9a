import Foundation

enum EtcdMessage {
    private static let decoder = JSONDecoder()

    static func read<Reply: Decodable>(_ type: Reply.Type, _ json: Data) throws(EtcdFailure) -> Reply {
        do {
            return try decoder.decode(type, from: json)
        } catch {
            throw EtcdFailure("the answer is not one of etcd", .unknown)
        }
    }
}

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

/// The keys of a range.
struct RangeResult: Decodable {
    @OrZero var kvs: [EtcdKeyValue]
    /// Of all keys in the range, however few were asked for.
    @OrZero var count: Int64
    /// Whether there are more keys than the limit of the request.
    @OrZero var more: Bool
}

extension RangeResult {
    init(_ reply: RangeReply) {
        (_kvs, _count, _more) = (OrZero(reply.kvs), OrZero(reply.count), OrZero(reply.more))
    }
}

struct RangeReply: Decodable {
    let header: EtcdHeader
    @OrZero var kvs: [EtcdKeyValue]
    @OrZero var count: Int64
    @OrZero var more: Bool

    var revision: Int64 { header.revision }
}

/// What several ranges were in one revision.
struct LookReply {
    let header: EtcdHeader
    let results: [RangeResult]

    var revision: Int64 { header.revision }
    var term: Int64 { header.term }
    var ranges: [[EtcdKeyValue]] { results.map(\.kvs) }
}

struct TxnReply: Decodable {
    struct Response: Decodable {
        let range: RangeResult?

        enum CodingKeys: String, CodingKey {
            case range = "response_range"
        }
    }

    let header: EtcdHeader
    @OrZero var succeeded: Bool
    @OrZero private var responses: [Response]

    var revision: Int64 { header.revision }
    /// nil if the comparisons failed.
    var revisionIfDone: Int64? { succeeded ? revision : nil }
    /// Of the range operations, in their order.
    var results: [RangeResult] { responses.compactMap(\.range) }
    var ranges: [[EtcdKeyValue]] { results.map(\.kvs) }
}

struct WatchReply: Decodable {
    let header: EtcdHeader?
    struct Event: Decodable {
        let type: String?
        let kv: EtcdKeyValue

        var isRemoval: Bool { type == "DELETE" }
    }

    @OrZero var isCreated: Bool
    @OrZero var isCanceled: Bool
    let cancelReason: String?
    @OrZero var events: [Event]

    enum CodingKeys: String, CodingKey {
        case header, events
        case isCreated = "created"
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

struct RevokeReply: Decodable {
    let header: EtcdHeader
}

/// A message of a stream.
struct StreamReply<Result: Decodable>: Decodable {
    let result: Result?
    let error: ErrorReply?
}

/// An error of the gateway. `error` is a text beside the code, is missing, or is an object with the two, as for streaming methods of
/// newer servers. A stream of an older server has another name for the code.
struct ErrorReply: Decodable {
    private struct Content: Decodable {
        let message: String?
        @OrZero var code: Int64
    }

    let message: String?
    /// 0 if there is none.
    let code: Int64

    private enum CodingKeys: CodingKey {
        case error
    }

    init(from decoder: any Decoder) throws {
        let nested = try? decoder.container(keyedBy: CodingKeys.self).decode(Content.self, forKey: .error)
        let content = try nested ?? Content(from: decoder)
        (message, code) = (content.message, content.code)
    }
}

struct AuthenticateReply: Decodable {
    let token: String?

    static func request(name: String, password: String) -> String {
        // Every text has a form in JSON.
        let json = try? JSONEncoder().encode(["name": name, "password": password])
        return String(decoding: json ?? Data(), as: UTF8.self)
    }

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
        wrappedValue = try Value(from: decoder)
    }
}

extension KeyedDecodingContainer {
    /// What the synthesized initializers call for such a member.
    func decode<Value>(_ type: OrZero<Value>.Type, forKey key: Key) throws -> OrZero<Value> {
        OrZero(try Value.member(of: self, key) ?? Value())
    }
}

protocol ReplyMember: Decodable {
    /// Zero.
    init()
    static func member<Key>(of container: KeyedDecodingContainer<Key>, _ key: Key) throws -> Self?
}

extension ReplyMember {
    static func member<Key>(of container: KeyedDecodingContainer<Key>, _ key: Key) throws -> Self? {
        try container.decodeIfPresent(Self.self, forKey: key)
    }
}

extension Bool: ReplyMember {}
extension Data: ReplyMember {}
extension Array: ReplyMember where Element: Decodable {}

extension Int64: ReplyMember {
    /// The gateway writes 64 bits as a string. The next revision is computed, so the largest number is none.
    static func member<Key>(of container: KeyedDecodingContainer<Key>, _ key: Key) throws -> Int64? {
        let number: Int64?
        do {
            guard let text = try container.decodeIfPresent(String.self, forKey: key) else { return nil }
            number = Int64(text)
        } catch {
            number = try container.decode(Int64.self, forKey: key)
        }
        if let number, number < .max { return number }
        throw DecodingError.dataCorruptedError(forKey: key, in: container, debugDescription: "not a number of etcd")
    }
}
