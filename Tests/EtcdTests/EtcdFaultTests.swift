import Foundation
import PersistentPreferences
import PrefsEtcd
import PrefsPropertyLists
import Testing
import TestSupport

/// Updates that meet late copies of requests, wrong answers, and threads that take long.
@Suite(.enabled(if: EtcdCluster.isThere)) actor EtcdFaultTests: ThreadSuite {
    nonisolated let thread = SuiteThread()
    private let cluster: EtcdCluster
    private let prefix = EtcdCluster.prefix()
    private let store: EtcdStore

    init() throws {
        cluster = try EtcdCluster.shared.get()
        store = EtcdStore(endpoints: cluster.urls, prefix: prefix, options: .patient())
    }

    /// A proxy before the shared node, and a store behind it.
    private func storeBehindProxy(deadline: Duration = ampleWait()) throws -> (LossyProxy, EtcdStore) {
        let proxy = try LossyProxy(to: cluster.nodes[0].clientPort)
        let options = EtcdStore.Options(reads: .current, deadline: deadline)
        return (proxy, EtcdStore(endpoints: [proxy.url], prefix: prefix, options: options))
    }

    /// A network may deliver a request again when nobody expects it any more.
    @Test func lateCopiesOfRequestsChangeNothing() throws {
        let (proxy, behind) = try storeBehindProxy()
        defer { proxy.close() }
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
        let (proxy, behind) = try storeBehindProxy()
        defer { proxy.close() }
        #expect {
            try behind.update(root: "A") { root in
                try cluster.control("put", "\(prefix)r/A", "{}")
                root = ["a": 1]
            }
        } throws: {
            guard case PrefsError.notStored(let failure) = $0 else { return false }
            return failure.reason.contains("another client")
        }
        // Now the roots are as the copy expects them.
        try cluster.control("del", "\(prefix)r/A")
        proxy.replay()
        #expect(try cluster.control("get", "\(prefix)r/A").isEmpty)
    }

    /// A copy that is carried out after another one was rejected: the update is stored, and says so.
    @Test func aLateCopyThatWasCarriedOutIsFound() throws {
        let (proxy, behind) = try storeBehindProxy(deadline: .seconds(30))
        defer { proxy.close() }
        let isFirst = Locked(true)
        try behind.update(root: "A") { [cluster, prefix] root in
            try cluster.control("put", "\(prefix)r/A", "{}")
            // The first request after the rejected commit asks whether a copy of it was carried out.
            proxy.intercept { request in
                let isDue = isFirst.withLock { isFirst in
                    guard isFirst, request.contains("/v3/kv/range") else { return false }
                    isFirst = false
                    return true
                }
                guard isDue else { return nil }
                _ = try? cluster.control("del", "\(prefix)r/A")
                proxy.replay()
                return nil
            }
            root = ["a": 1]
        }
        #expect(!isFirst.withLock { $0 })
        #expect(try behind.read(root: "A")?["a"] as? Int == 1)
        try behind.update(root: "A") { $0?["a"] = 2 }
        #expect(try behind.read(root: "A")?["a"] as? Int == 2)
    }

    /// If answers to a commit are lost, the store asks again, and the commit is carried out once.
    @Test func aCommitWhoseAnswerIsLostIsStoredOnce() throws {
        let (proxy, behind) = try storeBehindProxy()
        defer { proxy.close() }
        try behind.update(root: "A") { $0 = ["a": 1] }
        let lost = Locked(0)
        try behind.update(root: "A") { root in
            proxy.intercept { request in
                guard lost.withLock({ $0 }) < 3 else { return nil }
                lost.withLock { $0 += 1 }
                proxy.carryOut(request)
                return ""
            }
            root = ["a": (root?["a"] as? Int ?? 0) + 1]
        }
        #expect(lost.withLock { $0 } == 3)
        #expect(try store.read(root: "A")?["a"] as? Int == 2)
    }

    /// A cluster that runs out of space may carry out a commit and reject it all the same.
    @Test(arguments: [true, false]) func aCommitThatIsRejectedMayBeStored(_ isCarriedOut: Bool) throws {
        let (proxy, behind) = try storeBehindProxy()
        defer { proxy.close() }
        try behind.update(root: "A") { $0 = ["a": 1] }
        let isFirst = Locked(true)
        let failure = error {
            try behind.update(root: "A") { root in
                proxy.intercept { request in
                    let isDue = isFirst.withLock { isFirst in
                        defer { isFirst = false }
                        return isFirst
                    }
                    guard isDue else { return nil }
                    if isCarriedOut { proxy.carryOut(request) }
                    return LossyProxy.answer(429, #"{"error": "no space", "code": 8, "message": "no space"}"#)
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

    /// If no answer comes until the deadline, the error says so, whether the commit was carried out or not.
    @Test(arguments: [true, false])
    func aCommitThatIsNeverAnsweredIsOfUnknownOutcome(_ isCarriedOut: Bool) async throws {
        let (proxy, behind) = try storeBehindProxy(deadline: shortWait(2))
        defer { proxy.close() }
        expectUnknownOutcome {
            try behind.update(root: "A") { root in
                proxy.intercept { request in
                    if isCarriedOut { proxy.carryOut(request) }
                    return ""
                }
                root = ["a": 1]
            }
        }
        try await sideBySide(
            {
                guard case .unreadable? = error(of: { _ = try behind.read(root: "A") }) else {
                    return #expect(Bool(false))
                }
            },
            {
                let failure = error { try behind.update(root: "A") { _ in Issue.record("run") } }
                guard case .notStored? = failure else { return #expect(Bool(false)) }
            })
        proxy.intercept { _ in nil }
        #expect(try behind.read(root: "A")?["a"] as? Int == (isCarriedOut ? 1 : nil))
        try behind.update(root: "A") { $0 = ["a": ($0?["a"] as? Int ?? 0) + 1] }
        #expect(try behind.read(root: "A")?["a"] as? Int == (isCarriedOut ? 2 : 1))
    }

    /// An answer that was lost is not forgotten if no server can be reached afterwards.
    @Test func aLostAnswerBeforeTheEndOfTheServers() throws {
        let (proxy, behind) = try storeBehindProxy(deadline: shortWait(2))
        expectUnknownOutcome {
            try behind.update(root: "A") { root in
                proxy.intercept { request in
                    proxy.carryOut(request)
                    // From now on, connections are refused.
                    proxy.close()
                    return ""
                }
                root = ["a": 1]
            }
        }
        #expect(try store.read(root: "A")?["a"] as? Int == 1)
    }

    /// That a second copy of a commit is rejected proves nothing: the first one may be the reason.
    @Test func aSecondCopyIsRejectedAndNobodyTellsMore() throws {
        let (proxy, behind) = try storeBehindProxy(deadline: shortWait(2))
        defer { proxy.close() }
        try behind.update(root: "A") { $0 = ["a": 1] }
        expectUnknownOutcome {
            try behind.update(root: "A") { root in
                proxy.answer { number, request in
                    if number == 1 { proxy.carryOut(request) }
                    return number == 2 ? nil : ""
                }
                root = ["a": 2]
            }
        }
        proxy.intercept { _ in nil }
        #expect(try behind.read(root: "A")?["a"] as? Int == 2)
        try behind.update(root: "A") { $0?["a"] = 3 }
        #expect(try store.read(root: "A")?["a"] as? Int == 3)
    }

    /// A cluster without space rejects a second copy, and the fence. The first copy may still arrive.
    @Test func aLostAnswerBeforeTheClusterIsFull() throws {
        let (proxy, behind) = try storeBehindProxy()
        defer { proxy.close() }
        try behind.update(root: "A") { $0 = ["a": 1] }
        let first = Locked("")
        let full = LossyProxy.answer(429, #"{"error": "no space", "code": 8, "message": "no space"}"#)
        expectUnknownOutcome {
            try behind.update(root: "A") { root in
                proxy.answer { number, request in
                    if number == 1 { first.withLock { $0 = request } }
                    // The fence reads the marker before it writes.
                    return number == 1 ? "" : request.contains("/v3/kv/txn") ? full : nil
                }
                root = ["a": 2]
            }
        }
        proxy.carryOut(first.withLock { $0 })
        #expect(try behind.read(root: "A")?["a"] as? Int == 2)
    }

    /// Somebody has removed the marker, which would tell whether the first copy was carried out.
    @Test func aLostAnswerAndALostMarker() throws {
        let (proxy, behind) = try storeBehindProxy()
        defer { proxy.close() }
        try behind.update(root: "A") { $0 = ["a": 1] }
        expectUnknownOutcome {
            try behind.update(root: "A") { root in
                proxy.answer { [cluster, prefix] number, request in
                    guard number == 1 else { return nil }
                    proxy.carryOut(request)
                    _ = try? cluster.control("del", "--prefix", "\(prefix)c/")
                    return ""
                }
                root = ["a": 2]
            }
        }
        #expect(try behind.read(root: "A")?["a"] as? Int == 2)
        try behind.update(root: "A") { $0?["a"] = 3 }
        #expect(try behind.read(root: "A")?["a"] as? Int == 3)
    }

    private func expectUnknownOutcome(
        sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
    ) {
        let failure = error(of: body)
        if case .outcomeUnknown? = failure { return }
        Issue.record("expected outcomeUnknown, found \(failure as Any)", sourceLocation: sourceLocation)
    }

    /// If the cluster cannot be reached, a read is no older than what this process has stored or has read.
    @Test func theLastKnownStateIsTheNewest() throws {
        let (proxy, behind) = try storeBehindProxy(deadline: shortWait(2))
        defer { proxy.close() }
        let prefs = JobPrefs(key: "A", store: behind)
        #expect(prefs.update { prefs.jobs = 1 } == nil)
        proxy.block()
        #expect(prefs.jobs == 1)
        guard case .unreadable? = prefs.lastError else { return #expect(Bool(false)) }
        proxy.unblock()
        // A stream that has nothing new does not make a read older.
        let observation = prefs.$jobs.onChange { _, _ in }
        defer { observation.cancel() }
        proxy.silenceStreams()
        try store.update(root: "A") { $0?["jobs"] = 2 }
        #expect(prefs.jobs == 2)
        proxy.block()
        #expect(prefs.jobs == 2)
        guard case .unreadable? = prefs.lastError else { return #expect(Bool(false)) }
    }

    /// A thread that joins the update of another one must not go by what that one has read before.
    @Test func whoJoinsABatchSeesTheNewestStateOrFails() throws {
        for number in 0..<10 {
            let root = "A\(number)"
            try store.update(root: root) { $0 = ["a": 1] }
            let (begun, joins, ended) = (Signal(), Signal(), Signal())
            Thread.detachNewThread { [store] in
                // Changes nothing, and gives the other thread time to wait for its turn.
                try? store.update(root: root) { _ in
                    begun.signal()
                    joins.wait()
                    poll(nil, 0, 10)
                }
                ended.signal()
            }
            begun.wait()
            try cluster.control("put", "\(prefix)r/\(root)", #"{"a": 2}"#)
            joins.signal()
            let failure = error(of: { try store.update(root: root) { $0 = ["a": 1] } })
            let stored = try cluster.control("get", "--print-value-only", "\(prefix)r/\(root)")
            if let failure {
                guard case .notStored = failure else { return #expect(Bool(false), "\(failure)") }
                #expect(stored == "{\"a\": 2}\n")
            } else {
                #expect(stored == "{\n  \"a\": 1\n}\n\n")
            }
            ended.wait()
        }
    }

    /// A proxy that has no server for a while may say so in many ways.
    @Test func answersOfOthersThanEtcdAreAskedAgain() throws {
        let (proxy, behind) = try storeBehindProxy()
        defer { proxy.close() }
        let answers = Locked([404, 429, 503, 200])
        proxy.intercept { _ in
            answers.withLock { $0.popLast() }.map { LossyProxy.answer($0, "try again") }
        }
        try behind.update(root: "A") { $0 = ["a": 1] }
        #expect(answers.withLock { $0.isEmpty })
        #expect(try behind.read(root: "A")?["a"] as? Int == 1)
    }

    /// A thread that waits for others of its process gives up after the deadline, as one that waits for other processes does.
    @Test func aThreadThatWaitsForItsTurnGivesUp() throws {
        let store = EtcdStore(endpoints: cluster.urls, prefix: prefix, options: .init(deadline: shortWait(2)))
        let (begun, end, ended) = (Signal(), Signal(), Signal())
        Thread.detachNewThread {
            do {
                try store.update(root: "A") { root in
                    begun.signal()
                    end.wait()
                    root = ["a": 1]
                }
            } catch {
                Issue.record("\(error)")
            }
            ended.signal()
        }
        begun.wait()
        #expect {
            try store.update(root: "A") { _ in Issue.record("run") }
        } throws: {
            guard case PrefsError.notStored(let failure) = $0 else { return false }
            return failure.reason == "timed out waiting for updates of other threads of this process"
        }
        end.signal()
        ended.wait()
        try store.update(root: "A") { #expect($0?["a"] as? Int == 1) }
    }

    /// A value that is rejected outside of an update asks etcd for no lock.
    @Test func aRejectedValueTakesNoLock() throws {
        let (proxy, behind) = try storeBehindProxy()
        defer { proxy.close() }
        let prefs = LevelPrefs(key: "A", store: behind)
        prefs.level = 5
        let count = Locked(0)
        proxy.intercept { request in
            if request.contains("/v3/kv/txn") { count.withLock { $0 += 1 } }
            return nil
        }
        prefs.level = 11
        guard case .constraintViolated? = prefs.lastError else { return #expect(Bool(false)) }
        #expect(count.withLock { $0 } == 0)
        #expect(prefs.level == 5)
    }

    /// What `prefsDidFail` writes about a failure inside of an update is an update of its own.
    @Test(arguments: [true, false])
    func whatPrefsDidFailWritesIsStored(_ isOwnUpdate: Bool) throws {
        let log = LevelPrefs(key: "log", store: store)
        let prefs = WatchedPrefs(key: "A", store: store)
        prefs.log = log
        if isOwnUpdate {
            let error = prefs.update { prefs.level = 11 }
            guard case .constraintViolated? = error else { return #expect(Bool(false)) }
        } else {
            #expect(throws: PrefsError.self) { try store.update(root: "A") { _ in prefs.level = 11 } }
        }
        #expect(log.level == 9)
        try store.update(root: "log") { #expect($0?["level"] as? Int == 9) }
        #expect(try cluster.control("get", "\(prefix)r/A").isEmpty)
    }
}

private class LevelPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref(.in(1...10)) var level = 3
}

private final class WatchedPrefs: LevelPrefs, @unchecked Sendable {
    nonisolated(unsafe) var log: LevelPrefs?

    override func prefsDidFail(_ error: PrefsError) {
        log?.level = 9
    }
}

private final class JobPrefs: Prefs, @unchecked Sendable {
    @Pref var jobs = 0
}
