/// Decides whether the operations on one key could have happened one after another, each at some moment between its
/// begin and its end, with every read giving the latest value written.
///
/// Every value is written once, so each read identifies its write, and the operations of one value (its *cluster*) must
/// be adjacent in such an order. An order of the clusters exists unless two of them would each have to come first: the
/// zone conditions of Gibbons and Korach, "Testing Shared Memories" (1997). The absent value counts as a write before
/// all others. An exchange belongs to two clusters, which must be adjacent. Clusters that are linked in this way are
/// one *chain*, and the conditions for clusters hold for chains.
package enum LinearizabilityChecker {
    /// The reason why no such order exists, with the operations concerned; nil if one exists.
    package static func violation(in operations: [HistoryOperation]) -> String? {
        do throws(Violation) {
            let chains = try chains(of: clusters(of: operations))
            for (number, chain) in chains.enumerated() {
                for other in chains[..<number] {
                    guard let one = other.zone.mustPrecede(chain.zone), let two = chain.zone.mustPrecede(other.zone)
                    else { continue }
                    throw Violation(
                        "\(other.name) must come before \(chain.name) and after it", [one.0, one.1, two.0, two.1])
                }
            }
            return nil
        } catch {
            return error.text
        }
    }

    private struct Violation: Error {
        let text: String

        init(_ claim: String, _ operations: [HistoryOperation]) {
            text = ([claim] + operations.map { "  \($0)" }).joined(separator: "\n")
        }
    }

    /// The operation that ended first and the one that began last, of several.
    private struct Zone {
        var firstEnd: HistoryOperation
        var lastBegin: HistoryOperation

        init(_ operation: HistoryOperation) {
            firstEnd = operation
            lastBegin = operation
        }

        mutating func add(_ operation: HistoryOperation) {
            if operation.end < firstEnd.end { firstEnd = operation }
            if operation.begin > lastBegin.begin { lastBegin = operation }
        }

        /// Two operations that prove that this zone comes first; nil if there are none.
        func mustPrecede(_ other: Zone) -> (HistoryOperation, HistoryOperation)? {
            firstEnd.precedes(other.lastBegin) ? (firstEnd, other.lastBegin) : nil
        }
    }

    private struct Cluster {
        let write: HistoryOperation
        var zone: Zone
        /// The value that was exchanged for this one.
        var successor: (value: Int, exchange: HistoryOperation)?
    }

    private struct Chain {
        let name: String
        var zone: Zone
    }

    private static func clusters(of operations: [HistoryOperation]) throws(Violation) -> [Int?: Cluster] {
        let key = operations.first?.key ?? ""
        let absent = HistoryOperation(key, .read(nil), from: .min, to: .min, manner: "at-first")
        var clusters: [Int?: Cluster] = [nil: Cluster(write: absent, zone: Zone(absent))]
        for operation in operations {
            guard let value = operation.written else { continue }
            if let other = clusters[value] { throw Violation("written twice", [other.write, operation]) }
            clusters[value] = Cluster(write: operation, zone: Zone(operation))
        }
        for operation in operations {
            let value: Int?
            switch operation.access {
            case .write: continue
            case .read(let read), .exchange(let read, _): value = read
            }
            guard var cluster = clusters[value] else { throw Violation("read, and never written", [operation]) }
            if operation.precedes(cluster.write) {
                throw Violation("read before it was written", [operation, cluster.write])
            }
            cluster.zone.add(operation)
            if let written = operation.written {
                if let other = cluster.successor {
                    throw Violation("exchanged twice: one of them is lost", [other.exchange, operation])
                }
                cluster.successor = (written, operation)
            }
            clusters[value] = cluster
        }
        return clusters
    }

    private static func chains(of clusters: [Int?: Cluster]) throws(Violation) -> [Chain] {
        var chains: [Chain] = []
        var visited = 0
        for (value, head) in clusters {
            if case .exchange = head.write.access { continue }
            visited += 1
            var chain = Chain(name: value.map { "\($0)" } ?? "the absent value", zone: head.zone)
            var last = head
            while let successor = last.successor, let next = clusters[successor.value] {
                if let (one, two) = next.zone.mustPrecede(chain.zone) {
                    throw Violation("\(successor.value) came after a value that is found later", [one, two])
                }
                chain.zone.add(next.zone.firstEnd)
                chain.zone.add(next.zone.lastBegin)
                visited += 1
                last = next
            }
            chains.append(chain)
        }
        // An exchange that begins no chain and belongs to none is part of a circle.
        guard visited == clusters.count else { throw Violation("values exchanged in a circle", []) }
        return chains
    }
}

extension LinearizabilityChecker {
    /// The operations of a call that reads different values under two keys which are always written together.
    package static func tornPair(_ one: String, _ two: String, in operations: [HistoryOperation]) -> String? {
        let calls = Dictionary(grouping: operations.filter { [one, two].contains($0.key) }) {
            "\($0.thread) \($0.call)"
        }
        let torn = calls.values.first { Set($0.map(\.access)).count > 1 }
        return torn.map { Violation("half an update is read", $0).text }
    }

    /// The number of operations that overlap one of another process on the same key, if at least one of the two writes.
    /// Operations that do not overlap cannot be out of order.
    package static func contended(_ operations: [HistoryOperation]) -> Int {
        var contended = Set<Int>()
        let sorted = operations.sorted { $0.begin < $1.begin }
        for (index, operation) in sorted.enumerated() {
            for (other, later) in sorted.enumerated().dropFirst(index + 1) {
                if operation.precedes(later) { break }
                guard later.key == operation.key, later.process != operation.process,
                    later.written != nil || operation.written != nil
                else { continue }
                contended.formUnion([index, other])
            }
        }
        return contended.count
    }
}

extension HistoryOperation {
    fileprivate var process: Substring { thread.prefix { $0 != "." } }
}
