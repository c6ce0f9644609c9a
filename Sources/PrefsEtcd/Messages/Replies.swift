import Foundation

/// An answer of etcd (api/etcdserverpb/rpc.proto). Its first field is the header, which none of them lacks.
protocol EtcdReply: ProtobufMessage {
    var header: EtcdHeader? { get }
}

extension EtcdReply {
    init(_ message: ArraySlice<UInt8>) throws(EtcdFailure) {
        try self.init(protobuf: message)
        if header == nil { throw ProtobufValue.malformed }
    }

    var revision: Int64 { header?.revision ?? 0 }
    /// Of the leader. Grows with each election.
    var term: Int64 { header?.term ?? 0 }
}

struct EtcdHeader: ProtobufMessage {
    var revision: Int64 = 0
    var term: Int64 = 0

    mutating func set(_ field: UInt64, to value: ProtobufValue) throws(EtcdFailure) {
        switch field {
        case 3: revision = try value.integer
        case 4: term = try value.integer
        default: break
        }
    }
}

struct EtcdKeyValue: ProtobufMessage {
    var key = Data()
    var bytes = Data()
    var created: Int64 = 0
    var modified: Int64 = 0
    /// 0 if the key stays until it is removed.
    var lease: Int64 = 0

    mutating func set(_ field: UInt64, to value: ProtobufValue) throws(EtcdFailure) {
        switch field {
        case 1: key = try value.data
        case 2: created = try value.integer
        case 3: modified = try value.integer
        case 5: bytes = try value.data
        case 6: lease = try value.integer
        default: break
        }
    }
}

/// The keys of a range: an answer, or a part of the answer to a transaction.
struct RangeReply: EtcdReply {
    var header: EtcdHeader?
    var kvs: [EtcdKeyValue] = []
    /// Of all keys in the range, however few were asked for.
    var count: Int64 = 0
    /// Whether there are more keys than the limit of the request.
    var more = false

    mutating func set(_ field: UInt64, to value: ProtobufValue) throws(EtcdFailure) {
        switch field {
        case 1: header = try value.message()
        case 2: kvs.append(try value.message())
        case 3: more = try value.flag
        case 4: count = try value.integer
        default: break
        }
    }
}

struct TxnReply: EtcdReply {
    private struct Response: ProtobufMessage {
        var range: RangeReply?

        mutating func set(_ field: UInt64, to value: ProtobufValue) throws(EtcdFailure) {
            if field == 1 { range = try value.message() }
        }
    }

    var header: EtcdHeader?
    var succeeded = false
    /// Of the range operations, in their order.
    var results: [RangeReply] = []

    /// nil if the comparisons failed.
    var revisionIfDone: Int64? { succeeded ? revision : nil }
    var ranges: [[EtcdKeyValue]] { results.map(\.kvs) }

    mutating func set(_ field: UInt64, to value: ProtobufValue) throws(EtcdFailure) {
        switch field {
        case 1: header = try value.message()
        case 2: succeeded = try value.flag
        case 3: if let range = try value.message(Response.self).range { results.append(range) }
        default: break
        }
    }
}

struct WatchReply: EtcdReply {
    struct Event: ProtobufMessage {
        var isRemoval = false
        var kv = EtcdKeyValue()

        mutating func set(_ field: UInt64, to value: ProtobufValue) throws(EtcdFailure) {
            switch field {
            case 1: isRemoval = try value.integer == 1
            case 2: kv = try value.message()
            default: break
            }
        }
    }

    var header: EtcdHeader?
    var isCreated = false
    var isCanceled = false
    var cancelReason: String?
    var events: [Event] = []

    mutating func set(_ field: UInt64, to value: ProtobufValue) throws(EtcdFailure) {
        switch field {
        case 1: header = try value.message()
        case 3: isCreated = try value.flag
        case 4: isCanceled = try value.flag
        case 6: cancelReason = try value.text
        case 11: events.append(try value.message())
        default: break
        }
    }
}

/// Of a lease that was granted or kept alive. The answer to its end has only the header.
struct LeaseReply: EtcdReply {
    var header: EtcdHeader?
    var id: Int64 = 0
    var seconds: Int64 = 0

    mutating func set(_ field: UInt64, to value: ProtobufValue) throws(EtcdFailure) {
        switch field {
        case 1: header = try value.message()
        case 2: id = try value.integer
        case 3: seconds = try value.integer
        default: break
        }
    }
}

struct AuthenticateReply: EtcdReply {
    var header: EtcdHeader?
    var token = ""

    mutating func set(_ field: UInt64, to value: ProtobufValue) throws(EtcdFailure) {
        switch field {
        case 1: header = try value.message()
        case 2:
            token = try value.text
            // It becomes a field of the headers of requests, which have one frame.
            guard token.utf8.count <= 8 << 10, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw ProtobufValue.malformed
            }
        default: break
        }
    }
}
