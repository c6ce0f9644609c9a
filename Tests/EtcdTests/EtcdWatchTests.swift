import Dispatch
import Foundation
import PersistentPreferences
import PersistentPreferencesEtcd
import PrefsPropertyLists
import TestSupport
import Testing

/// Observers and followed reads: across compactions, restarts, failovers and silent servers.
@Suite(.enabled(if: EtcdCluster.isThere)) struct EtcdWatchTests {
    /// The counts that an observer was told of.
    private final class Heard: @unchecked Sendable {
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
        func wait(for count: Int) -> PrefsChange.Origin? {
            condition.withLock {
                let limit = Date(timeIntervalSinceNow: 60)
                while counts.last != count, condition.wait(until: limit) {}
                return counts.last == count ? origins.last : nil
            }
        }

        var all: [Int] { condition.withLock { counts } }
    }

    private func increment(_ store: EtcdStore) throws {
        try store.update(root: "A") { $0 = ["count": ($0?["count"] as? Int ?? 0) + 1] }
    }

    /// Two clients, as in two processes: another deadline is another client.
    private func clients(_ urls: [URL], _ prefix: String, staleness: Duration = .seconds(2)) -> (EtcdStore, EtcdStore) {
        let one = EtcdStore(
            endpoints: urls, prefix: prefix, options: .init(deadline: .seconds(8), staleness: staleness))
        let two = EtcdStore(
            endpoints: urls, prefix: prefix, options: .init(deadline: .seconds(9), staleness: staleness))
        return (one, two)
    }

    @Test func changesOfOthersAreToldFromOwnOnes() throws {
        let (one, two) = clients(try EtcdCluster.shared.get().urls, EtcdCluster.prefix())
        let heard = Heard()
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

    @Test func acrossACompaction() async throws {
        try await onThread {
            let cluster = try EtcdCluster(nodes: 1)
            let proxy = try LossyProxy(to: cluster.nodes[0].clientPort, percent: 0, seed: 1)
            defer { proxy.close() }
            let prefix = EtcdCluster.prefix()
            let one = EtcdStore(
                endpoints: [proxy.url], prefix: prefix, options: .init(deadline: .seconds(20), staleness: .seconds(2)))
            let two = EtcdStore(endpoints: cluster.urls, prefix: prefix)
            let heard = Heard()
            let observation = try one.observe(root: "A") { heard.add($0) }
            try increment(two)
            #expect(heard.wait(for: 1) == .elsewhere)
            proxy.block()
            for _ in 0..<10 { try increment(two) }
            try two.update(root: "B") { $0 = ["b": 1] }
            let status = try cluster.control("get", "--print-value-only=false", "-w", "json", "x")
            let revision = status.components(separatedBy: "\"revision\":").last?.prefix { $0.isNumber } ?? ""
            try cluster.control("compact", String(revision))
            proxy.unblock()
            #expect(heard.wait(for: 11) == .elsewhere)
            #expect(try one.read(root: "B")?["b"] as? Int == 1)
            try increment(two)
            #expect(heard.wait(for: 12) == .elsewhere)
            observation.cancel()
        }
    }

    @Test func acrossARestartAndAFailover() async throws {
        try await onThread {
            let cluster = try EtcdCluster(nodes: 3)
            let failures = min(3, Hazard.count("PREFS_FLEET_ROUNDS", default: 1))
            let (one, two) = clients(cluster.urls, EtcdCluster.prefix(), staleness: .seconds(1))
            let heard = Heard()
            let observation = try one.observe(root: "A") { heard.add($0) }
            try increment(two)
            #expect(heard.wait(for: 1) == .elsewhere)
            var count = 1
            // The watch begins with the first node, and goes on with the next.
            for node in cluster.nodes.prefix(failures) {
                cluster.kill(node)
                try increment(two)
                count += 1
                #expect(heard.wait(for: count) != nil)
                #expect(try one.read(root: "A")?["count"] as? Int == count)
                try cluster.start(node)
                try cluster.waitUntilHealthy()
            }
            for node in cluster.nodes.suffix(2).prefix(failures) {
                // Silent, and no error.
                cluster.stop(node)
                try increment(two)
                count += 1
                #expect(heard.wait(for: count) != nil)
                cluster.resume(node)
                try cluster.waitUntilHealthy()
            }
            observation.cancel()
        }
    }

    /// The threads of Swift's pool stay free, because the store runs on its own.
    @Test func theWatchUsesNoThreadOfThePool() async throws {
        let (one, two) = clients(try EtcdCluster.shared.get().urls, EtcdCluster.prefix())
        let heard = Heard()
        let done = DispatchSemaphore(value: 0)
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
                        Self.wait(for: done)
                        Thread.detachNewThread { try? self.increment(two) }
                    }
                    _ = heard.wait(for: 1)
                }
            }
        }
        #expect(heard.all == [1])
        observation?.cancel()
    }

    private static func wait(for semaphore: DispatchSemaphore) { semaphore.wait() }
}
