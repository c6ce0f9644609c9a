import EngineSupport
import Foundation
import PersistentPreferences
import PrefsEtcd
import PrefsStoreKit
import Testing
import TestSupport

/// `staleness` is never below the age of what a read returns.
@Suite(.waits, .enabled(if: EtcdCluster.isThere)) final class EtcdAgeTests: FleetSuite {
    @Test func theAgeCountsFromTheBeginOfAProof() throws {
        // The requests by which a watch learns that its copy is complete. Each is held until the test lets it through.
        let (arrived, allowed) = (Signal(), DispatchSemaphore(value: 0))
        defer { for _ in 0..<100 { allowed.signal() } }
        // The next proof comes after a quarter of the staleness, and is not needed.
        let store = proxy.store(prefix, .init(deadline: .seconds(30), staleness: .seconds(600)))
        proxy.intercept { request in
            if LossyProxy.isOfTheWatch(request), !request.contains("Watch/Watch") {
                arrived.signal()
                allowed.wait()
            }
            return nil
        }
        func put(_ count: Int) throws { try cluster.control("put", "\(prefix)r/A", #"{"count": \#(count)}"#) }
        /// Whether the age is that of a proof which began before an instant.
        func isAge(since begin: ContinuousClock.Instant) throws -> Bool {
            let least = ContinuousClock.Instant.now - begin
            return try #require(store.staleness) >= least
        }

        // The first state of all roots.
        let isRead = Signal()
        Thread.detachNewThread {
            _ = try? store.read(root: "A")
            isRead.signal()
        }
        arrived.wait()
        // The proof has begun before that.
        let first = ContinuousClock.now
        try put(1)
        allowed.signal()
        isRead.wait()
        #expect(try isAge(since: first))

        // A proof.
        arrived.wait()
        let second = ContinuousClock.now
        try put(2)
        #expect(try isAge(since: first))
        allowed.signal()
        try expectEventually(isAge(since: first), is: false)
        #expect(try isAge(since: second))

        // A change proves nothing about others.
        try put(3)
        try expectEventually(store.count(), is: 3)
        #expect(try isAge(since: second))

        // Nor does the first state of a further root.
        let isFurtherRead = Signal()
        Thread.detachNewThread {
            _ = try? store.read(root: "B")
            isFurtherRead.signal()
        }
        arrived.wait()
        allowed.signal()
        isFurtherRead.wait()
        #expect(try isAge(since: second))

        // A stream that ends, and servers that refuse another one, prove nothing.
        proxy.block()
        let refused = Locked(0)
        proxy.intercept { request in
            guard LossyProxy.isOfTheWatch(request) else { return nil }
            refused.next()
            return LossyProxy.answer(503)
        }
        proxy.unblock()
        expectEventually(refused.withLock { $0 }, "at least 3") { $0 >= 3 }
        #expect(try isAge(since: second))
    }
}
