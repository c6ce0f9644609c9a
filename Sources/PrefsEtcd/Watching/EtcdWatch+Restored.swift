/// What tells a cluster that was restored from a copy: it is behind what was known before.
extension EtcdWatch.State {
    /// Whether the cluster was restored from a copy since this was its state.
    func isAhead(of reply: TxnReply) -> Bool {
        reply.revision < own.reduce(revision) { max($0, $1.revision ?? 0) } || reply.term < term
    }

    /// A cluster that was restored from a copy no longer has what was confirmed in a former state.
    mutating func forget(_ former: Self) {
        let operations = Set(former.own.filter { $0.revision != nil }.map(\.operation))
        own.removeAll { operations.contains($0.operation) }
        found = [:]
        ahead = ahead.filter { root, stored in
            own.contains { $0.revision == stored.modified && $0.steps.contains { $0.root == root } }
        }
    }
}
