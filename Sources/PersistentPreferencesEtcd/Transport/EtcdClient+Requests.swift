import Foundation

/// The requests of a store.
extension EtcdClient {
    func commit(_ request: TxnRequest, until deadline: Deadline) throws(EtcdFailure) -> TxnReply {
        try call("/v3/kv/txn", request.json, until: deadline)
    }

    func range(_ request: RangeRequest, until deadline: Deadline) throws(EtcdFailure) -> RangeReply {
        try call("/v3/kv/range", request.json, until: deadline)
    }

    func grantLease(seconds: Int64, until deadline: Deadline) throws(EtcdFailure) -> Int64 {
        let id = try call("/v3/lease/grant", "{\"TTL\":\(seconds)}", as: LeaseReply.self, until: deadline).id
        // 0 is no lease: what is put with it would stay for ever.
        guard id != 0 else { throw EtcdFailure(kind: .unknown, reason: "it granted no lease") }
        return id
    }

    /// - Returns: false if the lease has ended.
    func keepLease(_ lease: Int64, until deadline: Deadline) throws(EtcdFailure) -> Bool {
        // Another endpoint may still be in time.
        let reply = try call(
            "/v3/lease/keepalive", "{\"ID\":\(lease)}", as: StreamReply<LeaseReply>.self, until: deadline,
            patience: .seconds(1))
        guard let result = reply.result else {
            throw EtcdFailure(kind: .unknown, reason: reply.error?.message ?? "no answer")
        }
        return result.seconds > 0
    }
}
