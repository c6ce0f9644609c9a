import Foundation

struct EtcdHeader: EtcdReply {
    let revision: Int64
    /// Of the leader. Grows with each election.
    let term: Int64

    init(_ json: ReplyJSON) throws {
        revision = try json.number("revision")
        term = try json.number("raft_term")
    }

    /// The one that every answer of etcd has.
    static func inside(_ json: ReplyJSON) throws -> EtcdHeader {
        guard let header: EtcdHeader = try json.reply("header") else { throw ReplyJSON.Malformed() }
        return header
    }
}

struct EtcdKeyValue: EtcdReply {
    let key: Data
    let bytes: Data
    let created: Int64
    let modified: Int64
    /// 0 if the key stays until it is removed.
    let lease: Int64

    init(_ json: ReplyJSON) throws {
        key = try json.bytes("key") ?? Data()
        bytes = try json.bytes("value") ?? Data()
        created = try json.number("create_revision")
        modified = try json.number("mod_revision")
        lease = try json.number("lease")
    }
}

/// A message of a stream.
struct StreamReply<Result: EtcdReply>: EtcdReply {
    let result: Result?
    let error: ErrorReply?

    init(_ json: ReplyJSON) throws {
        result = try json.reply("result")
        error = try json.reply("error")
    }
}

/// An error of the gateway. Newer servers leave out `error`; a stream has other names for the two.
struct ErrorReply: EtcdReply {
    let message: String?
    /// 0 if there is none.
    let code: Int

    init(_ json: ReplyJSON) throws {
        message = try json.text("message")
        code = Int(clamping: try json.number("code"))
    }
}
