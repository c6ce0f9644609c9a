import Foundation
import PersistentPreferences
import PrefsPropertyLists
import Testing
import TestSupport

@testable import PrefsEtcd

/// What a client keeps: the roots that it uses, and not more with time.
@Suite(.enabled(if: EtcdCluster.isThere)) actor EtcdUseTests: ThreadSuite {
    nonisolated let thread = SuiteThread()
    private let cluster: EtcdCluster
    private let store, other: EtcdStore
    private let watch: EtcdWatch

    init() throws {
        cluster = try EtcdCluster.shared.get()
        let prefix = EtcdCluster.prefix()
        (store, other) = clients(cluster.urls, prefix)
        watch = try store.namespace.watch
    }

    private func set(_ root: String, to count: Int) throws {
        try other.change(root: root) { $0 = ["count": count] }
    }

    private func count(_ root: String) throws -> Int? { try store.read(root: root)?["count"] as? Int }

    /// As if so much time had passed without a read.
    private func pass(_ seconds: Int) {
        watch.state.withLock { $0.leaveUnused(at: .now + .seconds(seconds)) }
    }

    @Test(arguments: [2, 9]) func aRootThatNobodyUsesIsLeft(_ number: Int) throws {
        let roots = (0..<number).map { "R\($0)" }
        for root in roots {
            try set(root, to: 1)
            try wait { try count(root) == 1 }
        }
        let heard = ObservedCounts()
        let observation = try store.observe(root: "R0") { heard.add($0) }
        pass(300)
        #expect(watch.state.withLock { $0.used.count } == number)
        pass(601)
        // Only observers use a root without reading it.
        #expect(watch.state.withLock { $0.used } == ["R0"])
        #expect(watch.state.withLock { !$0.followsAll && $0.copies.count == 1 })
        try set("R1", to: 2)
        try set("R0", to: 2)
        #expect(heard.wait(for: 2) == .elsewhere)
        #expect(try count("R1") == 2)
        try set("R1", to: 3)
        try wait { try count("R1") == 3 }
        observation.cancel()
        #expect(heard.all == [2])
        // The last one stays, because there would be nothing to follow.
        pass(1_300)
        #expect(watch.state.withLock { $0.used } == ["R1"])
        // The others are the last known states, for reads that do not reach the cluster.
        #expect(store.lastKnown(root: "R0")?["count"] as? Int == 2)
    }

    /// A client that follows all roots keeps nothing of those that were removed.
    @Test func removedRootsAreForgotten() throws {
        for number in 0..<9 { #expect(try count("none\(number)") == nil) }
        for number in 0..<20 {
            try set("R\(number)", to: 1)
            try other.update(root: "R\(number)") { $0 = nil }
            // A removal of this client, too.
            try store.change(root: "S\(number)") { $0 = ["count": 1] }
            try store.change(root: "S\(number)") { $0 = nil }
        }
        try set("R3", to: 5)
        try wait { try count("R3") == 5 }
        #expect(watch.state.withLock { $0.followsAll && $0.copies.keys.contains("R3") })
        #expect(watch.state.withLock { $0.copies.values.count { $0.stored.data == nil } } == 0)
        // Such a root is known to be missing, and can come again.
        let heard = ObservedCounts()
        let observation = try store.observe(root: "R4") { heard.add($0) }
        try set("R4", to: 6)
        #expect(heard.wait(for: 6) == .elsewhere)
        observation.cancel()
    }

    /// A client that writes many roots and reads none keeps the newest.
    @Test func rootsThatAreWrittenAndNotReadAreForgotten() throws {
        for number in 0...256 { try store.change(root: "R\(number)") { $0 = ["count": number] } }
        #expect(watch.state.withLock { $0.newest("R0")?.modified } == nil)
        #expect(watch.state.withLock { $0.newest("R1")?.modified } != nil)
        try store.change(root: "R0") { $0?["count"] = 300 }
        #expect(try other.current(root: "R0")?["count"] as? Int == 300)
    }
}
