import EngineSupport
import Foundation
import PersistentPreferences
import PrefsStoreKit
import Testing
import TestSupport

@testable import PrefsEtcd

/// The locks of roots: who waits for whom, and how long.
@Suite(.waits, .enabled(if: EtcdCluster.isThere)) final class EtcdLockTests: FleetSuite {
    private func tickets() throws -> [String] {
        try cluster.control("get", "--prefix", "--keys-only", "\(prefix)l/").split(separator: "\n").map(String.init)
    }

    /// Threads that wait for the lock of a root keep no other thread of their process waiting, nor does the body itself.
    @Test func aBodyThatHangsStopsItsRootOnly() throws {
        let holder = Holder(one)
        let ended = Signal()
        Thread.detachNewThread { [two] in
            #expect(error { try two.update(root: "A") { $0?["count"] = 11 } } == nil)
            ended.signal()
        }
        try expectEventually(tickets().count, is: 2)
        for (store, roots) in [(two, ["B", "C"]), (one, ["D", "E"])] {
            try store.update(root: roots[0]) { $0 = ["count": 1] }
            try store.change(root: roots[1]) { $0 = ["count": 1] }
        }
        // A root whose name begins like that of another one is another one.
        try two.update(root: "A/l") { $0 = ["count": 1] }
        #expect(try two.current(root: "A") == nil)
        #expect(try tickets().count == 2)
        #expect(holder.finish() == nil)
        ended.wait()
        #expect(try one.currentCount() == 11)
    }

    @Test func fewLocksAreInUseAtATime() throws {
        let namespace = try one.namespace
        let locks = LockPool {
            EtcdLock(namespace.client, namespace.keys, namespace.watch, patience: namespace.patience)
        }
        let deadline = ContinuousClock.now + .seconds(2)
        let taken = (0..<16).compactMap { _ in locks.take(until: deadline) }
        #expect(Set(taken.map(ObjectIdentifier.init)).count == 16)
        #expect(locks.take(until: .now) == nil)
        locks.giveBack(taken[3])
        #expect(locks.take(until: .now) === taken[3])
        // One of which copies may be under way is used again before the others.
        taken[5].abandon()
        for number in [4, 5, 6] { locks.giveBack(taken[number]) }
        #expect(locks.take(until: .now) === taken[5])
        #expect(locks.take(until: .now) === taken[6])
    }

    /// A renewal that gets no answer, after a third of the 5 s of the lease, leaves time for another one.
    @Test func aRenewalMayStayWithoutAnAnswer() throws {
        let store = proxy.store(prefix)
        let (begin, bodyEnded) = (Locked(ContinuousClock.now), Signal())
        let (unanswered, answered) = (Locked(0), Locked(0))
        proxy.intercept { request in
            guard request.contains("Lease/LeaseKeepAlive") else { return nil }
            if .now - begin.withLock(\.self) < .seconds(3) {
                _ = unanswered.next()
                bodyEnded.wait()
            } else {
                _ = answered.next()
            }
            return nil
        }
        try store.update(root: "A") { values in
            begin.withLock { $0 = .now }
            expectEventually(ContinuousClock.now - begin.withLock(\.self), "more than 6 s") { $0 > .seconds(6) }
            values = ["count": 1]
        }
        for _ in 0..<unanswered.withLock(\.self) { bodyEnded.signal() }
        #expect(unanswered.withLock(\.self) > 0 && answered.withLock(\.self) > 0)
        #expect(try one.currentCount() == 1)
    }

    /// A marker lives for an hour. A client that goes on for longer has another name in time.
    @Test(arguments: [true, false]) func anOldMarkerIsReplacedInTime(needsTicket: Bool) throws {
        let namespace = try one.namespace
        let lock = EtcdLock(namespace.client, namespace.keys, namespace.watch, patience: namespace.patience)
        for (minutes, isOld) in [(44, false), (46, true), (44, false), (46, true)] {
            try lock.prepare(forTicket: needsTicket)
            let former = lock.identity
            lock.state.withLock { $0.client.markerLease?.granted = .now - .seconds(minutes * 60) }
            try lock.prepare(forTicket: needsTicket)
            #expect((lock.identity.name != former.name) == isOld, "\(minutes) minutes")
            #expect((lock.identity.markerLease?.id != former.markerLease?.id) == isOld, "\(minutes) minutes")
        }
        lock.end(until: .now + .seconds(20))
    }

    /// A program that ends gives its keys a second, whatever a thread does that has more time for them.
    @Test func theEndOfALockDoesNotWaitForLonger() throws {
        let namespace = try proxy.store(prefix).namespace
        let lock = EtcdLock(namespace.client, namespace.keys, namespace.watch, patience: namespace.patience)
        let lease = try namespace.client.grantLease(seconds: 60, until: .now + .seconds(20)).id
        lock.state.withLock { $0.client.markerLease = (lease, .now) }
        let (asked, answer, both) = (Signal(), Signal(), [Signal(), Signal()])
        proxy.intercept { request in
            guard request.contains("Lease/LeaseRevoke") else { return nil }
            asked.signal()
            answer.wait()
            return nil
        }
        func end(after seconds: Int, _ ended: Signal) {
            Thread.detachNewThread {
                lock.end(until: .now + .seconds(seconds))
                ended.signal()
            }
        }
        end(after: 60, both[0])
        asked.wait()
        end(after: 0, both[1])
        both[1].wait()
        answer.signal()
        both[0].wait()
    }

    /// A body of a root whose name begins with that of another root and a slash keeps no change of that root waiting.
    @Test func changesOfARootDoNotWaitForLongerNames() throws {
        let store = proxy.store(prefix)
        try store.change(root: "A") { $0 = ["count": 1] }
        let holders = [Holder(one, "A/x"), Holder(two, "A%2Fx")]
        let requests = proxy.count { !LossyProxy.isOfTheWatch($0) }
        try store.change(root: "A") { $0 = ["count": 2] }
        #expect(requests.withLock { $0 } == 1)
        for holder in holders { #expect(holder.finish() == nil) }
        #expect(try store.currentCount("A/x") == 1)
    }

    @Test func tooManyRootsAreLocked() throws {
        let roots = (0..<100).map { "R\($0)" }
        let failure = error { try one.update(root: "A", alsoLocking: roots) { _ in Issue.record("run") } }
        #expect(failure.notStored?.reason == "an update accesses more than 100 roots")
        try one.update(root: "A", alsoLocking: Array(roots.dropLast())) { $0 = ["count": 1] }
        #expect(try tickets().isEmpty)
    }

    /// Waiting for a root with an earlier name could last for ever, if its holder waits for this update.
    @Test func aFurtherRootThatAnotherClientHasLocked() throws {
        let first = Holder(one)
        var runs = 0
        let failure = error {
            try two.update(root: "B") { root in
                runs += 1
                root = ["count": 1]
                // Other roots are free.
                try two.update(root: "C") { $0 = ["count": 1] }
                try two.update(root: "A") { _ in Issue.record("run") }
            }
        }
        guard case .busy(let holder)? = failure else { return #expect(Bool(false), "\(failure as Any)") }
        #expect(holder.reason.contains(" (process \(getpid())) has the lock of root A, which is before a root"))
        #expect(runs == 1)
        #expect(try tickets().count == 1)
        for root in ["B", "C"] { #expect(try two.current(root: root) == nil) }
        #expect(first.finish() == nil)
        // If it is free, it is taken.
        try two.update(root: "B") { root in
            root = ["count": 1]
            try two.update(root: "A") { $0?["count"] = 5 }
        }
        #expect(try one.currentCount() == 5)
    }

    /// A root with a later name is waited for, and so are all that were named in advance.
    @Test(arguments: [true, false]) func aFurtherRootIsWaitedFor(_ isNamed: Bool) throws {
        let (free, taken) = isNamed ? ("B", "A") : ("A", "B")
        let holder = Holder(one, taken)
        let ended = Signal()
        Thread.detachNewThread { [two] in
            let failure = error {
                try two.update(root: free, alsoLocking: isNamed ? [taken] : []) { _ in
                    try two.update(root: taken) { $0 = ["count": ($0?["count"] as? Int ?? 0) + 10] }
                }
            }
            #expect(failure == nil)
            ended.signal()
        }
        try expectEventually(tickets(), "2 of \(taken)") {
            $0.count { $0.hasPrefix("\(prefix)l/\(taken)/") } == 2
        }
        #expect(holder.finish() == nil)
        ended.wait()
        #expect(try one.currentCount(taken) == 11)
        #expect(try tickets().isEmpty)
    }

    /// A body that hangs keeps the others out for its deadline and the end of the ticket, and then stores nothing.
    @Test func theTicketOfABodyThatHangsEnds() throws {
        let hasty = cluster.store(prefix, .init(deadline: shortWait(1)))
        let patient = cluster.store(prefix, .patient(2))
        let holder = Holder(hasty)
        // The root is unchanged, so only the ticket tells that the lock is another client's.
        let next = Holder(patient)
        #expect(holder.finish().notStored?.reason.contains("the lock was lost") == true)
        #expect(next.finish() == nil)
        #expect(try patient.currentCount() == 1)
        try increment(hasty)
        #expect(try patient.currentCount() == 2)
    }

    /// A copy of the release of an update arrives while a later update of the same client runs.
    @Test func aLateReleaseLeavesALaterTicket() throws {
        let store = proxy.store(prefix)
        try store.update(root: "A") { _ in }
        let holder = Holder(store)
        #expect(try tickets().count == 1)
        proxy.replay()
        #expect(try tickets().count == 1)
        #expect(holder.finish() == nil)
        #expect(try tickets().isEmpty)
    }

    @Test func anUpdateOfManyRootsLeavesNoTicket() throws {
        try one.update(root: "R000") { _ in
            for number in 100..<199 { try one.update(root: "R\(number)") { $0 = ["count": number] } }
        }
        #expect(try tickets().isEmpty)
        #expect(try two.currentCount("R198") == 198)
    }

    // MARK: - The end of a ticket

    /// etcd grants no lease below one and a half elections. The ticket of a client that has died stays as long.
    @Test(.enabled(if: EtcdCluster.isWhole)) func aLeaseThatIsLongerThanAskedFor() throws {
        // 8 s in place of 5.
        let cluster = try EtcdCluster(
            nodes: 1, arguments: ["--election-timeout", "5000", "--heartbeat-interval", "500"])
        let deadline = Duration.seconds(2)
        let (store, holder) = (cluster.store(prefix, .init(deadline: deadline)), Holder(cluster.store(prefix)))
        let (begin, ended) = (ContinuousClock.now, Signal())
        // The root is the first that is locked, and the second.
        for root in ["A", "0"] {
            Thread.detachNewThread {
                #expect(error { try store.update(root: root) { _ in try increment(store) } } == nil)
                ended.signal()
            }
        }
        expectEventually(ContinuousClock.now - begin, "more than \(deadline)") { $0 > deadline }
        #expect(holder.finish() == nil)
        for _ in 0..<2 { ended.wait() }
        #expect(try store.currentCount() == 3)
    }

    /// Of several clients before this one, the error names the one that has the lock.
    @Test func theHolderIsNamedAmongThoseThatWait() throws {
        let holder = try PipedChild("EtcdProbe", ["hold", url], home: home)
        #expect(try holder.line() == "holding")
        let name = try cluster.control("get", "--prefix", "--print-value-only", "\(prefix)l/")
            .trimmingCharacters(in: .newlines)
        let waiting = try PipedChild("EtcdProbe", ["hold", url], home: home)
        try expectEventually(tickets().count, is: 2)
        let store = cluster.store(prefix, .init(deadline: shortWait(2)))
        let failure = error { try store.update(root: "A") { _ in Issue.record("run") } }
        let reason = failure.notStored?.reason ?? "\(String(describing: failure))"
        #expect(reason.hasSuffix("held by \(name); clients ahead: 2"), "\(reason), and not \(name)")
        try holder.tell("")
        #expect(try waiting.line() == "holding")
        try waiting.tell("")
    }

    /// Who waits looks again after a second, if the watch of the ticket before is silent.
    @Test func aSilentWatchKeepsNobodyWaiting() throws {
        proxy.holdWatches()
        let watches = proxy.count { $0.contains("Watch/Watch") }
        let (holder, waiting) = (Holder(one), storeBehindProxy())
        let ended = Signal()
        Thread.detachNewThread {
            #expect(error { try waiting.update(root: "A") { $0?["count"] = 11 } } == nil)
            ended.signal()
        }
        // The second one begins when the first was silent for a second.
        expectEventually(watches.withLock { $0 }, "at least 2") { $0 >= 2 }
        #expect(holder.finish() == nil)
        ended.wait()
        #expect(try one.currentCount() == 11)
    }

    /// The default deadline outlives the election of a leader and the lease of a ticket, which begins again with the new leader.
    @Test(.enabled(if: EtcdCluster.isWhole)) func theLeaderAndTheHolderOfALockDieTogether() throws {
        let cluster = try EtcdCluster(
            nodes: 3, arguments: ["--election-timeout", "1000", "--heartbeat-interval", "100"])
        let servers = cluster.nodes.map { "127.0.0.1:\($0.clientPort)" }.joined(separator: ",")
        let store = EtcdStore(endpoints: cluster.urls, prefix: prefix)
        try increment(store)
        let holder = try PipedChild("EtcdProbe", ["hold", "etcd://\(servers)/\(prefix)"], home: home)
        #expect(try holder.line() == "holding")
        let leader = try #require(try cluster.leader())
        cluster.kill(leader)
        holder.kill()
        try increment(store)
        #expect(try store.currentCount() == 2)
    }

    /// Waits for a key that was found, and then changed by a closure. False if the watch has not told.
    private func hears(
        until deadline: ContinuousClock.Instant = .now + longestWait, of change: (_ key: String) throws -> Void
    ) throws -> Bool {
        let (client, key) = (try one.namespace.client, "\(prefix)l/A/client")
        try cluster.control("put", key, "1")
        let reply = try client.range(RangeRequest(key: Data(key.utf8)), until: deadline)
        try change(key)
        let found = try #require(reply.kvs.first)
        try client.waitForChange(of: found, in: reply.revision, until: deadline)
        return .now < deadline
    }

    /// The watch begins after the end of the ticket. Its owner may be in the queue again, under the same key.
    @Test(arguments: [false, true]) func aTicketThatEndsBeforeItsWatchBegins(_ isPutAgain: Bool) throws {
        let isHeard = try hears { key in
            try cluster.control("del", key)
            if isPutAgain { try cluster.control("put", key, "1") }
        }
        #expect(isHeard)
    }

    @Test func changesOfOtherKeysEndNoWait() throws {
        let isHeard = try hears(until: .now + .seconds(1)) { try cluster.control("put", $0 + "s", "1") }
        #expect(!isHeard)
    }

    /// etcd reports what is past in rounds, ten a second.
    @Test func aWatchOfATicketBeginsNow() throws {
        let holder = Holder(one)
        let (watch, ended) = (Signal(), Signal())
        let request = Locked("")
        proxy.interceptFirst("Watch/Watch") {
            let text = $0
            request.withLock { $0 = text }
            watch.signal()
            return nil
        }
        Thread.detachNewThread { [proxy, prefix] in
            #expect(error { try increment(proxy.store(prefix)) } == nil)
            ended.signal()
        }
        watch.wait()
        #expect(holder.finish() == nil)
        ended.wait()
        #expect(request.withLock { $0.contains("createRequest") && !$0.contains("startRevision") })
        #expect(try two.currentCount() == 2)
    }

    // MARK: - Commits without an answer

    /// What the request has that puts root "A".
    private var commit: String { "\"requestPut\":{\"key\":\"\(Data("\(prefix)r/A".utf8).base64EncodedString())" }

    /// The answer to the first copy is lost. The answer to the second says that the key of the protocol is another one, which a third
    /// would compare; no server is reached for that.
    @Test func aCopyOfACommitThatMayHaveBeenCarriedOut() throws {
        let store = proxy.store(prefix, .init(deadline: shortWait(1)))
        let commits = Locked(0)
        proxy.intercept { [proxy, cluster, prefix, commit] request in
            guard request.contains(commit) else { return nil }
            if commits.next() == 1 {
                proxy.carryOut(request)
                return ""
            }
            proxy.close()
            let found = ["c/", "v"].map { key in
                let range = try? cluster.control("get", "--prefix", "-w", "json", prefix + key)
                return "{\"response_range\": \(range ?? "")}"
            }
            return LossyProxy.answer(
                200, "{\"header\": {\"revision\": \"9\"}, \"responses\": [\(found.joined(separator: ","))]}")
        }
        expectUnknownOutcome { try store.update(root: "A") { $0 = ["count": 1] } }
        #expect(commits.withLock { $0 } == 2)
        #expect(try one.currentCount() == 1)
    }

    /// The first copy was carried out, and then the protocol has changed.
    @Test func aCommitBeforeAnotherProtocol() throws {
        let store = proxy.store(prefix)
        proxy.interceptFirst(commit) { [proxy, cluster, prefix] request in
            proxy.carryOut(request)
            _ = try? cluster.control("put", "\(prefix)v", "3")
            return ""
        }
        try store.update(root: "A") { $0 = ["count": 1] }
        #expect(try one.currentCount() == 1)
    }

    // MARK: - The protocol

    @Test func anUnknownProtocolIsLeftAlone() throws {
        try one.update(root: "A") { $0 = ["count": 1] }
        #expect(try cluster.control("get", "--print-value-only", "\(prefix)v") == "2\n")
        // During the body, too.
        let failure = error {
            try one.update(root: "A") { root in
                try cluster.control("put", "\(prefix)v", "3")
                root = ["count": 2]
            }
        }
        let reason = "expected protocol 2 in the key v of the prefix, found 3; update this program"
        #expect(failure.notStored?.reason == reason)
        for store in [one, two] {
            #expect(error { try store.update(root: "A") { _ in Issue.record("run") } }.notStored?.reason == reason)
            #expect(error { try store.change(root: "A") { $0 = ["count": 3] } }.notStored?.reason == reason)
            #expect(try store.currentCount() == 1)
        }
        #expect(try tickets().isEmpty)
        try cluster.control("put", "\(prefix)v", "2")
        try one.update(root: "A") { $0 = ["count": 4] }
        try two.change(root: "A") { $0 = ["count": ($0?["count"] as? Int ?? 0) + 1] }
        #expect(try one.currentCount() == 5)
    }

    /// The first clients of a prefix put the key at the same time.
    @Test func theKeyOfTheProtocolIsPutOnce() throws {
        inThreads(4) { [cluster, prefix] number in
            let store = cluster.store(prefix, .init(deadline: .seconds(20 + number)))
            let failure = error {
                if number % 2 == 0 {
                    try store.update(root: "A\(number)") { $0 = ["count": 1] }
                } else {
                    try store.change(root: "A\(number)") { $0 = ["count": 1] }
                }
            }
            #expect(failure == nil)
        }
        #expect(try cluster.control("get", "-w", "json", "\(prefix)v").contains("\"version\":1,"))
    }
}
