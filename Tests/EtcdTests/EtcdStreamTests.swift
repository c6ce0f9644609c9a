import EngineSupport
import Foundation
import PersistentPreferences
import PrefsEtcd
import PrefsStoreKit
import Testing
import TestSupport

/// Observers and followed reads across compactions, restarts, failovers, restored copies, and silent, slow and refused streams.
@Suite(.waits, .enabled(if: EtcdCluster.isThere)) final class EtcdStreamTests: FleetSuite {
    /// A copy that is read again holds several commits. Those of this process are told from the others, and removals are among them.
    @Test func whatOthersDidBeforeAndAfterOurs() throws {
        let cluster = try EtcdCluster.compacted.get()
        let proxy = try LossyProxy(to: cluster.nodes[0].clientPort)
        defer { proxy.close() }
        let one = proxy.store(prefix, .init(deadline: .seconds(20), staleness: .seconds(2)))
        let two = cluster.store(prefix)
        try increment(two)
        try two.update(root: "B") { $0 = ["count": 5] }
        let (heard, removals) = (try ObservedCounts(one), try ObservedCounts(one, "B"))
        proxy.withoutWatch()
        try increment(two)
        try increment(one)
        try increment(two)
        try two.update(root: "B") { $0 = nil }
        // The stream cannot go on where it was.
        try cluster.compact()
        proxy.intercept { _ in nil }
        #expect(heard.wait(for: 4) == .elsewhere)
        try #require(try one.read(root: "B") == nil)
        #expect(removals.wait(for: 0) == .elsewhere)
        // The next stream follows.
        try increment(two)
        #expect(heard.wait(for: 5) == .elsewhere)
        #expect(heard.all == [2, 3, 4, 5])
        #expect(heard.allOrigins == [.elsewhere, .thisProcess, .elsewhere, .elsewhere])
        #expect(removals.all == [0])
    }

    @Test func acrossARestartAndAFailover() throws {
        let cluster = try EtcdCluster(nodes: 3)
        let failures = min(3, Hazard.count("PREFS_FLEET_ROUNDS", default: 1))
        let (one, two) = clients(cluster.urls, prefix, staleness: .seconds(1))
        let heard = try ObservedCounts(one)
        try increment(two)
        #expect(heard.wait(for: 1) == .elsewhere)
        var count = 1
        // The watch begins with the first node, and goes on with the next. Those that are stopped are silent, which is no error.
        let stopped = cluster.nodes.suffix(2).prefix(failures).map { ($0, true) }
        for (node, isStopped) in cluster.nodes.prefix(failures).map({ ($0, false) }) + stopped {
            if isStopped { cluster.stop(node) } else { cluster.kill(node) }
            try increment(two)
            count += 1
            #expect(heard.wait(for: count) != nil)
            #expect(try one.count() == count)
            if isStopped { cluster.resume(node) } else { try cluster.start(node) }
            try cluster.waitUntilHealthy()
        }
    }

    /// The age of what a followed read returns, with a server that is silent.
    @Test func theAgeOfTheCopy() throws {
        let cluster = try EtcdCluster(nodes: 1)
        let store = cluster.store(prefix, .patient(staleness: .seconds(1)))
        #expect(store.staleness == nil)
        let current = cluster.store(prefix, .patient(reads: .current))
        #expect(current.staleness == .zero)
        try increment(store)
        #expect(try store.count() == 1)
        let (young, old) = (Duration.zero..<Duration.milliseconds(500), Duration.milliseconds(1_500)...)
        expectEventually(store.staleness, "less than 500 ms") { $0.map(young.contains) == true }
        cluster.stop(cluster.nodes[0])
        expectEventually(store.staleness, "more than 1500 ms") { $0.map(old.contains) == true }
        let hasty = cluster.store(prefix, .init(reads: .current, deadline: shortWait(1)))
        #expect(error { _ = try hasty.read(root: "A") }.unreadable?.reason == "no answer in time")
        #expect(try store.count() == 1)
        cluster.resume(cluster.nodes[0])
        expectEventually(store.staleness, "less than 500 ms") { $0.map(young.contains) == true }
    }

    /// A connection that has gone without a word is noticed, also if only other programs change something.
    @Test func aSilentStreamHidesNoChangeOfOtherPrograms() throws {
        // Not a root of ours.
        try cluster.control("put", "\(prefix)r/cafe\u{301}", "{}")
        let store = proxy.store(prefix, .patient(staleness: .seconds(1)))
        let heard = try ObservedCounts(store)
        proxy.silenceStreams()
        try cluster.control("put", "\(prefix)r/A", #"{"count": 1}"#)
        let written = ContinuousClock.Instant.now
        // As long as a read does not see it, its age says so.
        func isSeen() throws -> Bool {
            let least = ContinuousClock.Instant.now - written
            let age = store.staleness ?? .zero
            if try store.count() == 1 { return true }
            #expect(age >= least)
            return age < least
        }
        try expectEventually(isSeen(), is: true)
        #expect(heard.wait(for: 1) == .elsewhere)
        proxy.silenceStreams()
        try cluster.control("del", "\(prefix)r/A")
        #expect(heard.wait(for: 0) == .elsewhere)
        #expect(try store.read(root: "A") == nil)
    }

    /// A commit of unknown outcome is known as one of this process when the copy was read again.
    @Test func anUnansweredCommitIsOneOfThisProcess() throws {
        let store = proxy.store(prefix, .init(deadline: shortWait(2)))
        let heard = try ObservedCounts(store)
        expectUnknownOutcome {
            try store.update(root: "A") { root in
                // The streams end, too, so that the watch has no stream for long.
                proxy.block()
                proxy.intercept { [proxy] request in
                    if request.contains("KV/Txn") { proxy.carryOut(request) }
                    return ""
                }
                proxy.unblock()
                root = ["count": 1]
            }
        }
        proxy.intercept { _ in nil }
        try increment(store)
        #expect(heard.wait(for: 2) == .thisProcess)
        #expect(heard.all == [1, 2] && heard.allOrigins == [.thisProcess, .thisProcess])
    }

    /// A user who may read and write the keys, but not watch them all, reads what others write all the same.
    @Test func ifTheWatchIsRefused() throws {
        let answer = LossyProxy.stream(
            #"{"result": {"header": {"revision": "1"}, "created": true, "canceled": true}}"#)
        proxy.intercept { $0.contains("Watch/Watch") ? answer : nil }
        let one = proxy.store(prefix)
        let heard = try ObservedCounts(one)
        try increment(two)
        #expect(heard.wait(for: 1) == .elsewhere)
        try increment(one)
        #expect(heard.wait(for: 2) == .thisProcess)
    }

    /// A message that takes longer than a silent server may take is taken all the same.
    @Test func overASlowNetwork() throws {
        let one = proxy.store(prefix, .patient(staleness: .seconds(2)))
        let heard = try ObservedCounts(one)
        try increment(two)
        #expect(heard.wait(for: 1) == .elsewhere)
        proxy.slowDown()
        // At least 2.2 s of the stream; etcd sends it as one message.
        try two.update(root: "A") { $0 = ["count": 2, "large": String(repeating: "x", count: 450 << 10)] }
        #expect(heard.wait(for: 2) == .elsewhere)
    }

    /// The first server takes connections, and says nothing. A client begins with any of its servers.
    @Test func aSilentServerDoesNotFailTheFirstRead() throws {
        let port = EtcdCluster.freePort()
        guard let silent = SocketBytes.listen(on: port) else { return #expect(Bool(false)) }
        defer { close(silent) }
        try increment(two)
        func store(_ deadline: Int) -> EtcdStore {
            EtcdStore(
                endpoints: [loopback(port)] + cluster.urls, prefix: prefix,
                options: .init(deadline: .seconds(deadline), staleness: .seconds(60)))
        }
        var deadlines = (4...60).makeIterator()
        var asked = pollfd(fd: silent, events: Int16(POLLIN), revents: 0)
        while poll(&asked, 1, 0) == 0, let deadline = deadlines.next() { #expect(try store(deadline).count() == 1) }
        #expect(asked.revents != 0)
        let other = store(61)
        let heard = try ObservedCounts(other)
        try increment(other)
        #expect(heard.wait(for: 2) == .thisProcess)
    }

    /// What was written after the copy is gone. A read must not go on with it.
    ///
    /// - Parameter first: what another client has written before the watch is back, so much that its revision is beyond the former ones.
    @Test(arguments: [nil, 5]) func afterTheClusterWasRestoredFromACopy(_ first: Int?) throws {
        let cluster = try EtcdCluster(nodes: 1)
        let proxy = try LossyProxy(to: cluster.nodes[0].clientPort)
        defer { proxy.close() }
        let one = proxy.store(prefix, .init(deadline: .seconds(20), staleness: .seconds(1)))
        let heard = try ObservedCounts(one)
        try increment(one)
        #expect(heard.wait(for: 1) == .thisProcess)
        // Elections, of which the restored cluster knows nothing.
        for _ in 0..<3 {
            cluster.kill(cluster.nodes[0])
            try cluster.start(cluster.nodes[0])
            try cluster.waitUntilHealthy()
        }
        // The watch tells the restored cluster from this one by the elections, so it has to know of them.
        let elected = ContinuousClock.now
        expectEventually(one.staleness, "younger than the election") { $0.map { $0 < .now - elected } ?? false }
        let copy = try cluster.save()
        // The watch does not hear of the second write.
        proxy.withoutWatch()
        try increment(one)
        #expect(try one.count() == 2)
        proxy.block()
        try cluster.restore(copy)
        if let first {
            let two = cluster.store(prefix)
            try two.update(root: "A") { $0 = ["count": first] }
            for _ in 0..<10 { try two.update(root: "B") { $0 = ["b": ($0?["b"] as? Int ?? 0) + 1] } }
        }
        proxy.intercept { _ in nil }
        proxy.unblock()
        try expectEventually(one.count(), is: first ?? 1)
        try one.update(root: "A") { $0 = ["count": 3] }
        #expect(heard.wait(for: 3) == .thisProcess)
        #expect(heard.all == [1, first, 3].compactMap { $0 })
    }
}
