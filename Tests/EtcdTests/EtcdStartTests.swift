import EngineSupport
import Foundation
import PersistentPreferences
import PrefsStoreKit
import Testing
import TestSupport

@testable import PrefsEtcd

/// Programs that start while the cluster is down, with or without users, and what they leave behind when they end.
@Suite(.waits, .enabled(if: EtcdCluster.isWhole)) final class EtcdStartTests: FleetSuite {
    private func put(_ json: String, _ root: String = "A") throws {
        try cluster.control("put", "\(prefix)r/\(root)", json)
    }

    /// Without a state that is known, an observer begins with the defaults.
    @Test func observersOfAProgramThatStartsWhileTheClusterIsDown() throws {
        try put(#"{"isPaused": true}"#)
        proxy.block()
        let store = proxy.store(prefix, .init(deadline: shortWait(1)))
        let prefs = TeamPrefs(key: "A", store: store.store)
        let heard = Locked<[Bool]>([])
        let isHeard = Signal()
        let observation = prefs.$isPaused.onChange { _, isPaused in
            heard.withLock { $0.append(isPaused) }
            isHeard.signal()
        }
        #expect(TeamPrefs(key: "A", store: store.store).lastError.unreadable != nil)
        #expect(!prefs.isPaused)
        proxy.unblock()
        isHeard.wait()
        #expect(prefs.isPaused && prefs.lastError == nil)
        try put(#"{"isPaused": false}"#)
        isHeard.wait()
        #expect(heard.withLock { $0 } == [true, false])
        observation.cancel()
    }

    /// The file has what a former process has followed.
    @Test func aProgramThatStartsWhileTheClusterIsDownReadsTheLastKnownRoots() throws {
        let file = home.file("last-known.json")
        func store(_ deadline: Int) -> EtcdStore {
            proxy.store(prefix, .init(deadline: .seconds(deadline), staleness: .seconds(1)), lastKnown: file)
        }
        try put(#"{"isPaused": true, "level": 7}"#)
        let first = TeamPrefs(key: "A", store: store(9).store)
        #expect(first.isPaused)
        expectEventually(FileManager.default.fileExists(atPath: file.path(percentEncoded: false)), is: true)
        #expect(try JSONSerialization.jsonObject(with: Data(contentsOf: file)) is [String: [String: Any]])
        #expect(try mode(of: file) == 0o600)
        proxy.block()
        // Another deadline is another client, as in another process.
        let prefs = TeamPrefs(key: "A", store: store(1).store)
        #expect(prefs.isPaused && prefs.level == 7)
        #expect(prefs.lastError.unreadable != nil)
        let heard = try ObservedCounts(store(1))
        // A write needs the cluster.
        prefs.level = 8
        #expect(prefs.lastError.notStored != nil)
        // The change that is reported is the difference to what was known.
        try put(#"{"isPaused": true, "level": 7, "count": 3}"#)
        proxy.unblock()
        #expect(heard.wait(for: 3) == .elsewhere)
        #expect(heard.all == [3])
        expectEventually(prefs.lastError, "no error") {
            $0 == nil || prefs.isPaused && prefs.lastError == nil
        }
    }

    /// A root that cannot be read leaves its last known values in the file, and those of the others.
    @Test func anUnreadableRootAndTheFile() throws {
        let file = home.file("last-known.json")
        let store = cluster.store(prefix, .patient(staleness: .seconds(1)), lastKnown: file)
        try put(#"{"jobs": 1}"#)
        try put(#"{"jobs": 2}"#, "B")
        for (number, root) in ["A", "B"].enumerated() {
            #expect(try store.read(root: root)?["jobs"] as? Int == number + 1)
        }
        try store.namespace.watch.saveLastKnown()
        try put("[", "A")
        try put(#"{"jobs": 3}"#, "B")
        try expectEventually(store.read(root: "B")?["jobs"] as? Int, is: 3)
        try store.namespace.watch.saveLastKnown()
        #expect(try roots(in: file) == ["A": ["jobs": 1], "B": ["jobs": 3]])
        #expect(try mode(of: file) == 0o600)
    }

    /// What came since the last look of the watch is saved, too.
    @Test func aStoreThatIsReleasedLeavesItsLastKnownRoots() throws {
        let file = home.file("last-known.json")
        var store: EtcdStore? = cluster.store(prefix, .patient(staleness: .seconds(600)), lastKnown: file)
        try put(#"{"jobs": 1}"#)
        #expect(try store?.read(root: "A")?["jobs"] as? Int == 1)
        try put(#"{"jobs": 2}"#)
        try expectEventually(store?.read(root: "A")?["jobs"] as? Int, is: 2)
        store = nil
        try expectEventually(roots(in: file), is: ["A": ["jobs": 2]])
    }

    private func roots(in file: URL) throws -> [String: [String: Int]]? {
        try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: [String: Int]]
    }

    private func mode(of file: URL) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
    }

    /// What this process has written before is no news for an observer that starts then.
    ///
    /// - Parameter isFirst: whether the root has no other observer, which is told of those writes.
    @Test(arguments: [true, false]) func anObserverStartsAfterTheOwnWrites(isFirst: Bool) throws {
        let store = proxy.store(prefix, .init(deadline: .seconds(20), staleness: .seconds(1)))
        #expect(try store.read(root: "A") == nil)
        try increment(two)
        try expectEventually(store.count(), is: 1)
        let earlier = isFirst ? nil : try ObservedCounts(store)
        // The copy has none of it yet. Another stream has both changes later, one after the other.
        proxy.silenceStreams()
        try increment(store)
        try store.change(root: "A") { $0?["jobs"] = 1 }
        let heard = try ObservedCounts(store)
        try increment(two)
        #expect(heard.wait(for: 3) == .elsewhere)
        #expect(heard.all == [3])
        #expect(earlier?.wait(for: 3) == (isFirst ? nil : .elsewhere))
        // The change of the jobs has no count.
        #expect(earlier?.all == (isFirst ? nil : [2, 0, 3]))
    }

    // MARK: - Users

    private func store(_ proxy: LossyProxy, user: String?, deadline: Int = 20) -> EtcdStore {
        proxy.store(prefix, .init(user: user, password: "secret", deadline: .seconds(deadline), staleness: .seconds(1)))
    }

    @Test func anExpiredTokenIsRenewed() throws {
        // Its tokens last a second, however they are used.
        let (key, publicKey) = (home.file("key.pem").path, home.file("public.pem").path)
        try CertificateAuthority.openssl(["genrsa", "-out", key, "2048"])
        try CertificateAuthority.openssl(["rsa", "-in", key, "-pubout", "-out", publicKey])
        let token = "jwt,pub-key=\(publicKey),priv-key=\(key),sign-method=RS256,ttl=1s"
        let cluster = try EtcdCluster(nodes: 1, arguments: ["--auth-token", token])
        try cluster.addUsers("root:secret")
        let proxy = try LossyProxy(to: cluster.nodes[0].clientPort)
        defer { proxy.close() }
        let tokens = proxy.count { $0.contains("Auth/Authenticate") }
        let store = store(proxy, user: "root")
        let heard = try ObservedCounts(store)
        var count = 0
        func tokensAfterAnIncrement() throws -> Int {
            try increment(store)
            count += 1
            #expect(try store.currentCount() == count)
            return tokens.withLock { $0 }
        }
        try expectEventually(tokensAfterAnIncrement(), "at least 4 tokens") { $0 >= 4 }
        // The stream, too, asks with another token.
        proxy.block()
        proxy.unblock()
        try increment(store)
        #expect(heard.wait(for: count + 1) == .thisProcess)
    }

    /// A token may end between its grant and its use, and no request is sent for ever.
    @Test(
        arguments: [(3, 4), (.max, 4)],
        [(16, "invalid auth token"), (3, "revision of auth store is old"), (3, "user name is empty")])
    func aTokenIsRenewedThreeTimes(_ requestsOf: (rejected: Int, sent: Int), _ refusal: (code: Int, words: String))
        throws
    {
        let (rejected, sent) = requestsOf
        let requests = Locked(0)
        proxy.intercept { request in
            guard request.contains("KV/Range"), requests.next() <= rejected else { return nil }
            return LossyProxy.answer(401, #"{"code":\#(refusal.code),"message":"etcdserver: \#(refusal.words)"}"#)
        }
        let store = proxy.store(prefix, .init(reads: .current, user: "root", password: "x", deadline: ampleWait()))
        let failure = error { _ = try store.read(root: "A") }
        #expect((failure == nil) == (rejected == 3), "\(failure as Any)")
        #expect(requests.withLock { $0 } == sent)
    }

    /// The reason may be the token.
    @Test func aWatchThatEtcdHasEndedAsksForAnotherToken() throws {
        let (tokens, watches) = (Locked(0), Locked(0))
        let end = LossyProxy.stream(#"{"created": true, "canceled": true, "cancel_reason": "permission denied"}"#)
        proxy.intercept { request in
            if request.contains("Auth/Authenticate") { tokens.next() }
            return request.contains("Watch/Watch") && watches.next() == 1 ? end : nil
        }
        let store = proxy.store(prefix, .init(user: "root", password: "x", deadline: ampleWait()))
        #expect(try store.read(root: "A") == nil)
        expectEventually(watches.withLock { $0 }, "at least 2") { $0 >= 2 }
        #expect(tokens.withLock { $0 } == 2)
    }

    /// A user of the URL replaces the one of the options, with the password, also if it has none.
    @Test(arguments: [("", "ann", "hush"), ("bob:x@", "bob", "x"), ("bob@", "bob", "")])
    func theUserOfAURL(_ part: String, user: String, password: String) throws {
        let sent = Locked("")
        proxy.interceptFirst("Auth/Authenticate") { request in
            sent.withLock { $0 = request }
            return LossyProxy.answer(400, #"{"code": 3, "message": "no"}"#)
        }
        let store = try EtcdStore(
            url: "etcd://\(part)127.0.0.1:\(proxy.port)/\(prefix)",
            options: .init(reads: .current, user: "ann", password: "hush", deadline: ampleWait()))
        #expect(error { _ = try store.read(root: "A") }.unreadable?.reason == "no")
        let both = #""name":"\#(user)""# + (password.isEmpty ? "" : #","password":"\#(password)""#)
        #expect(sent.withLock { $0 } == "call Auth/Authenticate {\(both)}")
    }

    /// Programs get their user first, and then the cluster gets its users.
    @Test func aClusterThatGetsUsers() throws {
        let cluster = try EtcdCluster(nodes: 1)
        let proxy = try LossyProxy(to: cluster.nodes[0].clientPort)
        defer { proxy.close() }
        let (named, unnamed) = (store(proxy, user: "root"), store(proxy, user: nil))
        for store in [named, unnamed] { try increment(store) }
        try cluster.addUsers("root:secret")
        try increment(named)
        #expect(try named.currentCount() == 3)
        #expect(try named.count() == 3)
        let failure = error { try increment(unnamed) }.notStored
        #expect(failure?.reason.hasPrefix("the cluster has users: set Options.user and Options.password (") == true)
        let observing = error { _ = try store(proxy, user: nil, deadline: 21).observe(root: "A") { _ in } }
        guard case .notWatched(let refusal)? = observing else { return #expect(Bool(false), "\(observing as Any)") }
        #expect(refusal.reason.hasPrefix("the cluster has users: set Options.user"))
    }

    // MARK: - Slow disks

    /// A server that is silent has half of the deadline when it is asked again, because its disk may be slow.
    @Test func aSilentServerHasMoreTimeTheSecondTime() throws {
        let store = proxy.store(prefix, .init(deadline: shortWait(2)))
        let requests = Locked(0)
        let end = DispatchSemaphore(value: 0)
        proxy.intercept { request in
            guard request.contains("Lease/LeaseGrant") else { return nil }
            requests.next()
            end.wait()
            return ""
        }
        #expect(error { try store.change(root: "A") { $0 = [:] } }.notStored != nil)
        let count = requests.withLock { $0 }
        for _ in 0..<count { end.signal() }
        // A quarter, a half, and what is left.
        #expect(count <= 3)
    }

    // MARK: - What is left

    private func keys(_ kind: String) throws -> String {
        try cluster.control("get", "--prefix", "--keys-only", "\(prefix)\(kind)/")
    }

    @Test func aProgramThatEndsRemovesItsKeys() throws {
        for command in ["increment", "assign", "release"] {
            #expect(try probe(command, url, "3").output == "ok\n")
            #expect(try keys("c").isEmpty && keys("l").isEmpty)
        }
        #expect(try cluster.control("get", "--print-value-only", "\(prefix)r/B").contains("\"number\": 3"))
        // A killed one leaves them until their leases end.
        let holder = try PipedChild("EtcdProbe", ["hold", url], home: home)
        #expect(try holder.line() == "holding")
        holder.kill()
        #expect(try !keys("l").isEmpty)
    }

    /// What it has written last is in the file.
    @Test func aProgramThatEndsSavesTheLastKnownRoots() throws {
        let file = home.file("last-known.json")
        #expect(try probe("known", url, file.path(percentEncoded: false)).output == "ok\n")
        let roots = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: [String: Int]]
        #expect(roots == ["A": ["count": 7]])
    }

    /// A store that is not used any more is a program that ends.
    @Test func aStoreThatIsReleasedRemovesItsKeys() throws {
        try cluster.store(prefix, .patient(2)).update(root: "A") { $0 = ["count": 1] }
        try expectEventually(keys("c"), is: "")
        #expect(try keys("l").isEmpty)
    }

    /// Two updates at a time have two locks.
    @Test func aStoreThatIsReleasedRemovesTheKeysOfEachLock() throws {
        do {
            let store = cluster.store(prefix, .patient(2))
            let holder = Holder(store)
            try store.update(root: "B") { $0 = ["count": 1] }
            #expect(holder.finish() == nil)
            #expect(try keys("c").split(separator: "\n").count == 2)
        }
        try expectEventually(keys("c"), is: "")
        #expect(try keys("l").isEmpty)
    }

    /// The clients of a fleet have the same list of servers.
    @Test func eachServerIsTheFirstOfSomeClients() throws {
        let endpoints = try (1...3).map { try Endpoint(loopback($0)) }
        let first = (0..<100).map { _ in EtcdClient(endpoints: endpoints, user: nil, patience: .seconds(1)).preferred }
        #expect(Set(first) == [0, 1, 2])
    }

    @Test(.enabled(if: Hazard.canRunUnsanitized("fleet: threads")))
    func manyThreadsLeaveFewConnections() throws {
        let result = try Child("EtcdProbe", ["threads", url, "300"], home: home).wait(limit: .seconds(120))
        #expect(result.output == "few connections\n", "\(result)")
    }
}
