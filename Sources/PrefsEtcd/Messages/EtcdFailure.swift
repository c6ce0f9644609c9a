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
        /// etcd has rejected it. The code is that of gRPC. This attempt has changed nothing, unless etcd has just run out of space: then it
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
    static let resourceExhausted = 8
    static let failedPrecondition = 9
    static let unauthenticated = 16
    /// Cancelled, unknown, deadline exceeded, internal and unavailable: nobody knows what became of the request.
    static let unknownOutcomes: Set<Int> = [1, 2, 4, 13, 14]
}
