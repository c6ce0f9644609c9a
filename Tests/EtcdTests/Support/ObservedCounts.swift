import Foundation
import PersistentPreferences
import PrefsEtcd
import PrefsStoreKit
import Testing

/// The counts that an observer was told of. Its observation ends with it.
final class ObservedCounts: @unchecked Sendable {
    // Unchecked because a condition protects the counts, and only the initializer sets the observation.

    private let condition = NSCondition()
    private var counts: [Int] = []
    private var origins: [PrefsChange.Origin] = []
    private var observation: PrefsObservation?

    init() {}

    /// Observes a root from now on.
    convenience init(_ store: EtcdStore, _ root: String = "A") throws {
        self.init()
        observation = try store.observe(root: root) { [weak self] in self?.add($0) }
    }

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

    func cancel() { observation?.cancel() }

    var all: [Int] { condition.withLock { counts } }
    var allOrigins: [PrefsChange.Origin] { condition.withLock { origins } }
}

extension EtcdStore {
    func read(root: String) throws -> [String: Any]? { try store.read(root: root) }

    func observe(root: String, _ action: @escaping @Sendable (PrefsChange) -> Void) throws -> PrefsObservation {
        try store.observe(root: root, action)
    }

    /// The count of a root, as a read finds it.
    func count(_ root: String = "A") throws -> Int? { try read(root: root)?["count"] as? Int }

    /// The newest count of a root.
    func currentCount(_ root: String = "A") throws -> Int? { try current(root: root)?["count"] as? Int }
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
