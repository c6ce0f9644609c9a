import Foundation

/// The roots of a transaction as they were before, and what it makes of them.
struct RootChanges {
    /// The first ticket, and its revision. All of them have one lease, so it speaks for the others. nil without locks.
    let ticket: (key: Data, revision: Int64)?
    /// The roots as etcd has them or, without locks, as they are known.
    var found: [String: StoredRoot]
    /// What will be stored.
    var results: [String: StoredRoot] = [:]
    /// The changes, in order.
    var steps: [RootStep] = []
}
