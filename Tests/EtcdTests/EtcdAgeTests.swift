import Foundation
import PersistentPreferences
import PrefsEtcd
import Testing
import TestSupport

/// `staleness` is never below the age of what a read returns.
@Suite(.enabled(if: EtcdCluster.isThere)) actor EtcdAgeTests: ThreadSuite {
    nonisolated let thread = SuiteThread()

    /// The requests by which a watch learns that its copy is complete. Each is held until the test lets it through.
    private final class Proofs: Sendable {
        private let arrivals = Locked<[ContinuousClock.Instant]>([])
        private let allowed = Locked(0)

        func arrive() {
            let number = arrivals.withLock { arrivals in
                arrivals.append(.now)
                return arrivals.count
            }
            while allowed.withLock({ $0 }) < number { poll(nil, 0, 2) }
        }

        func allow(_ count: Int) { allowed.withLock { $0 = count } }

        /// When a request has arrived. The proof begins before that.
        func arrival(_ number: Int, sourceLocation: SourceLocation = #_sourceLocation) throws -> ContinuousClock.Instant
        {
            wait(sourceLocation: sourceLocation) { arrivals.withLock { $0.count } >= number }
            return try #require(arrivals.withLock { $0.dropFirst(number - 1).first }, sourceLocation: sourceLocation)
        }
    }

    @Test func theAgeCountsFromTheBeginOfAProof() throws {
        let cluster = try EtcdCluster.shared.get()
        let proxy = try LossyProxy(to: cluster.nodes[0].clientPort)
        let proofs = Proofs()
        defer {
            proofs.allow(.max)
            proxy.close()
        }
        let prefix = EtcdCluster.prefix()
        // The next proof comes after a quarter of the staleness, and is not needed.
        let store = proxy.store(prefix, .init(deadline: .seconds(30), staleness: .seconds(60)))
        proxy.intercept { request in
            if LossyProxy.isOfTheWatch(request), !request.contains("/v3/watch") { proofs.arrive() }
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
        let first = try proofs.arrival(1)
        try put(1)
        proofs.allow(1)
        isRead.wait()
        #expect(try isAge(since: first))

        // A proof.
        let second = try proofs.arrival(2)
        try put(2)
        #expect(try isAge(since: first))
        proofs.allow(2)
        try wait { try !isAge(since: first) }
        #expect(try isAge(since: second))

        // A change proves nothing about others.
        try put(3)
        try wait { try store.count() == 3 }
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
        wait { refused.withLock { $0 } >= 3 }
        #expect(try isAge(since: second))
    }
}
