import Foundation
import PersistentPreferences

/// What observers are told: each change of a root in the order of the cluster, those of this process by the steps of its transactions.
extension WatchedRoots.State {
    // MARK: - Own transactions

    mutating func confirm(_ operation: String, at revision: Int64) {
        guard let index = own.firstIndex(where: { $0.operation == operation }) else { return }
        own[index].revision = revision
        let steps = own[index].steps
        // Without observers nobody asks for the steps.
        own[index].steps = steps.filter { observers[$0.root] != nil }
        for step in steps {
            // The last step of a root is its result.
            let stored = step.result.modified(in: revision)
            if isFollowed(step.root) {
                putAhead(stored, step.root)
            } else {
                note(stored, step.root, in: revision)
            }
        }
        endTransactions { $0.steps.isEmpty }
        for step in steps { tell(step.root) }
        wake()
    }

    /// A transaction has ended without success.
    mutating func giveUp(_ operation: String, isUnknown: Bool) {
        if isUnknown {
            for index in own.indices where own[index].operation == operation { own[index].isUnknown = true }
        } else {
            endTransactions { $0.operation == operation }
        }
    }

    /// Nobody will find out any more what became of the unknown transactions of a client.
    mutating func forgetUnknown(marker: Data) {
        endTransactions { $0.isUnknown && $0.revision == nil && $0.marker == marker }
    }

    /// What the marker of an unknown transaction was in a revision.
    mutating func look(at marker: EtcdKeyValue?, of operation: String, in revision: Int64) {
        if let marker, marker.operation == operation { return confirm(operation, at: marker.modified) }
        // Its marker was removed, so nobody will find out.
        if marker == nil { endTransactions { $0.operation == operation && $0.hasMarker } }
        for index in own.indices where own[index].operation == operation { own[index].absentUntil = revision }
        for root in observers.keys { tell(root) }
    }

    mutating func endTransactions(where hasEnded: (OwnTransaction) -> Bool) {
        let roots = own.filter(hasEnded).flatMap(\.steps).map(\.root)
        own.removeAll(where: hasEnded)
        for root in roots { tell(root) }
    }

    // MARK: - Observers

    mutating func add(_ observer: RemoteObserver, of root: String) {
        if observers[root] == nil {
            var copy = copies[root] ?? RootCopy()
            copy.reached = reached(root)
            copy.toldUntil = max(reached(root), copy.ahead?.modified ?? 0, found[root]?.revision ?? 0)
            copies[root] = copy
        }
        observer.begin(with: observers[root]?.first.map(\.last) ?? lastGood(root))
        observers[root, default: []].append(observer)
    }

    mutating func remove(_ observer: RemoteObserver, of root: String) {
        observers[root]?.removeAll { $0 === observer }
        guard observers[root]?.isEmpty == true else { return }
        observers[root] = nil
        copies[root]?.untold = []
        endTransactions { $0.revision != nil && $0.steps.allSatisfy { $0.root == root } }
    }

    /// Reports the states of a root that are known and were not told yet, in the order of the cluster. Before a state, it reports each step
    /// by which transactions of this process have led there. Waits while a transaction of unknown outcome may be one of them.
    mutating func tell(_ root: String) {
        guard observers[root] != nil, var copy = copies[root], copy.reached > 0 else { return }
        while let next = copy.untold.first {
            if own.contains(where: { $0.mayHaveChanged(root, until: next.revision) }) { break }
            copy.untold.removeFirst()
            report(next.stored, of: root, in: next.revision, &copy)
        }
        // What was created and removed again in one commit leaves no event.
        let reached = reached(root)
        let hasSteps = own.contains { $0.revision ?? .max <= reached && $0.steps.contains { $0.root == root } }
        if hasSteps, copy.untold.isEmpty { report(copy.stored, of: root, in: reached, &copy) }
        copies[root] = copy
    }

    private mutating func report(
        _ stored: StoredRoot, of root: String, in revision: Int64, _ copy: inout RootCopy
    ) {
        var stored = stored
        func report(_ next: RootValues?, isForeign: Bool) {
            for observer in observers[root] ?? [] { observer.receive(next, isForeign: isForeign) }
        }
        for index in own.indices where own[index].revision ?? .max <= revision {
            let steps = own[index].steps.filter { $0.root == root }
            // What an observer has started with is no news.
            if own[index].revision ?? .max > copy.toldUntil {
                for step in steps {
                    report(step.change.before, isForeign: true)
                    report(step.change.after, isForeign: false)
                }
            }
            own[index].steps.removeAll { $0.root == root }
        }
        own.removeAll { $0.revision != nil && $0.steps.isEmpty }
        // Of what cannot be read nothing is reported.
        if revision > copy.toldUntil, case .success(let values) = stored.result(of: root, in: keys) {
            report(values, isForeign: true)
        }
    }
}
