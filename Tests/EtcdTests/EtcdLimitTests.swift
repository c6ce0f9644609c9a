import EngineSupport
import Foundation
import PersistentPreferences
import PrefsEtcd
import PrefsStoreKit
import Testing
import TestSupport

/// What cannot be stored or read has an error of its own, and changes nothing.
@Suite(.waits, .enabled(if: EtcdCluster.isWhole)) final class EtcdLimitTests: FleetSuite {
    private var store: EtcdStore { one }

    @Test func aRootIsItsJSONInEtcd() throws {
        try store.update(root: "A") { $0 = ["name": "x", "when": Date(timeIntervalSinceReferenceDate: 0)] }
        let text = try cluster.control("get", "--print-value-only", "\(prefix)r/A")
        #expect(text == "{\n  \"name\": \"x\",\n  \"when\": {\"$date\": \"2001-01-01T00:00:00Z\"}\n}\n\n")
    }

    @Test func tooMuchForEtcdIsRejectedBeforeItIsSent() throws {
        try store.update(root: "A") { $0 = ["a": 1] }
        let large = String(repeating: "x", count: 1 << 20)
        #expect(
            error { try store.update(root: "A") { $0?["large"] = large } }
                == .valuesNotPlistCompatible(invalidElements: ["large"]))
        // In one update, over several roots.
        let half = String(repeating: "x", count: 600 << 10)
        let both = error {
            try store.update(root: "A") { root in
                root?["half"] = half
                try store.update(root: "B") { $0 = ["other": half] }
            }
        }
        #expect(both == .valuesNotPlistCompatible(invalidElements: ["half", "other"]))
        #expect(try store.read(root: "A")?.keys.sorted() == ["a"])
        #expect(try store.read(root: "B") == nil)
        // What fits is taken, alone and by several threads at once.
        inThreads(3) { [store] number in
            #expect(throws: Never.self) {
                try store.update(root: "L\(number)") { $0 = ["x": String(repeating: "y", count: 1_000 << 10)] }
            }
        }
        #expect(try (0..<3).allSatisfy { try store.read(root: "L\($0)") != nil })
    }

    /// Updates are rejected until the operator has made room. Reads go on, and nothing that was reported as rejected is stored.
    @Test func aClusterWithoutSpace() throws {
        let cluster = try EtcdCluster(nodes: 1, arguments: ["--quota-backend-bytes", "2097152"])
        let store = EtcdStore(endpoints: cluster.urls, options: .patient(reads: .current))
        let text = String(repeating: "x", count: 500 << 10)
        func increment() -> PrefsError? {
            error {
                try store.update(root: "A") { $0 = ["count": (($0?["count"] as? Int) ?? 0) + 1, "text": text] }
            }
        }
        try store.update(root: "B") { $0 = ["count": 7] }
        var count = 0
        var failure: PrefsError?
        while failure == nil, count < 100 {
            failure = increment()
            if failure == nil { count += 1 }
        }
        for next in [failure, increment()] {
            #expect(next.notStored?.reason == "etcdserver: mvcc: database space exceeded", "\(next as Any)")
        }
        #expect(try store.count() == count)
        // A program that starts now, too, and what it observes.
        let other = EtcdStore(endpoints: cluster.urls, options: .patient(1))
        #expect(try other.count() == count)
        let heard = try ObservedCounts(other, "B")
        #expect(try other.count("B") == 7)
        try cluster.control("del", "prefs/r/B")
        #expect(heard.wait(for: 0) == .elsewhere)
        try cluster.compact()
        try cluster.control("defrag")
        try cluster.control("alarm", "disarm")
        #expect(increment() == nil)
        #expect(try store.count() == count + 1)
    }

    /// An operator may limit the operations of a transaction. What exceeds the limit is rejected, and what comes after it is not.
    @Test func aClusterThatTakesFewOperations() throws {
        let cluster = try EtcdCluster(nodes: 1, arguments: ["--max-txn-ops", "20"])
        let store = cluster.store(prefix)
        let failure = error {
            try store.update(root: "R10") { _ in
                for number in 10..<40 { try store.update(root: "R\(number)") { $0 = ["count": number] } }
            }
        }
        #expect(failure.notStored?.reason == "etcdserver: too many operations in txn request")
        for number in 1...3 {
            try increment(store)
            try store.change(root: "R10") { $0 = ["count": number] }
        }
        #expect(try store.currentCount() == 3 && store.currentCount("R10") == 3)
        // The locks are free.
        try cluster.store(prefix, .patient(1)).update(root: "R39") { $0 = ["count": 1] }
        #expect(try cluster.control("get", "--prefix", "--keys-only", "\(prefix)l/").isEmpty)
    }

    @Test func manyRootsInOneUpdate() throws {
        let store = one
        @Sendable func write(_ count: Int, _ name: String) throws {
            try store.update(root: "\(name)0") { _ in
                for number in 0..<count { try store.update(root: "\(name)\(number)") { $0 = ["n": number] } }
            }
        }
        let failure = error { try write(101, "R") }
        #expect(failure.notStored?.reason == "an update accesses more than 100 roots")
        #expect(try store.read(root: "R1") == nil)
        // However many threads do so at once, and with small updates between them.
        inThreads(8) { number in
            #expect(throws: Never.self) {
                for _ in 0..<Hazard.count(1, long: 5) { try write(number % 2 == 0 ? 100 : 20, "\(number)R") }
            }
        }
        #expect(try (0..<8).allSatisfy { try store.read(root: "\($0)R19")?["n"] as? Int == 19 })
        #expect(try store.read(root: "6R99")?["n"] as? Int == 99)
    }

    /// Two spellings of a name that Unicode calls equal are one root, and one key.
    @Test(arguments: [EtcdStore.ReadMode.followed, .current])
    func namesAreComparedAsInUnicode(_ reads: EtcdStore.ReadMode) throws {
        let store = cluster.store(prefix, .patient(reads: reads))
        try store.update(root: "caf\u{e9}") { $0 = ["a": 1] }
        try store.update(root: "cafe\u{301}") { $0?["a"] = 2 }
        #expect(try cluster.control("get", "--prefix", "--keys-only", "\(prefix)r/") == "\(prefix)r/caf\u{e9}\n\n")
        // Somebody else's key in the other spelling is none of our roots.
        try cluster.control("put", "\(prefix)r/cafe\u{301}", #"{"a": 3}"#)
        try store.update(root: "B") { $0 = [:] }
        #expect(try store.read(root: "caf\u{e9}")?["a"] as? Int == 2)
        let other = cluster.store(prefix, .patient(1, reads: reads))
        #expect(try other.read(root: "cafe\u{301}")?["a"] as? Int == 2)
    }

    @Test(arguments: [EtcdStore.ReadMode.followed, .current])
    func garbageStaysAndReadsGoOnFromMemory(_ reads: EtcdStore.ReadMode) throws {
        let store = cluster.store(prefix, .patient(reads: reads))
        let prefs = TeamPrefs(key: "A", store: store.store)
        prefs.level = 7
        #expect(prefs.level == 7)
        try cluster.control("put", "\(prefix)r/A", "{\"level\": ")
        // The followed copy has it soon.
        expectEventually(error { _ = try store.read(root: "A") }, "an error") { $0 != nil }
        let failure = error { _ = try store.read(root: "A") }.unreadable
        #expect(failure?.path == "etcd key \(prefix)r/A")
        #expect(failure?.reason.contains("line 1, column 11") == true)
        #expect(prefs.level == 7)
        #expect(prefs.lastError.unreadable != nil)
        prefs.level = 8
        #expect(prefs.lastError.unreadable != nil)
        #expect(try cluster.control("get", "--print-value-only", "\(prefix)r/A") == "{\"level\": \n")
        try cluster.control("put", "\(prefix)r/A", "{\"level\": 9}")
        // A read may still fail and return what arrives at that moment; the next one succeeds.
        expectEventually((prefs.level, prefs.lastError), "9, and no error") { $0 == (9, nil) }
    }

    @Test func badEndpointsAreNamed() {
        func reason(_ url: String) -> String? {
            let store = EtcdStore(endpoints: [URL(string: url)].compactMap { $0 })
            guard case .invalidName(_, let reason)? = error(of: { _ = try store.read(root: "A") }) else { return nil }
            return reason
        }
        #expect(reason("https://10.0.0.1:2379")?.contains("run `etcd grpc-proxy` on this host") == true)
        #expect(reason("file:///a") == "is not an etcd endpoint: expected http://HOST:PORT")
        #expect(reason("http://u:p@host") == "contains a user; put user and password into the options")
        #expect(reason("http://host/path") == "has a path; put the prefix of the keys into `prefix`")
        #expect(reason("http://host?a=1")?.hasPrefix("has a path") == true)
        #expect(reason("") == "has no endpoints")
    }

    @Test func urlsOfStores() throws {
        let (user, escape) = ("a wrong escape in the user or the password", "but it has no options; write")
        let reasons: KeyValuePairs<String, String?> = [
            "http://127.0.0.1": nil, "etcd://": nil,
            "etcd://127.0.0.1/a%zz": "a wrong escape", "etcd://a%zz:b@127.0.0.1": user, "etcd://a:b%@127.0.0.1": user,
            "etcd://127.0.0.1/p?x=1": "found ?, \(escape) %3F in a prefix",
            "etcd://127.0.0.1/p#x": "found #, \(escape) %23 in a prefix",
            "etcd://ann:1/hush@127.0.0.1/p":
                "write / in the user and the password as %2F, and every other @ as %40",
        ]
        for (url, reason) in reasons {
            let failure = error { _ = try EtcdStore(url: url) }
            #expect(failure != nil)
            guard let reason else { continue }
            #expect(
                failure == .invalidName(name: "etcd://…", reason: "is not a URL of an etcd store: \(reason)"), "\(url)")
        }
        let port = cluster.nodes[0].clientPort
        let other = try EtcdStore(url: "etcd://127.0.0.1:\(port),127.0.0.1:\(port)/\(prefix)")
        try other.update(root: "A") { $0 = ["a": 1] }
        #expect(try cluster.control("get", "--keys-only", "\(prefix)r/A") == "\(prefix)r/A\n\n")
        let escaped = try EtcdStore(url: "etcd://127.0.0.1:\(port)/\(prefix)a%40b%2Fc")
        try escaped.update(root: "A") { $0 = ["a": 1] }
        #expect(try cluster.control("get", "--keys-only", "\(prefix)a@b/c/r/A") == "\(prefix)a@b/c/r/A\n\n")
    }

    @Test(arguments: [EtcdStore.ReadMode.followed, .current], ["127.0.0.1", "no.such.host.invalid"])
    func aClusterThatIsNotThere(_ reads: EtcdStore.ReadMode, _ host: String) async throws {
        let url = try #require(URL(string: "http://\(host):1"))
        let reason = host == "127.0.0.1" ? "refused" : "host"
        let store = EtcdStore(
            endpoints: [url], prefix: prefix, options: .init(reads: reads, deadline: shortWait(1)))
        try await sideBySide([
            {
                let failure = error { _ = try store.read(root: "A") }
                #expect(failure.unreadable?.reason.contains(reason) == true)
                #expect(failure?.description.hasSuffix("; the stored state is unchanged") == true)
            },
            {
                let failure = error { try store.update(root: "A") { _ in Issue.record("run") } }
                #expect(failure.notStored?.reason.contains(reason) == true)
            },
            // It begins when the cluster is there.
            { try store.observe(root: "A") { _ in Issue.record("called") }.cancel() },
        ])
    }

    @Test func anotherServerIsNamed() throws {
        // The metrics of a server, which are HTTP/1 as its gateway is.
        let port = EtcdCluster.freePort()
        let other = try EtcdCluster(nodes: 1, arguments: ["--listen-metrics-urls", "http://127.0.0.1:\(port)"])
        defer { withExtendedLifetime(other) {} }
        let store = EtcdStore(
            endpoints: [loopback(port)], prefix: prefix, options: .init(reads: .current, deadline: shortWait(1)))
        let failure = error { _ = try store.read(root: "A") }
        let reason =
            "the server speaks HTTP/1 there; use a port of its --listen-client-urls, and let a proxy that encrypts offer "
            + "h2 (ALPN)"
        #expect(failure.unreadable?.reason == reason)
    }

    @Test func aClusterWithoutALeader() throws {
        let cluster = try EtcdCluster(nodes: 3)
        let options = EtcdStore.Options(deadline: shortWait(3))
        let followed = EtcdStore(endpoints: [cluster.nodes[0].url], prefix: prefix, options: options)
        try followed.update(root: "A") { $0 = ["a": 1] }
        #expect(try followed.read(root: "A")?["a"] as? Int == 1)
        for node in cluster.nodes.dropFirst() { cluster.kill(node) }
        // Until the last node has noticed it, an update may end in any of the two ways.
        var reasons: [String] = []
        while reasons.last?.contains("no leader") != true, reasons.count < 20 {
            switch error(of: { try followed.update(root: "A") { $0 = ["a": 2] } }) {
            case .notStored(let failure)?, .outcomeUnknown(let failure)?: reasons.append(failure.reason)
            case let other: return #expect(Bool(false), "\(other as Any)")
            }
        }
        #expect(reasons.last == "etcdserver: no leader")
        #expect(try followed.read(root: "A")?["a"] as? Int == 1)
        for node in cluster.nodes.dropFirst() { try cluster.start(node) }
        try cluster.waitUntilHealthy()
        try followed.update(root: "A") { $0 = ["a": 3] }
        #expect(try followed.read(root: "A")?["a"] as? Int == 3)
    }

    @Test func usersAndPasswords() throws {
        let cluster = try EtcdCluster(nodes: 1)
        try cluster.control("user", "add", "root:secret")
        try cluster.control("user", "add", "ann:hush")
        try cluster.control("role", "add", "fleet")
        try cluster.control("role", "grant-permission", "fleet", "--prefix=true", "readwrite", "fleet/")
        try cluster.control("user", "grant-role", "ann", "fleet")
        try cluster.control("user", "grant-role", "root", "root")
        try cluster.control("auth", "enable")
        func store(_ user: String?, _ password: String, _ prefix: String = "fleet/") -> EtcdStore {
            cluster.store(prefix, .init(user: user, password: password, deadline: .seconds(20)))
        }
        let ann = store("ann", "hush")
        let heard = try ObservedCounts(ann)
        try increment(ann)
        #expect(try ann.count() == 1)
        #expect(heard.wait(for: 1) == .thisProcess)
        #expect(heard.all == [1])
        func reasons(_ store: EtcdStore) -> [String?] {
            let (read, write) = (error { _ = try store.read(root: "A") }, error { try increment(store) })
            return [read.unreadable?.reason, write.notStored?.reason]
        }
        let rejected = "etcdserver: authentication failed, invalid user ID or password"
        #expect(reasons(store("ann", "wrong")) == [rejected, rejected])
        let unnamed =
            "the cluster has users: set Options.user and Options.password (etcdserver: user name is empty)"
        #expect(reasons(store(nil, "")) == [unnamed, unnamed])
        let denied = "etcdserver: permission denied"
        #expect(reasons(store("ann", "hush", "other/")) == [denied, denied])
    }
}
