import Foundation
import PersistentPreferences
import PrefsEtcd
import Testing

/// The counts that an observer was told of.
final class ObservedCounts: @unchecked Sendable {
    // Unchecked because a condition protects the counts.

    private let condition = NSCondition()
    private var counts: [Int] = []
    private var origins: [PrefsChange.Origin] = []

    func add(_ change: PrefsChange) {
        condition.withLock {
            counts.append(change.newValues["count"] as? Int ?? 0)
            origins.append(change.origin)
            condition.broadcast()
        }
    }

    /// Waits for a count; the origin of the change to it.
    func wait(for count: Int, sourceLocation: SourceLocation = #_sourceLocation) -> PrefsChange.Origin? {
        condition.withLock {
            let limit = Date(timeIntervalSinceNow: longestWait / .seconds(1))
            while counts.last != count {
                guard condition.wait(until: limit) else {
                    Issue.record("\(count) not heard; so far: \(counts)", sourceLocation: sourceLocation)
                    return nil
                }
            }
            return origins.last
        }
    }

    var all: [Int] { condition.withLock { counts } }
    var allOrigins: [PrefsChange.Origin] { condition.withLock { origins } }
}

/// Adds one to the count of root "A".
func increment(_ store: EtcdStore) throws {
    try store.update(root: "A") { $0 = ["count": ($0?["count"] as? Int ?? 0) + 1] }
}

/// Two clients, as in two processes: another deadline is another client.
func clients(_ urls: [URL], _ prefix: String, staleness: Duration = .seconds(2)) -> (EtcdStore, EtcdStore) {
    let one = EtcdStore(endpoints: urls, prefix: prefix, options: .patient(staleness: staleness))
    let two = EtcdStore(endpoints: urls, prefix: prefix, options: .patient(1, staleness: staleness))
    return (one, two)
}
