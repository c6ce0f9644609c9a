import EngineSupport
import Foundation
import PersistentPreferences
import PrefsPropertyLists
import TestSupport
import Testing

@testable import PrefsEtcd

/// The locks of roots where there are two of a kind: two that wait, two roots that are held, two that were named.
@Suite(.waits, .enabled(if: EtcdCluster.isThere)) final class EtcdLockPairTests: FleetSuite {
    /// The keys of the tickets, the oldest first.
    private func tickets(_ root: String = "") throws -> [String] {
        try cluster.control("get", "--prefix", "--keys-only", "--sort-by=CREATE", "\(prefix)l/\(root)")
            .split(separator: "\n").map(String.init)
    }

    /// An update on a thread of its own, which must succeed.
    private final class Updating: Sendable {
        private let ended = Signal()
        private let failure = Locked<PrefsError??>(nil)

        init(_ body: @escaping @Sendable () throws -> Void) {
            Thread.detachNewThread { [self] in
                let failure = error { try body() }
                self.failure.withLock { $0 = .some(failure) }
                ended.signal()
            }
        }

        var hasEnded: Bool { failure.withLock { $0 != nil } }

        func finish(sourceLocation: SourceLocation = #_sourceLocation) {
            ended.wait(sourceLocation: sourceLocation)
            let failure = failure.withLock { $0 ?? nil }
            #expect(failure == nil, sourceLocation: sourceLocation)
        }
    }

    private static func append(_ digit: Int, to root: inout [String: Any]?) {
        root = ["count": 10 * (root?["count"] as? Int ?? 0) + digit]
    }

    /// The end of the first ticket is nothing to the third client, which watches the second one.
    @Test func eachWaitsForTheTicketBeforeItsOwn() throws {
        let holder = Holder(one)
        let second = Updating { [two] in try two.update(root: "A") { Self.append(2, to: &$0) } }
        try expectEventually(tickets().count, is: 2)
        let watched = Locked<[String]>([])
        proxy.intercept { request in
            if request.contains("createRequest") { watched.withLock { $0.append(request) } }
            return nil
        }
        let store = storeBehindProxy()
        let third = Updating { try store.update(root: "A") { Self.append(3, to: &$0) } }
        try expectEventually(tickets().count, is: 3)
        let keys = try tickets().map { Data($0.utf8).base64EncodedString() }
        func watches(of key: String) -> Int { watched.withLock { $0.count { $0.contains(key) } } }
        expectEventually(keys.map(watches(of:)), "a watch") { $0.contains { $0 > 0 } }
        #expect(watches(of: keys[0]) == 0 && watches(of: keys[1]) > 0)
        #expect(holder.finish() == nil)
        second.finish()
        third.finish()
        #expect(try one.currentCount() == 123)
    }

    /// One of the roots that this client has locked is before the root that another client has, and one is after it.
    @Test func aRootBetweenTwoThatAreLockedIsNotWaitedFor() throws {
        let holder = Holder(one, "C")
        let store = cluster.store(prefix, .init(deadline: shortWait(3)))
        let failure = error {
            try store.update(root: "B") { root in
                root = ["count": 1]
                try store.update(root: "D") { $0 = ["count": 1] }
                try store.update(root: "C") { _ in Issue.record("run") }
            }
        }
        let reason = if case .busy(let holder)? = failure { holder.reason } else { "\(failure as Any)" }
        #expect(reason.contains("has the lock of root C, which is before a root that this update has locked"))
        for root in ["B", "D"] { #expect(try two.current(root: root) == nil) }
        #expect(try tickets().count == 1)
        #expect(holder.finish() == nil)
    }

    /// No ticket is left: neither of the root that it has waited for, nor of one that it had locked before.
    @Test(arguments: [["A"], ["0", "A"]]) func aClientThatGivesUpLeavesNoTicket(_ roots: [String]) throws {
        let holder = Holder(one)
        let store = cluster.store(prefix, .init(deadline: shortWait(2)))
        let failure = error {
            try store.update(root: roots[0], alsoLocking: Array(roots.dropFirst())) { _ in Issue.record("run") }
        }
        let reason = failure.notStored?.reason ?? "\(failure as Any)"
        #expect(reason.hasPrefix("timed out waiting for the lock of root A, held by "))
        #expect(try tickets().count == 1)
        #expect(try tickets(roots[0]).count == (roots[0] == "A" ? 1 : 0))
        #expect(holder.finish() == nil)
        try two.update(root: roots[0]) { Self.append(2, to: &$0) }
        #expect(try one.currentCount(roots[0]) == (roots[0] == "A" ? 12 : 2))
    }

    /// A change has found the body of another client. When it has the lock, it is rejected, because the root is another one then.
    @Test func aChangeThatIsRejectedUnderTheLockLeavesNoTicket() throws {
        let holder = Holder(one)
        let change = Updating { [two] in
            #expect(throws: CancellationError.self) {
                try two.change(root: "A") { root in
                    if root != nil { throw CancellationError() }
                    root = ["count": 5]
                }
            }
        }
        try expectEventually(tickets().count, is: 2)
        #expect(holder.finish() == nil)
        change.finish()
        #expect(try tickets().isEmpty && one.currentCount() == 1)
    }

    /// Nothing is locked if one of the names is wrong.
    @Test func aRootMayBeNamedTwiceButNotWrongly() throws {
        let roots = (0..<99).map { "R\($0)" }
        try one.update(root: "A", alsoLocking: ["A"] + roots + roots) { $0 = ["count": 1] }
        for name in ["", "a\0"] {
            let failure = error { try one.update(root: "A", alsoLocking: ["B", name]) { _ in Issue.record("run") } }
            guard case .invalidName(name, _)? = failure else { return #expect(Bool(false), "\(failure as Any)") }
        }
        #expect(try tickets().isEmpty && one.currentCount() == 1)
    }

    /// Without the lease of its marker, no request of the former name can be carried out, so no fence is needed.
    @Test(arguments: [true, false]) func aClientWhoseMarkerHasExpiredTakesAnotherName(_ needsTicket: Bool) throws {
        let namespace = try one.namespace
        let lock = EtcdLock(namespace.client, namespace.keys, namespace.watch, patience: namespace.patience)
        try lock.prepare(forTicket: needsTicket)
        let (former, deadline) = (lock.identity, ContinuousClock.now + longestWait)
        try namespace.client.revokeLease(#require(former.markerLease).id, until: deadline)
        lock.abandon()
        try lock.prepare(forTicket: needsTicket)
        #expect(lock.identity.name != former.name && !lock.identity.needsFence)
        lock.end(until: deadline)
    }

    /// Its marker is removed while it waits. It goes on under another name, and runs its body once.
    @Test func aClientWhoseMarkerIsRemovedWhileItWaits() throws {
        let holder = Holder(one)
        try two.change(root: "B") { $0 = ["count": 1] }
        let before = try tickets()
        let update = Updating { [two] in try two.update(root: "A") { Self.append(2, to: &$0) } }
        try expectEventually(tickets().count, is: 2)
        let name = try #require(tickets().first { !before.contains($0) }?.split(separator: "/").last)
        try cluster.control("del", "\(prefix)c/\(name)")
        #expect(holder.finish() == nil)
        update.finish()
        #expect(try tickets().isEmpty && one.currentCount() == 12)
    }

    /// A server may grant more than was asked for. An update waits for so much longer, at most for its patience once more.
    ///
    /// - Parameter excess: how much longer; nil for the patience.
    @Test(arguments: [(6, 1), (15, 10), (100_000, nil), (3, 0), (0, 0)] as [(Int, Int?)])
    func aLeaseThatIsLongerProlongsTheWait(_ granted: Int, excess: Int?) throws {
        let real = try one.namespace.client.grantLease(seconds: 60, until: .now + longestWait).id
        proxy.intercept { request in
            let isTicket = request.contains("LeaseGrant") && request.contains(#""TTL":"5""#)
            return isTicket ? LossyProxy.answer(200, "{\"ID\": \"\(real)\", \"TTL\": \"\(granted)\"}") : nil
        }
        let namespace = try proxy.store(prefix).namespace
        let lock = EtcdLock(namespace.client, namespace.keys, namespace.watch, patience: ampleWait())
        try lock.prepare(forTicket: true)
        #expect(lock.identity.leaseExcess == excess.map { Duration.seconds($0) } ?? ampleWait())
        lock.end(until: .now + longestWait)
    }

    /// A client that does nothing for half a minute leaves the lease of its tickets to end.
    @Test(arguments: [(31, false), (20, true)]) func theLeaseOfAnIdleClient(_ seconds: Int, isKept: Bool) throws {
        let renewals = proxy.count { $0.contains("Lease/LeaseKeepAlive") }
        let namespace = try proxy.store(prefix).namespace
        let lock = EtcdLock(namespace.client, namespace.keys, namespace.watch, patience: namespace.patience)
        try lock.prepare(forTicket: true)
        lock.state.withLock { ($0.client.endOfUse, $0.client.lastUse) = (nil, .now - .seconds(seconds)) }
        if isKept {
            expectEventually(renewals.withLock { $0 }, "a renewal") { $0 > 0 }
        } else {
            expectEventually(lock.state.withLock { $0.isKeeping }, is: false)
        }
        #expect((lock.identity.ticketLease != nil) == isKept)
        lock.end(until: .now + longestWait)
    }

    /// The wait for the lock begins when the client has its leases.
    @Test func slowLeasesLeaveTheTimeOfTheLock() throws {
        let namespace = try storeBehindProxy().namespace
        let lock = EtcdLock(namespace.client, namespace.keys, namespace.watch, patience: namespace.patience)
        let (leases, time) = (Locked(0), shortWait(2))
        proxy.intercept { request in
            guard request.contains("Lease/LeaseGrant") else { return nil }
            leases.next()
            poll(nil, 0, Int32(time * 0.6 / .milliseconds(1)))
            return nil
        }
        #expect(error { _ = try lock.acquire("A", until: .now + time) } == nil)
        #expect(leases.withLock { $0 } == 2)
        lock.end(until: .now + longestWait)
    }

    /// All locks are in use. The first of two threads gives up, and the second has its turn.
    @Test func aThreadThatGivesUpLeavesItsTurnToTheNext() throws {
        let store = cluster.store(prefix, .init(deadline: shortWait(4)))
        let locks = try store.namespace.locks
        let taken = (0..<16).compactMap { _ in locks.take(until: .now + longestWait) }
        #expect(taken.count == 16)
        let begun = ContinuousClock.now
        let first = Signal()
        Thread.detachNewThread {
            let failure = error { try store.change(root: "A") { Self.append(1, to: &$0) } }
            #expect(failure.notStored?.reason == "timed out waiting for updates of other threads of this process")
            first.signal()
        }
        // So that the second one has time when the first gives up.
        expectEventually(ContinuousClock.now - begun, "more than 2 s") { $0 > shortWait(2) }
        let second = Updating { try store.change(root: "A") { Self.append(2, to: &$0) } }
        first.wait()
        for lock in taken { locks.giveBack(lock) }
        second.finish()
        #expect(try one.currentCount() == 2)
    }

    /// Two clients that name two roots in another order would wait for each other.
    @Test func namedRootsAreLockedInTheOrderOfTheirNames() throws {
        let holder = Holder(one)
        let update = Updating { [two] in
            try two.update(root: "C", alsoLocking: ["B", "A"]) { root in
                Self.append(3, to: &root)
                try two.update(root: "A") { Self.append(3, to: &$0) }
            }
        }
        try expectEventually(tickets("A/"), "2 tickets, or the end") { update.hasEnded || $0.count == 2 }
        for root in ["B/", "C/"] { #expect(try tickets(root).isEmpty) }
        #expect(holder.finish() == nil)
        update.finish()
        #expect(try one.currentCount() == 13 && one.currentCount("C") == 3)
        #expect(try tickets().isEmpty)
    }

    /// A change that is data takes no ticket. It waits for the body of each root that it stores. Several rounds, because the roots of a
    /// change have no order.
    @Test(arguments: 0..<6) func aChangeOfTwoRootsWaitsForEachBody(_ round: Int) throws {
        let held = round % 2 == 0 ? "A" : "B"
        let holder = Holder(one, held)
        let change = Updating { [two] in
            try two.change(root: "A") { root in
                Self.append(2, to: &root)
                try two.update(root: "B") { Self.append(3, to: &$0) }
            }
        }
        try expectEventually(tickets("\(held)/"), "2 tickets, or the end") { change.hasEnded || $0.count == 2 }
        #expect(holder.finish() == nil)
        change.finish()
        #expect(try one.currentCount("A") == (held == "A" ? 12 : 2))
        #expect(try one.currentCount("B") == (held == "B" ? 13 : 3))
    }
}
