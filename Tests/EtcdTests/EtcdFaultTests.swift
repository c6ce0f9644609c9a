import EngineSupport
import Foundation
import PersistentPreferences
import PrefsEtcd
import PrefsStoreKit
import Testing
import TestSupport

/// Updates that meet late copies of requests, wrong answers, and threads that take long.
@Suite(.waits, .enabled(if: EtcdCluster.isThere)) final class EtcdFaultTests: FleetSuite {
    private var store: EtcdStore { one }

    /// The answer of a cluster without space.
    private static let full = LossyProxy.answer(429, #"{"error": "no space", "code": 8, "message": "no space"}"#)

    /// A network may deliver a request again when nobody expects it any more.
    @Test func lateCopiesOfRequestsChangeNothing() throws {
        let behind = storeBehindProxy()
        try behind.update(root: "A") { $0 = ["a": 1] }
        try behind.update(root: "B") { _ in }
        try behind.update(root: "A") { $0?["a"] = 2 }
        try behind.update(root: "C") { $0 = ["c": 1] }
        // Removed, so that no revision of the roots tells a copy from the original.
        for root in ["A", "B", "C"] { try store.update(root: root) { $0 = nil } }
        proxy.replay()
        #expect(try cluster.control("get", "--prefix", "--keys-only", "\(prefix)r/").isEmpty)
        // No ticket is left that would keep others out.
        #expect(try cluster.control("get", "--prefix", "--keys-only", "\(prefix)l/").isEmpty)
        try behind.update(root: "A") { $0 = ["a": 3] }
        #expect(try behind.read(root: "A")?["a"] as? Int == 3)
    }

    /// A late copy of an update changes nothing, even if the update was rejected because a key had been put by hand.
    @Test func aLateCopyOfARejectedUpdateChangesNothing() throws {
        let behind = storeBehindProxy()
        let failure = error {
            try behind.update(root: "A") { root in
                try cluster.control("put", "\(prefix)r/A", "{}")
                root = ["a": 1]
            }
        }
        #expect(failure.notStored?.reason.contains("another client") == true)
        // Now the roots are as the copy expects them.
        try cluster.control("del", "\(prefix)r/A")
        proxy.replay()
        #expect(try cluster.control("get", "\(prefix)r/A").isEmpty)
    }

    /// A copy that is carried out after another one was rejected: the update is stored, and says so.
    @Test func aLateCopyThatWasCarriedOutIsFound() throws {
        let behind = storeBehindProxy(deadline: .seconds(30))
        let isFound = Locked(false)
        try behind.update(root: "A") { [cluster, prefix] root in
            try cluster.control("put", "\(prefix)r/A", "{}")
            // The first request after the rejected commit asks whether a copy of it was carried out.
            proxy.interceptFirst("KV/Range") { [proxy] _ in
                isFound.withLock { $0 = true }
                _ = try? cluster.control("del", "\(prefix)r/A")
                proxy.replay()
                return nil
            }
            root = ["a": 1]
        }
        #expect(isFound.withLock { $0 })
        #expect(try behind.read(root: "A")?["a"] as? Int == 1)
        try behind.update(root: "A") { $0?["a"] = 2 }
        #expect(try behind.read(root: "A")?["a"] as? Int == 2)
    }

    /// A cluster that runs out of space may carry out a commit and reject it all the same.
    @Test(arguments: [true, false]) func aCommitThatIsRejectedMayBeStored(_ isCarriedOut: Bool) throws {
        let behind = storeBehindProxy()
        try behind.update(root: "A") { $0 = ["a": 1] }
        let isFirst = Locked(true)
        let failure = error {
            try behind.update(root: "A") { root in
                proxy.intercept { [proxy] request in
                    guard isFirst.take() else { return nil }
                    if isCarriedOut { proxy.carryOut(request) }
                    return Self.full
                }
                root = ["a": 2]
            }
        }
        #expect(!isFirst.withLock { $0 })
        if isCarriedOut {
            #expect(failure == nil)
        } else {
            #expect(failure.map { "\($0)" }?.contains("no space; the stored state is unchanged") == true)
        }
        #expect(try behind.read(root: "A")?["a"] as? Int == (isCarriedOut ? 2 : 1))
        try behind.update(root: "A") { $0 = ["a": ($0?["a"] as? Int ?? 0) + 1] }
        #expect(try behind.read(root: "A")?["a"] as? Int == (isCarriedOut ? 3 : 2))
    }

    /// A server without space, before 3.4.20 and 3.5.7, rejects transactions that only read, too.
    @Test func readsOfAClusterThatRejectsTransactions() throws {
        for root in ["A", "B"] { try store.update(root: root) { $0 = ["count": 7] } }
        let ofOneRevision = Locked(0)
        proxy.intercept { request in
            if request.contains("KV/Range"), request.contains("\"revision\":") { ofOneRevision.next() }
            return request.contains("KV/Txn") ? Self.full : nil
        }
        let behind = storeBehindProxy(.followed)
        let heard = try ["A", "B"].map { try ObservedCounts(behind, $0) }
        for root in ["A", "B"] {
            #expect(try behind.count(root) == 7)
            try store.update(root: root) { $0 = ["count": 8] }
        }
        for heard in heard { #expect(heard.wait(for: 8) == .elsewhere) }
        // One root is read after another, as they were when the first was read.
        expectEventually(ofOneRevision.withLock { $0 }, "at least 1") { $0 > 0 }
    }

    /// What becomes of the requests that read or write, from the commit of an update on.
    enum Loss: CaseIterable {
        /// None arrives.
        case everyRequest
        /// None is answered.
        case everyAnswer
        /// The first is not answered. After it, connections are refused.
        case servers
        /// Only the second is answered. That it is rejected proves nothing: the first copy may be the reason.
        case otherAnswers
        /// The first is not answered, and somebody removes the marker, which would tell why the second copy is rejected.
        case marker
        /// The first is late. A cluster without space rejects its second copy, and the fence.
        case space
    }

    /// The error says that nobody knows, whether the commit was carried out or not.
    @Test(arguments: Loss.allCases) func aCommitOfUnknownOutcome(_ loss: Loss) async throws {
        let behind = storeBehindProxy(deadline: loss == .marker || loss == .space ? ampleWait() : shortWait(2))
        try behind.update(root: "A") { $0 = ["a": 1] }
        let first = Locked("")
        expectUnknownOutcome {
            try behind.update(root: "A") { root in
                proxy.answer { [proxy, cluster, prefix] number, request in
                    if number == 1 { first.withLock { $0 = request } }
                    switch (loss, number) {
                    case (.everyRequest, _), (.space, 1): return ""
                    case (.everyAnswer, _), (_, 1): proxy.carryOut(request)
                    case (.otherAnswers, 2), (.marker, _): return nil
                    // The fence reads the marker before it writes.
                    case (.space, _): return request.contains("KV/Txn") ? Self.full : nil
                    case (.otherAnswers, _), (.servers, _): return ""
                    }
                    if loss == .servers { proxy.close() }
                    if loss == .marker { _ = try? cluster.control("del", "--prefix", "\(prefix)c/") }
                    return ""
                }
                root = ["a": 2]
            }
        }
        if loss == .servers { return #expect(try store.read(root: "A")?["a"] as? Int == 2) }
        if loss == .everyRequest || loss == .everyAnswer {
            try await sideBySide([
                { #expect(error { _ = try behind.read(root: "A") }.unreadable != nil) },
                { #expect(error { try behind.update(root: "A") { _ in Issue.record("run") } }.notStored != nil) },
            ])
        }
        proxy.intercept { _ in nil }
        if loss == .space { proxy.carryOut(first.withLock { $0 }) }
        let stored = loss == .everyRequest ? 1 : 2
        #expect(try behind.read(root: "A")?["a"] as? Int == stored)
        try behind.update(root: "A") { $0 = ["a": ($0?["a"] as? Int ?? 0) + 1] }
        #expect(try store.read(root: "A")?["a"] as? Int == stored + 1)
    }

    /// If the cluster cannot be reached, a read is no older than what this process has stored or has read.
    @Test func theLastKnownStateIsTheNewest() throws {
        let behind = storeBehindProxy(deadline: shortWait(2))
        let prefs = TeamPrefs(key: "A", store: behind.store)
        #expect(prefs.update { prefs.level = 1 }.failure == nil)
        proxy.block()
        #expect(prefs.level == 1)
        #expect(prefs.lastError.unreadable != nil)
        proxy.unblock()
        // A stream that has nothing new does not make a read older.
        let observation = prefs.$level.onChange { _, _ in }
        defer { observation.cancel() }
        proxy.silenceStreams()
        try store.update(root: "A") { $0?["level"] = 2 }
        #expect(prefs.level == 2)
        proxy.block()
        #expect(prefs.level == 2)
        #expect(prefs.lastError.unreadable != nil)
    }

    /// A thread that joins the update of another one must not go by what that one has read before.
    @Test func whoJoinsABatchSeesTheNewestStateOrFails() throws {
        for number in 0..<10 {
            let root = "A\(number)"
            try store.update(root: root) { $0 = ["a": 1] }
            // Changes nothing, and gives the other thread time to wait for its turn.
            let holder = Holder(store, root) { _ in poll(nil, 0, 10) }
            try cluster.control("put", "\(prefix)r/\(root)", #"{"a": 2}"#)
            holder.letEnd()
            let failure = error(of: { try store.update(root: root) { $0 = ["a": 1] } })
            let stored = try cluster.control("get", "--print-value-only", "\(prefix)r/\(root)")
            if let failure {
                guard case .notStored = failure else { return #expect(Bool(false), "\(failure)") }
                #expect(stored == "{\"a\": 2}\n")
            } else {
                #expect(stored == "{\n  \"a\": 1\n}\n\n")
            }
            holder.finish()
        }
    }

    /// A proxy that has no server for a while may say so in many ways.
    @Test func answersOfOthersThanEtcdAreAskedAgain() throws {
        let behind = storeBehindProxy()
        let answers = Locked([408, 429, 503, 200])
        proxy.intercept { _ in
            answers.withLock { $0.popLast() }.map { LossyProxy.answer($0, "try again") }
        }
        try behind.update(root: "A") { $0 = ["a": 1] }
        #expect(answers.withLock { $0.isEmpty })
        #expect(try behind.read(root: "A")?["a"] as? Int == 1)
    }

    @Test func aThreadThatWaitsForItsTurnGivesUp() throws {
        let store = cluster.store(prefix, .init(deadline: shortWait(2)))
        let holder = Holder(store)
        let failure = error { try store.update(root: "A") { _ in Issue.record("run") } }
        #expect(failure.notStored?.reason == "timed out waiting for updates of other threads of this process")
        #expect(holder.finish() == nil)
        try store.update(root: "A") { #expect($0?["count"] as? Int == 1) }
    }

    @Test func aRejectedValueTakesNoLock() throws {
        let behind = storeBehindProxy()
        let prefs = TeamPrefs(key: "A", store: behind.store)
        prefs.level = 5
        let count = proxy.count { $0.contains("KV/Txn") }
        prefs.level = 100_001
        guard case .constraintViolated? = prefs.lastError else { return #expect(Bool(false)) }
        #expect(count.withLock { $0 } == 0)
        #expect(prefs.level == 5)
    }

    /// What `prefsDidFail` writes about a failure inside of an update is an update of its own, also in the root of that update.
    @Test(arguments: [true, false], ["log", "A"])
    func whatPrefsDidFailWritesIsStored(_ isOwnUpdate: Bool, _ root: String) throws {
        let log = TeamPrefs(key: root, store: store.store)
        let prefs = WatchedPrefs(key: "A", store: store.store)
        prefs.log = log
        if isOwnUpdate {
            let error = prefs.update { prefs.level = 100_001 }.failure
            guard case .constraintViolated? = error else { return #expect(Bool(false)) }
        } else {
            #expect(throws: PrefsError.self) { try store.update(root: "A") { _ in prefs.level = 100_001 } }
        }
        #expect(log.level == 9)
        try store.update(root: root) { #expect($0?["level"] as? Int == 9) }
        #expect(try cluster.control("get", "\(prefix)r/A").isEmpty == (root == "log"))
    }
}

private final class WatchedPrefs: TeamPrefs, @unchecked Sendable {
    nonisolated(unsafe) var log: TeamPrefs?

    override func prefsDidFail(_ error: PrefsError) {
        log?.level = 9
    }
}
