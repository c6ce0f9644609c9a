import Foundation
import PersistentPreferences

/// A request that failed.
struct EtcdFailure: Error {
    enum Kind {
        /// etcd has ended a watch.
        case cancelled
        /// No server was reached: nothing has changed.
        case unreachable
        /// A server may have carried it out.
        case unknown
        /// etcd has rejected it, or what is before it. The code is that of gRPC or, from 100 on, that of HTTP. This attempt has changed nothing, unless etcd has just run out of space: then it
        /// may carry out a transaction and report that all the same (`quotaApplierV3`).
        case rejected(code: Int)
    }

    let kind: Kind
    var endpoint = "etcd"
    var reason: String
    /// Whether an earlier attempt of the same request may have been carried out.
    var hadUnknownAttempt = false

    /// - Parameter reason: may be the word of a server. It is cut to 1,200 Unicode scalars, and control characters are escaped.
    init(_ reason: String, _ kind: Kind = .unreachable) {
        self.kind = kind
        self.reason = StorageFailure(path: "", reason: reason).description
    }

    /// A system call that failed.
    static func call(_ name: String, _ code: Int32, hasSent: Bool = false) -> EtcdFailure {
        EtcdFailure("\(name): \(String(cString: strerror(code)))", hasSent ? .unknown : .unreachable)
    }

    /// The failure that an answer of etcd, or of its proxy, tells by a code of gRPC and a text.
    static func answer(_ code: Int, _ text: String) -> EtcdFailure {
        let code = code == 2 ? refusals[text] ?? code : code
        // Other numbers than those of gRPC say nothing.
        let isUnknown = !(1...16).contains(code) || unknownOutcomes.contains(code)
        return EtcdFailure(text.isEmpty ? "code \(code)" : text, isUnknown ? .unknown : .rejected(code: code))
    }

    func at(_ endpoint: Endpoint) -> EtcdFailure {
        var failure = self
        failure.endpoint = "\(endpoint)"
        return failure
    }

    /// For a client without a user, of a cluster that has users.
    var askingForUser: EtcdFailure {
        var failure = self
        failure.reason = "the cluster has users: set Options.user and Options.password (\(reason))"
        return failure
    }

    /// Whether the request may have been carried out, by this attempt or by an earlier one.
    var mayBeDone: Bool {
        if case .unknown = kind { true } else { hadUnknownAttempt }
    }

    func isRejected(_ code: Int) -> Bool {
        if case .rejected(code) = kind { true } else { false }
    }

    // Codes of gRPC.
    static let invalidArgument = 3
    static let notFound = 5
    static let permissionDenied = 7
    static let resourceExhausted = 8
    static let failedPrecondition = 9
    static let outOfRange = 11
    static let unauthenticated = 16
    /// Cancelled, unknown, deadline exceeded, internal and unavailable: nobody knows what became of the request.
    private static let unknownOutcomes: Set<Int> = [1, 2, 4, 13, 14]

    /// The codes of etcd's refusals, by its words. `etcd grpc-proxy` passes most of them on with the code 2, which says nothing, and with the
    /// words of the server, by which etcd's own client tells them apart, too: `rpctypes` of etcd 3.4 to 3.5. What is not in the list may
    /// have been carried out.
    private static let refusals: [String: Int] = {
        let words: [Int: [String]] = [
            invalidArgument: [
                "key is not provided", "key not found", "value is provided", "lease is provided",
                "too many operations in txn request",
                "duplicate key given in txn request", "request is too large", "user name is empty",
                "authentication failed, invalid user ID or password", "invalid auth management",
                "revision of auth store is old",
            ],
            notFound: ["requested lease not found"],
            permissionDenied: ["permission denied"],
            resourceExhausted: ["mvcc: database space exceeded", "too many requests"],
            failedPrecondition: [
                "lease already exists", "authentication is not enabled", "user name not found",
                "role is not granted to the user", "permission is not granted to the role",
            ],
            outOfRange: [
                "mvcc: required revision has been compacted", "mvcc: required revision is a future revision",
                "too large lease TTL",
            ],
            unauthenticated: ["invalid auth token"],
        ]
        return words.reduce(into: [:]) { refusals, list in
            for text in list.value { refusals["etcdserver: \(text)"] = list.key }
        }
    }()

    /// The failure of a request that something before etcd has answered, with a status of HTTP. A client error ends the call: the request
    /// has not reached etcd. A proxy that has no server, or is too slow, may have passed it on, and may soon have one again.
    static func status(_ status: String) -> EtcdFailure {
        let reason =
            switch status {
            case "413", "431": "a proxy before etcd refuses a request of this size"
            case "401", "403": "a proxy before etcd refuses this client"
            case "404": "there is no etcd at this address"
            default: "no answer of etcd"
            }
        let isFinal = ["400", "401", "403", "404", "413", "431"].contains(status)
        return EtcdFailure("\(reason): HTTP status \(status)", isFinal ? .rejected(code: Int(status) ?? -1) : .unknown)
    }

    // MARK: - Connections

    static func tooLong(_ what: String, _ bytes: Int, _ most: Int) -> EtcdFailure {
        EtcdFailure("\(what) is too long: \(bytes) bytes, at most \(most)", .unknown)
    }

    /// Why a server ends a connection of HTTP/2; nil if nothing is wrong.
    static func reason(ofGoAway code: Int, _ words: ArraySlice<UInt8>) -> String? {
        code == 0 ? nil : text(ofCode: code) + (words.isEmpty ? "" : ": \(String(decoding: words, as: UTF8.self))")
    }

    /// A code with which HTTP/2 ends a connection or a call. A proxy sends ENHANCE_YOUR_CALM also if a header is too long for it.
    static func text(ofCode code: Int) -> String {
        let names = [
            "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
            "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
            "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
        ]
        return "code \(code)" + (names.indices.contains(code) ? " (\(names[code]))" : "")
    }
}
