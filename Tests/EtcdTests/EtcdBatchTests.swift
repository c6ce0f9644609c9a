import EngineSupport
import Foundation
import PersistentPreferences
import PrefsStoreKit
import Testing
import TestSupport

@testable import PrefsEtcd

/// Updates that are committed together, and what one of them reads, changes and takes back. The threads of a batch share a session; here
/// one thread uses it, so that the order is certain.
@Suite(.waits, .enabled(if: EtcdCluster.isThere)) final class EtcdBatchTests: FleetSuite {
    private var store: EtcdStore { one }

    private final class Batch: RemoteRoots, @unchecked Sendable {
        // Unchecked because one thread uses it.

        private let session: EtcdSession
        let updates: RemoteUpdates

        init(_ store: EtcdStore, of root: String = "A") throws {
            let namespace = try store.namespace
            let lock = try #require(namespace.locks.take(until: .now + longestWait))
            session = try EtcdSession(
                namespace, lock, lock.acquire(root, until: .now + longestWait), of: root,
                end: { namespace.locks.giveBack(lock) })
            updates = namespace.updates
        }

        /// An update of one member.
        func update(_ root: String = "A", _ body: (inout [String: Any]?) throws -> Void) throws {
            try Roots(RemoteDomain(self)).update(root: root, body)
        }

        func update(_ root: String, mayRepeat: Bool, _ member: RemoteMember) throws { try session.run(member) }
        func values(of root: String, isNewest: Bool) throws -> RootValues? { throw CancellationError() }
        func names() throws -> [String] { throw CancellationError() }
        func lastWriter(of root: String) -> String? { nil }
        func lastKnown(_ root: String) -> RootValues? { nil }
        func observe(_ root: String, _ observer: RemoteObserver) throws -> PrefsObservation {
            PrefsObservation(ending: {})
        }

        func set(_ root: String = "A", to count: Int) throws {
            try update(root) { $0 = ["count": count] }
        }

        /// An update that reads and writes, and takes it back.
        func fail(_ body: () throws -> Void) throws {
            #expect(throws: CancellationError.self) {
                try update("fails") { _ in
                    try body()
                    throw CancellationError()
                }
            }
        }

        var acceptsMembers: Bool { session.acceptsMembers }

        func commit() throws { try session.commit() }
    }

    /// What a member finds is what the members before it have left, also if that was there before.
    ///
    /// - Parameters:
    ///   - first: the count at the begin; nil if the root is missing.
    ///   - counts: what the members leave.
    @Test(arguments: [(0, [1, 2, 1]), (0, [1, 0]), (0, [1, 2, 1, 0]), (nil, [1, nil])] as [(Int?, [Int?])])
    func theLastMemberWins(_ first: Int?, _ counts: [Int?]) throws {
        if let first { try store.update(root: "A") { $0 = ["count": first] } }
        let heard = try ObservedCounts(store)
        let batch = try Batch(store)
        for count in counts { try batch.update { $0 = count.map { ["count": $0] } } }
        try batch.commit()
        #expect(try store.currentCount() == counts[counts.count - 1])
        try store.update(root: "A") { $0 = ["count": 9] }
        #expect(heard.wait(for: 9) == .thisProcess)
        #expect(heard.all == counts.map { $0 ?? 0 } + [9])
        #expect(heard.allOrigins.allSatisfy { $0 == .thisProcess })
    }

    /// A root that one member changes and the next removes is missing, and one that is removed and written again is there.
    @Test func membersThatRemove() throws {
        for root in ["A", "B"] { try store.update(root: root) { $0 = ["count": 1] } }
        let batch = try Batch(store)
        try batch.set("A", to: 2)
        try batch.update("A") { $0 = nil }
        try batch.update("B") { $0 = nil }
        try batch.update("B") { #expect($0 == nil) }
        try batch.set("B", to: 3)
        try batch.set("C", to: 4)
        try batch.update("C") { $0 = nil }
        try batch.commit()
        #expect(try cluster.control("get", "--prefix", "--keys-only", "\(prefix)r/") == "\(prefix)r/B\n\n")
        #expect(try store.currentCount("B") == 3)
    }

    /// An observer of a root hears of the changes of that root, in their order, whatever other roots the batch has changed.
    ///
    /// - Parameter isReadAgain: the copy is read again, instead of following the stream.
    @Test(arguments: [true, false])
    func membersOfSeveralRoots(_ isReadAgain: Bool) throws {
        let cluster = try EtcdCluster.compacted.get()
        let proxy = try LossyProxy(to: cluster.nodes[0].clientPort)
        defer { proxy.close() }
        let store = proxy.store(prefix, .init(deadline: .seconds(20), staleness: .seconds(2)))
        let heard = try ["A": ObservedCounts(store), "B": ObservedCounts(store, "B"), "C": ObservedCounts(store, "C")]
        if isReadAgain { proxy.withoutWatch() }
        let batch = try Batch(store)
        try batch.set("A", to: 1)
        try batch.set("B", to: 5)
        try batch.update { root in
            root = ["count": 2]
            try store.update(root: "C") { $0 = ["count": 7] }
        }
        try batch.update("B") { $0 = nil }
        try batch.set("B", to: 6)
        try batch.commit()
        if isReadAgain {
            try cluster.compact()
            proxy.intercept { _ in nil }
        }
        for (root, counts) in heard {
            try store.update(root: root) { $0 = ["count": 9] }
            #expect(counts.wait(for: 9) == .thisProcess)
        }
        #expect(heard.mapValues(\.all) == ["A": [1, 2, 9], "B": [5, 0, 6, 9], "C": [7, 9]])
        #expect(heard.values.flatMap(\.allOrigins).allSatisfy { $0 == .thisProcess })
    }

    /// What a member has read must not change before the commit, whatever the others do.
    @Test(arguments: [true, false])
    func aBatchGoesByWhatItsMembersHaveRead(_ isAnotherTakenBack: Bool) throws {
        try store.update(root: "A") { $0 = ["count": 1] }
        let batch = try Batch(store, of: "B")
        try batch.update("B") { $0 = ["count": try store.count() ?? 0] }
        if isAnotherTakenBack {
            try batch.fail { try store.update(root: "B") { $0 = nil } }
        }
        try cluster.control("put", "\(prefix)r/A", #"{"count": 2}"#)
        #expect(error { try batch.commit() }.notStored?.reason.contains("another client") == true)
        #expect(try store.currentCount("B") == nil)
    }

    /// A member that only reads, and has joined later, has read what was there before it came: the commit decides whether that was new.
    @Test(arguments: [1, 2]) func membersThatOnlyRead(_ members: Int) throws {
        try store.update(root: "A") { $0 = ["count": 1] }
        let batch = try Batch(store)
        try batch.update { #expect($0?["count"] as? Int == 1) }
        try cluster.control("put", "\(prefix)r/A", #"{"count": 2}"#)
        if members > 1 { try batch.update { #expect($0?["count"] as? Int == 1) } }
        let failure = error { try batch.commit() }
        guard members > 1 else { return #expect(failure == nil) }
        #expect(failure.notStored?.reason.contains("another client") == true, "\(failure as Any)")
    }

    /// Only what the failed member has done is taken back. What it has read is read again.
    @Test func aMemberThatFails() throws {
        for root in ["A", "B", "C"] { try store.update(root: root) { $0 = ["count": 5] } }
        let batch = try Batch(store)
        try batch.set(to: 6)
        try batch.fail {
            try store.update(root: "A") { $0 = nil }
            try store.update(root: "B") { $0 = nil }
            #expect(try store.count("C") == 5)
        }
        for root in ["A", "B", "C"] {
            try batch.update(root) { $0 = ["count": ($0?["count"] as? Int ?? 0) + 1] }
        }
        try batch.commit()
        #expect(try store.currentCount() == 7)
        #expect(try store.currentCount("B") == 6)
        #expect(try store.currentCount("C") == 6)
    }

    /// An update that changes a root and changes it back stores nothing.
    @Test func anUpdateThatTakesItsChangeBack() throws {
        try store.update(root: "A") { $0 = ["count": 1] }
        let key = EtcdKeys(prefix: prefix).root("A")
        let former = try store.namespace.client.range(RangeRequest(revisionOf: key), until: .now + longestWait)
        try store.update(root: "A") { _ in
            for count in [2, 1] { try store.update(root: "A") { $0 = ["count": count] } }
        }
        let newest = try store.namespace.client.range(RangeRequest(revisionOf: key), until: .now + longestWait)
        #expect(former.kvs.first?.modified == newest.kvs.first?.modified)
    }

    /// A root that cannot be read fails the update that reads it, also if the body goes on.
    @Test func anUpdateThatReadsADamagedRoot() throws {
        try cluster.control("put", "\(prefix)r/B", "[")
        let failure = error {
            try store.update(root: "A") { root in
                _ = try? store.read(root: "B")
                root = ["count": 1]
            }
        }
        #expect(failure.unreadable != nil)
        #expect(try store.currentCount() == nil)
    }

    /// A root of another type is kept if its removal was taken back.
    @Test(arguments: [true, false])
    func aMemberThatFailsAfterARemoval(_ isReadBefore: Bool) throws {
        try cluster.control("put", "\(prefix)r/F", "[1]")
        let batch = try Batch(store)
        try batch.update { root in
            if isReadBefore { #expect(error { _ = try store.read(root: "F") } == .rootIsNotDictionary(key: "F")) }
            root = ["count": 1]
        }
        try batch.fail { try store.update(root: "F") { $0 = nil } }
        #expect(error { try batch.set("F", to: 1) } == .rootIsNotDictionary(key: "F"))
        try batch.commit()
        #expect(try store.currentCount() == 1)
        #expect(try cluster.control("get", "--print-value-only", "\(prefix)r/F") == "[1]\n")
    }

    /// The limit of the roots of an update is that of one member.
    @Test func manyRootsOfSeveralMembers() throws {
        let batch = try Batch(store)
        for member in 0..<2 {
            try batch.update { _ in
                for number in 0..<51 { try store.update(root: "R\(member)-\(number)") { $0 = ["count": number] } }
            }
        }
        try batch.commit()
        #expect(try store.currentCount("R0-50") == 50)
        #expect(try store.currentCount("R1-50") == 50)
    }

    /// The others of the namespace wait for its end.
    @Test func aBatchTakesMembersForAShortTimeOnly() throws {
        let batch = try Batch(store)
        try batch.set(to: 1)
        expectEventually(batch.acceptsMembers, is: false)
        try batch.commit()
        #expect(try store.currentCount() == 1)
    }

    /// Members that have only read changed nothing, whatever becomes of the request that looks whether the root has changed.
    @Test(arguments: [true, false]) func aCommitWithoutAnAnswerIsUnknownIfItWrites(_ onlyReads: Bool) throws {
        let batch = try Batch(proxy.store(prefix, .init(deadline: shortWait(1))))
        for number in 1...2 { try batch.update { root in if !onlyReads { root = ["count": number] } } }
        proxy.intercept { _ in "" }
        let failure = error { try batch.commit() }
        if onlyReads { return #expect(failure.notStored != nil, "\(failure as Any)") }
        expectUnknownOutcome { throw try #require(failure) }
    }

    /// A batch that has much to write takes no further member, which could exceed what etcd accepts.
    @Test func aLargeMemberIsTheLast() throws {
        let batch = try Batch(store)
        try batch.update { $0 = ["count": 1, "text": String(repeating: "x", count: 300 << 10)] }
        #expect(!batch.acceptsMembers)
        try batch.commit()
        #expect(try store.currentCount() == 1)
    }
}
