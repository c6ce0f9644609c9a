import TestSupport
import Testing

/// The checker accepts and rejects the histories that a search of all orders accepts and rejects.
@Suite(.waits) struct LinearizabilityCheckerTests {
    @Test func agreesWithASearchOfAllOrders() {
        var generator = SeededGenerator(seed: 7)
        var counts = [true: 0, false: 0]
        for _ in 0..<20_000 {
            let history = randomHistory(&generator)
            let isLinearizable = Self.hasOrder(history, from: nil)
            counts[isLinearizable, default: 0] += 1
            let violation = LinearizabilityChecker.violation(in: history)
            if (violation == nil) != isLinearizable {
                Issue.record("\(isLinearizable): \(violation ?? "no violation") in \(history)")
            }
        }
        // Both answers occurred often.
        #expect(counts.values.allSatisfy { $0 > 2_000 }, "\(counts)")
        // The search would accept what breaks the rule of the histories.
        let twice = [0, 2].map { HistoryOperation("a", .write(1), from: $0, to: $0 + 1) }
        #expect(LinearizabilityChecker.violation(in: twice) != nil)
    }

    @Test func aPairReadHalfIsFound() {
        func pair(_ x: Int, _ y: Int) -> [HistoryOperation] {
            [("x", x), ("y", y)].map { HistoryOperation($0.0, .read($0.1), from: 0, to: 1, thread: "0.1", call: 4) }
        }
        #expect(LinearizabilityChecker.tornPair("x", "y", in: pair(1, 1)) == nil)
        #expect(LinearizabilityChecker.tornPair("x", "y", in: pair(1, 2)) != nil)
    }

    /// Up to six operations; some of the read values were never written.
    private func randomHistory(_ generator: inout SeededGenerator) -> [HistoryOperation] {
        let count = Int.random(in: 0...6, using: &generator)
        return (1..<count + 1).map { number in
            let begin = Int.random(in: 0..<12, using: &generator)
            let end = begin + Int.random(in: 0..<6, using: &generator)
            let value = Int.random(in: 0...count, using: &generator)
            let old = value == 0 ? nil : value
            let access: HistoryOperation.Access =
                switch Int.random(in: 0..<5, using: &generator) {
                case 0, 1: .write(number)
                case 2: .exchange(old, for: number)
                default: .read(old)
                }
            return HistoryOperation("a", access, from: begin, to: end)
        }
    }

    /// Tries each operation that no other remaining operation precedes as the next one.
    private static func hasOrder(_ rest: [HistoryOperation], from value: Int?) -> Bool {
        if rest.isEmpty { return true }
        return rest.indices.contains { index in
            let next = rest[index]
            if rest.contains(where: { $0.precedes(next) }) { return false }
            var others = rest
            others.remove(at: index)
            switch next.access {
            case .read(let read): return read == value && hasOrder(others, from: value)
            case .write(let new): return hasOrder(others, from: new)
            case .exchange(let old, let new): return old == value && hasOrder(others, from: new)
            }
        }
    }

    /// A read that finds nothing needs a removal that may be the last write.
    @Test func absences() {
        func write(_ value: Int, _ begin: Int, _ end: Int, _ manner: String) -> HistoryOperation {
            HistoryOperation("a", .write(value), from: begin, to: end, manner: manner)
        }
        func isStale(_ begin: Int, _ end: Int, _ writes: HistoryOperation...) -> Bool {
            let read = HistoryOperation("a", .read(nil), from: begin, to: end)
            return !LinearizabilityChecker.staleAbsences([read], after: writes).isEmpty
        }
        let (set, removal) = (write(1, 0, 1, "set"), write(2, 2, 3, "remove"))
        #expect(!isStale(4, 5))
        #expect(isStale(4, 5, set))
        #expect(!isStale(4, 5, set, removal))
        #expect(isStale(8, 9, set, removal, write(3, 4, 5, "set")))
        // The other write may be first, or may still be in progress.
        #expect(!isStale(8, 9, set, removal, write(3, 2, 5, "set")))
        #expect(!isStale(8, 9, set, removal, write(3, 4, 9, "set")))
        // A removal in progress may have taken effect; a later one has not.
        #expect(!isStale(4, 9, set, write(2, 8, 12, "remove")))
        #expect(isStale(4, 5, set, write(2, 8, 12, "remove")))
        // A write of unknown outcome may take effect at any time.
        #expect(!isStale(8, 9, set, write(2, 2, .max, "remove"), write(3, 4, 5, "set")))
        #expect(!isStale(4, 5, HistoryOperation("b", .write(1), from: 0, to: 1)))
    }
}
