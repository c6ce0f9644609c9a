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
    /// Of the leader. Grows with each election.
    let term: EtcdNumber?

    enum CodingKeys: String, CodingKey {
        case revision
        case term = "raft_term"
    }
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

/// A message of a stream.
struct StreamReply<Result: Decodable>: Decodable {
    let result: Result?
    let error: ErrorReply?
}

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
