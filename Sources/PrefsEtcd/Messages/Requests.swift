import Foundation

// The requests of etcd (api/etcdserverpb/rpc.proto).

/// The procedures of etcd that are used.
extension GRPCMethod {
    static let range = GRPCMethod(path: "/etcdserverpb.KV/Range")
    static let transaction = GRPCMethod(path: "/etcdserverpb.KV/Txn")
    static let watch = GRPCMethod(path: "/etcdserverpb.Watch/Watch", isStream: true)
    static let grantLease = GRPCMethod(path: "/etcdserverpb.Lease/LeaseGrant")
    static let revokeLease = GRPCMethod(path: "/etcdserverpb.Lease/LeaseRevoke")
    static let keepLease = GRPCMethod(path: "/etcdserverpb.Lease/LeaseKeepAlive", isStream: true)
    static let authenticate = GRPCMethod(path: "/etcdserverpb.Auth/Authenticate")
}

private func message(_ write: (inout ProtobufWriter) -> Void) -> [UInt8] {
    var writer = ProtobufWriter()
    write(&writer)
    return writer.bytes
}

struct RangeRequest {
    /// What the newest keys of a range are the newest by.
    enum Order: Int64 {
        case created = 2
        case modified = 3
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

    fileprivate func write(to message: inout ProtobufWriter) {
        message.add(1, key)
        message.add(2, rangeEnd ?? Data())
        message.add(3, limit ?? 0)
        message.add(4, revision ?? 0)
        // Descending.
        message.add(5, order == nil ? 0 : 2 as Int64)
        message.add(6, order?.rawValue ?? 0)
        message.add(8, keysOnly)
        message.add(13, maxCreateRevision ?? 0)
    }

    var bytes: [UInt8] { message(write) }
}

extension Data {
    /// The first key behind all that begin with this one, whose last byte is below 255.
    fileprivate var endOfPrefix: Data { dropLast() + [self[endIndex - 1] + 1] }
}

struct TxnRequest {
    struct Compare {
        fileprivate let bytes: [UInt8]

        /// The key was last changed in this revision; 0 if there is no such key.
        static func modified(_ key: Data, in revision: Int64) -> Compare {
            Compare(
                bytes: message {
                    // The last change. The comparison for equality is zero.
                    $0.add(2, 2 as Int64)
                    $0.add(3, key)
                    $0.add(6, revision)
                })
        }

        /// No key begins with the given one.
        static func none(_ prefix: Data) -> Compare {
            // No version is one of zero.
            Compare(
                bytes: message {
                    $0.add(3, prefix)
                    $0.add(64, prefix.endOfPrefix)
                })
        }
    }

    struct Operation {
        fileprivate let bytes: [UInt8]

        static func range(_ range: RangeRequest) -> Operation {
            Operation(bytes: message { $0.add(1, range.write) })
        }

        static func put(_ key: Data, _ value: Data, lease: Int64? = nil) -> Operation {
            Operation(
                bytes: message {
                    $0.add(2) {
                        $0.add(1, key)
                        $0.add(2, value)
                        $0.add(3, lease ?? 0)
                    }
                })
        }

        static func delete(_ key: Data) -> Operation {
            Operation(bytes: message { $0.add(3) { $0.add(1, key) } })
        }
    }

    var compare: [Compare] = []
    var success: [Operation] = []
    var failure: [Operation] = []

    /// etcd's limit of each of the three, unless its operator has changed it.
    static let mostOperations = 128

    var bytes: [UInt8] {
        message { message in
            for compare in compare { message.add(1, compare.bytes) }
            for operation in success { message.add(2, operation.bytes) }
            for operation in failure { message.add(3, operation.bytes) }
        }
    }
}

/// What a watch asks for.
struct WatchRange {
    let key: Data
    /// Whether it is about all keys that begin with the given one.
    var isPrefix = false
    /// The first revision to report; nil for what comes from now on. etcd reports what is past in rounds, ten a second.
    var startRevision: Int64?

    var bytes: [UInt8] {
        message {
            $0.add(1) {
                $0.add(1, key)
                $0.add(2, isPrefix ? key.endOfPrefix : Data())
                $0.add(3, startRevision ?? 0)
            }
        }
    }
}

enum LeaseRequest {
    static func grant(seconds: Int64) -> [UInt8] { message { $0.add(1, seconds) } }
    /// To end it, or to keep it alive.
    static func of(_ lease: Int64) -> [UInt8] { message { $0.add(1, lease) } }
}

enum AuthenticateRequest {
    static func bytes(name: String, password: String) -> [UInt8] {
        message {
            $0.add(1, name.utf8)
            $0.add(2, password.utf8)
        }
    }
}
