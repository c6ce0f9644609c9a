/// What tells a cluster that was restored from a copy: it is behind what was known before.
extension EtcdWatch.State {
    /// What was confirmed, and the newest revision and term that were heard of.
    struct Known {
        let revision: Int64
        let term: Int64
        let operations: Set<String>

        /// Whether the cluster was restored from a copy since.
        func isAhead(of reply: TxnReply) -> Bool { reply.revision < revision || reply.term < term }
    }

    var known: Known {
        let confirmed = own.filter { $0.revision != nil }
        return Known(
            revision: confirmed.reduce(revision) { max($0, $1.revision ?? 0) }, term: term,
            operations: Set(confirmed.map(\.operation)))
    }

    /// A cluster that was restored from a copy no longer has it.
    mutating func forget(_ known: Known) {
        own.removeAll { known.operations.contains($0.operation) }
        found = [:]
        ahead = ahead.filter { root, stored in
            own.contains { $0.revision == stored.modified && $0.steps.contains { $0.root == root } }
        }
    }
}
