extension LinearizabilityChecker {
    /// The wrong reads that found no value, for registers whose removals are writes of a number that such a read does
    /// not see.
    ///
    /// A read is wrong if a value was written before it, and if each removal that had begun was followed by another
    /// write that ended before the read began. Removals have the manner "remove".
    package static func staleAbsences(
        _ reads: [HistoryOperation], after operations: [HistoryOperation]
    ) -> [String] {
        reads.compactMap { read in
            let writes = operations.filter { $0.key == read.key && $0.written != nil }
            func isFollowed(since end: Int) -> Bool {
                writes.contains { $0.manner != "remove" && $0.begin > end && $0.precedes(read) }
            }
            let removals = writes.filter { $0.manner == "remove" && !read.precedes($0) }
            // At the beginning there is no value, either.
            return isFollowed(since: .min) && removals.allSatisfy { isFollowed(since: $0.end) } ? "stale: \(read)" : nil
        }
    }
}
