import EngineSupport
import Foundation
import PersistentPreferences
import PrefsStoreKit
import Testing
import TestSupport

@testable import PrefsEtcd

/// Observers and followed reads, and what a client keeps for them: the roots that it uses, and not more with time.
@Suite(.waits, .enabled(if: EtcdCluster.isThere)) final class EtcdWatchTests: FleetSuite {
    private var watch: EtcdWatch { get throws { try one.namespace.watch } }

    @Test func aFollowedReadSeesEveryWriteOfItsProcessAtOnce() throws {
        for number in 1...50 {
            let store = number % 2 == 0 ? one : two
            try increment(store)
            #expect(try store.count() == number)
        }
    }

    /// A followed read may be older, but a write that equals it is not dropped.
    @Test func aWriteThatEqualsAnOldReadIsStored() throws {
        let (prefs, others) = (TeamPrefs(key: "A", store: one.store), TeamPrefs(key: "A", store: two.store))
        for number in 1...20 {
            prefs.level = number
            others.level = -number
            // The watch of `prefs` may not have heard of it.
            prefs.level = number
            try two.update(root: "A") { #expect($0?["level"] as? Int == number) }
        }
        #expect(prefs.lastError == nil && others.lastError == nil)
    }

    /// A store that is made while another one's observation lives is no other process.
    @Test func anObservationKeepsWhatStoresShare() throws {
        let prefix = EtcdCluster.prefix()
        let heard = try ObservedCounts(cluster.store(prefix))
        try increment(cluster.store(prefix))
        #expect(heard.wait(for: 1) == .thisProcess)
    }

    /// A prefix may have many roots, and large ones.
    @Test func aClientHoldsOnlyTheRootsThatItUses() throws {
        for number in 0..<20 { try two.update(root: "R\(number)") { $0 = ["count": number] } }
        let heard = try ObservedCounts(one, "R1")
        #expect(try one.count("R2") == 2)
        try two.update(root: "R3") { $0 = ["count": 30] }
        try two.update(root: "R1") { $0 = ["count": 10] }
        #expect(heard.wait(for: 10) == .elsewhere)
        #expect(try watch.state.withLock { $0.copies.keys.sorted() } == ["R1", "R2"])
        // With more than eight, all are followed, and none of them is missed.
        var expected = [10]
        for number in 0..<20 {
            let count = [1: 100, 3: 30][number] ?? number
            #expect(try one.count("R\(number)") == count)
            expected.append(100 + number)
            try two.change(root: "R1") { $0 = ["count": 100 + number] }
            #expect(heard.wait(for: 100 + number) == .elsewhere)
        }
        #expect(try watch.state.withLock { $0.copies.count } == 20)
        for number in 0..<20 {
            try two.change(root: "R\(number)") { $0 = ["count": -number] }
            try expectEventually(one.count("R\(number)"), is: -number)
        }
        try one.change(root: "R1") { $0 = nil }
        #expect(heard.wait(for: 0) == .thisProcess)
        #expect(heard.all == expected + [-1, 0])
    }

    /// The stream begins again with a further root. What is changed meanwhile is told as if it had not.
    ///
    /// - Parameter isRemoved: the changes end with a removal, of which no look tells when it was.
    @Test(arguments: [false, true]) func aFurtherRootHidesNoChange(_ isRemoved: Bool) throws {
        let store = proxy.store(prefix)
        try increment(two)
        let heard = try ObservedCounts(store)
        try increment(two)
        #expect(heard.wait(for: 2) == .elsewhere)
        let requests = Locked<[Bool]>([])
        proxy.intercept { [two] request in
            guard request.contains("Watch/Watch") else { return nil }
            let isFirst = requests.withLock { requests in
                requests.append(request.contains("startRevision"))
                return requests.count == 1
            }
            guard isFirst else { return nil }
            for _ in 0..<2 { try? increment(two) }
            if isRemoved { try? two.update(root: "A") { $0 = nil } }
            return nil
        }
        #expect(try store.read(root: "B") == nil)
        #expect(heard.wait(for: isRemoved ? 0 : 4) == .elsewhere)
        #expect(heard.all == [2, 3, 4] + (isRemoved ? [0] : []))
        // It begins now, and with the changes only because of them.
        #expect(requests.withLock { $0 } == [false, true])
        proxy.intercept { request in
            if request.contains("Watch/Watch") { requests.withLock { $0.append(request.contains("startRevision")) } }
            return nil
        }
        #expect(try store.read(root: "C") == nil)
        try increment(two)
        _ = heard.wait(for: isRemoved ? 1 : 5)
        #expect(requests.withLock { $0.dropFirst(2).first } == false)
    }

    /// A request for a stream has no limit of its own.
    @Test func rootsWithLongNames() throws {
        let roots = (0..<4).map { "\($0)" + String(repeating: "n", count: 900) }
        for root in roots { #expect(try one.read(root: root) == nil) }
        for root in roots { try two.change(root: root) { $0 = ["count": 1] } }
        try expectEventually(roots.map { try one.count($0) }, is: [1, 1, 1, 1])
        #expect(try watch.state.withLock { !$0.followsAll })
    }

    /// The threads of Swift's pool stay free, because the store runs on its own.
    @Test func theWatchUsesNoThreadOfThePool() async throws {
        let heard = ObservedCounts()
        let done = Signal()
        nonisolated(unsafe) var observation: PrefsObservation?
        Thread.detachNewThread { [one] in
            observation = try? one.observe(root: "A") { heard.add($0) }
            done.signal()
        }
        // Blocks every thread of the pool, as nobody should.
        let tasks = (0..<ProcessInfo.processInfo.activeProcessorCount).map { number in
            Task.detached { [two] in
                if number == 0 {
                    done.wait()
                    Thread.detachNewThread { try? increment(two) }
                }
                _ = heard.wait(for: 1)
            }
        }
        for task in tasks { await task.value }
        #expect(heard.all == [1])
        observation?.cancel()
    }

    // MARK: - What a client keeps

    private func set(_ root: String, to count: Int) throws {
        try two.change(root: root) { $0 = ["count": count] }
    }

    /// As if so much time had passed without a read.
    private func pass(_ seconds: Int) throws {
        try watch.state.withLock { $0.leaveUnused(at: .now + .seconds(seconds)) }
    }

    /// Beside the root that was used last, which stays in any case.
    @Test func aRootWithAnObserverIsNotLeft() throws {
        for root in ["R0", "R1", "R2"] {
            try set(root, to: 1)
            try expectEventually(one.count(root), is: 1)
        }
        let heard = try ObservedCounts(one, "R0")
        for root in ["R2", "R1"] { #expect(try one.count(root) == 1) }
        try pass(601)
        #expect(try watch.state.withLock { Set($0.used) } == ["R0", "R1"])
        try set("R0", to: 2)
        #expect(heard.wait(for: 2) == .elsewhere)
        heard.cancel()
        try pass(601)
        #expect(try watch.state.withLock { $0.used } == ["R1"])
    }

    /// Also if the one that goes on is the first, or the second.
    @Test(arguments: [0, 1]) func theEndOfAnObserverLeavesTheOtherOfItsRoot(_ ended: Int) throws {
        try set("A", to: 1)
        let heard = try [ObservedCounts(one), ObservedCounts(one)]
        try set("A", to: 2)
        for heard in heard { #expect(heard.wait(for: 2) == .elsewhere) }
        heard[ended].cancel()
        try set("A", to: 3)
        #expect(heard[1 - ended].wait(for: 3) == .elsewhere)
        try one.update(root: "A") { $0 = ["count": 4] }
        #expect(heard[1 - ended].wait(for: 4) == .thisProcess)
        #expect(heard[ended].all == [2])
    }

    @Test(arguments: [2, 9]) func aRootThatNobodyUsesIsLeft(_ number: Int) throws {
        let roots = (0..<number).map { "R\($0)" }
        for root in roots {
            try set(root, to: 1)
            try expectEventually(one.count(root), is: 1)
        }
        let heard = try ObservedCounts(one, "R0")
        try pass(300)
        #expect(try watch.state.withLock { $0.used.count } == number)
        try pass(601)
        // Only observers use a root without reading it.
        #expect(try watch.state.withLock { $0.used } == ["R0"])
        #expect(try watch.state.withLock { !$0.followsAll && $0.copies.count == 1 })
        try set("R1", to: 2)
        try set("R0", to: 2)
        #expect(heard.wait(for: 2) == .elsewhere)
        #expect(try one.count("R1") == 2)
        try set("R1", to: 3)
        try expectEventually(one.count("R1"), is: 3)
        heard.cancel()
        #expect(heard.all == [2])
        // The last one stays, because there would be nothing to follow.
        try pass(1_300)
        #expect(try watch.state.withLock { $0.used } == ["R1"])
        // The others are the last known states, for reads that do not reach the cluster.
        #expect(one.lastKnown(root: "R0")?["count"] as? Int == 2)
    }

    /// A client that follows all roots keeps nothing of those that were removed.
    @Test func removedRootsAreForgotten() throws {
        for number in 0..<9 { #expect(try one.count("none\(number)") == nil) }
        for number in 0..<20 {
            try set("R\(number)", to: 1)
            try two.update(root: "R\(number)") { $0 = nil }
            // A removal of this client, too.
            try one.change(root: "S\(number)") { $0 = ["count": 1] }
            try one.change(root: "S\(number)") { $0 = nil }
        }
        try set("R3", to: 5)
        try expectEventually(one.count("R3"), is: 5)
        #expect(try watch.state.withLock { $0.followsAll && $0.copies.keys.contains("R3") })
        #expect(try watch.state.withLock { $0.copies.values.count { $0.stored.data == nil } } == 0)
        // Such a root is known to be missing, and can come again.
        let heard = try ObservedCounts(one, "R4")
        try set("R4", to: 6)
        #expect(heard.wait(for: 6) == .elsewhere)
    }

    /// A client that writes many roots and reads none keeps the newest.
    @Test func rootsThatAreWrittenAndNotReadAreForgotten() throws {
        for number in 0...256 { try one.change(root: "R\(number)") { $0 = ["count": number] } }
        #expect(try watch.state.withLock { $0.newest("R0")?.modified } == nil)
        #expect(try watch.state.withLock { $0.newest("R1")?.modified } != nil)
        try one.change(root: "R0") { $0?["count"] = 300 }
        #expect(try two.currentCount("R0") == 300)
    }
}
