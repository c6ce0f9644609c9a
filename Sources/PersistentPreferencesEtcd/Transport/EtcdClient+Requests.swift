import Foundation

/// The requests of a store.
extension EtcdClient {
    func commit(_ request: TxnRequest, until deadline: Deadline) throws(EtcdFailure) -> TxnReply {
        try call("/v3/kv/txn", request, until: deadline)
    }

    func range(_ request: RangeRequest, until deadline: Deadline) throws(EtcdFailure) -> RangeReply {
        try call("/v3/kv/range", request, until: deadline)
    }

    func grantLease(seconds: Int64, until deadline: Deadline) throws(EtcdFailure) -> Int64 {
        let request = LeaseGrantRequest(seconds: EtcdNumber(seconds))
        let id = try call("/v3/lease/grant", request, as: LeaseReply.self, until: deadline).id?.value ?? 0
        // 0 is no lease: what is put with it would stay for ever.
        guard id != 0 else { throw EtcdFailure(kind: .unknown, endpoint: "etcd", reason: "it granted no lease") }
        return id
    }

    /// - Returns: false if the lease has ended.
    func keepLease(_ lease: Int64, until deadline: Deadline) throws(EtcdFailure) -> Bool {
        let request = LeaseRequest(id: EtcdNumber(lease))
        // Another endpoint may still be in time.
        let reply = try call(
            "/v3/lease/keepalive", request, as: StreamReply<LeaseReply>.self, until: deadline, patience: .seconds(1))
        guard let result = reply.result else {
            throw EtcdFailure(kind: .unknown, endpoint: "etcd", reason: reply.error?.message ?? "no answer")
        }
        return (result.seconds?.value ?? 0) > 0
    }
}
