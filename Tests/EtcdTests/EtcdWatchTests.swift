import Foundation
import PersistentPreferences
import PrefsPropertyLists
import Testing
import TestSupport

@testable import PrefsEtcd

/// Observers and followed reads.
@Suite(.enabled(if: EtcdCluster.isThere)) actor EtcdWatchTests: ThreadSuite {
    nonisolated let thread = SuiteThread()

    @Test func changesOfOthersAreToldFromOwnOnes() throws {
        let (one, two) = clients(try EtcdCluster.shared.get().urls, EtcdCluster.prefix())
        let heard = ObservedCounts()
        let observation = try one.observe(root: "A") { heard.add($0) }
        try increment(one)
        #expect(heard.wait(for: 1) == .thisProcess)
        try increment(two)
        #expect(heard.wait(for: 2) == .elsewhere)
        try increment(one)
        #expect(heard.wait(for: 3) == .thisProcess)
        observation.cancel()
        #expect(heard.all == [1, 2, 3])
        #expect(one.staleness.map { $0 < .seconds(10) } == true)
    }

    @Test func aFollowedReadSeesEveryWriteOfItsProcessAtOnce() throws {
        let (one, two) = clients(try EtcdCluster.shared.get().urls, EtcdCluster.prefix())
        for number in 1...50 {
            try increment(number % 2 == 0 ? one : two)
            let store = number % 2 == 0 ? one : two
            #expect(try store.read(root: "A")?["count"] as? Int == number)
        }
    }

    /// A followed read may be older, but a write that equals it is not dropped.
    @Test func aWriteThatEqualsAnOldReadIsStored() throws {
        let (one, two) = clients(try EtcdCluster.shared.get().urls, EtcdCluster.prefix())
        let (prefs, others) = (FleetPrefs(key: "A", store: one), FleetPrefs(key: "A", store: two))
        for number in 1...20 {
            prefs.size = number
            others.size = -number
            // The watch of `prefs` may not have heard of it.
            prefs.size = number
            try two.update(root: "A") { #expect($0?["size"] as? Int == number) }
        }
        #expect(prefs.lastError == nil && others.lastError == nil)
    }

    /// A store that is made while another one's observation lives is no other process.
    @Test func anObservationKeepsWhatStoresShare() throws {
        let (urls, prefix) = (try EtcdCluster.shared.get().urls, EtcdCluster.prefix())
        let heard = ObservedCounts()
        let observation = try EtcdStore(endpoints: urls, prefix: prefix, options: .patient()).observe(root: "A") {
            heard.add($0)
        }
        try increment(EtcdStore(endpoints: urls, prefix: prefix, options: .patient()))
        #expect(heard.wait(for: 1) == .thisProcess)
        observation.cancel()
    }

    /// A prefix may have many roots, and large ones.
    @Test func aClientHoldsOnlyTheRootsThatItUses() throws {
        let (one, two) = clients(try EtcdCluster.shared.get().urls, EtcdCluster.prefix())
        for number in 0..<20 { try two.update(root: "R\(number)") { $0 = ["count": number] } }
        let heard = ObservedCounts()
        let observation = try one.observe(root: "R1") { heard.add($0) }
        #expect(try one.read(root: "R2")?["count"] as? Int == 2)
        try two.update(root: "R3") { $0 = ["count": 30] }
        try two.update(root: "R1") { $0 = ["count": 10] }
        #expect(heard.wait(for: 10) == .elsewhere)
        #expect(try one.namespace.watch.state.withLock { $0.copies.keys.sorted() } == ["R1", "R2"])
        // With more than eight, all are followed, and none of them is missed.
        var expected = [10]
        for number in 0..<20 {
            let count = [1: 100, 3: 30][number] ?? number
            #expect(try one.read(root: "R\(number)")?["count"] as? Int == count)
            expected.append(100 + number)
            try two.change(root: "R1") { $0 = ["count": 100 + number] }
            #expect(heard.wait(for: 100 + number) == .elsewhere)
        }
        #expect(try one.namespace.watch.state.withLock { $0.copies.count } == 20)
        for number in 0..<20 {
            try two.change(root: "R\(number)") { $0 = ["count": -number] }
            try wait { try one.read(root: "R\(number)")?["count"] as? Int == -number }
        }
        try one.change(root: "R1") { $0 = nil }
        #expect(heard.wait(for: 0) == .thisProcess)
        observation.cancel()
        #expect(heard.all == expected + [-1, 0])
    }

    /// The names of so many roots do not fit into one packet.
    @Test func rootsWithLongNames() throws {
        let (one, two) = clients(try EtcdCluster.shared.get().urls, EtcdCluster.prefix())
        let roots = (0..<4).map { "\($0)" + String(repeating: "n", count: 900) }
        for root in roots { #expect(try one.read(root: root) == nil) }
        for root in roots { try two.change(root: root) { $0 = ["count": 1] } }
        try wait { try roots.allSatisfy { try one.read(root: $0)?["count"] as? Int == 1 } }
    }

    /// The threads of Swift's pool stay free, because the store runs on its own.
    @Test func theWatchUsesNoThreadOfThePool() async throws {
        let (one, two) = clients(try EtcdCluster.shared.get().urls, EtcdCluster.prefix())
        let heard = ObservedCounts()
        let done = Signal()
        nonisolated(unsafe) var observation: PrefsObservation?
        Thread.detachNewThread {
            observation = try? one.observe(root: "A") { heard.add($0) }
            done.signal()
        }
        // Blocks every thread of the pool, as nobody should.
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<ProcessInfo.processInfo.activeProcessorCount {
                group.addTask {
                    if number == 0 {
                        done.wait()
                        Thread.detachNewThread { try? increment(two) }
                    }
                    _ = heard.wait(for: 1)
                }
            }
        }
        #expect(heard.all == [1])
        observation?.cancel()
    }
}
