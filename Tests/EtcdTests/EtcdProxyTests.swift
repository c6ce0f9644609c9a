import EngineSupport
import Foundation
import PersistentPreferences
import PrefsEtcd
import PrefsStoreKit
import TestSupport
import Testing

/// A cluster behind a proxy that does not encrypt: refusals, restarts and limits. `PATH` chooses the version of etcd. One test after another,
/// because each has servers of its own.
@Suite(.waits, .serialized, .enabled(if: EtcdCluster.isWhole)) final class EtcdProxyTests {
    private let prefix = EtcdCluster.prefix()

    private func options(_ number: Int = 0, _ reads: EtcdStore.ReadMode = .current, user: String? = nil)
        -> EtcdStore.Options
    {
        .init(reads: reads, user: user, password: "secret", deadline: ampleWait(number))
    }

    /// A restart ends each token. The proxy passes "invalid auth token" on without its code.
    @Test(arguments: EncryptingProxy.Program.installed) func aTokenThatHasEndedIsRenewed(
        _ program: EncryptingProxy.Program
    ) throws {
        let cluster = try EtcdCluster(nodes: 1)
        let proxy = try EncryptingProxy(program, to: cluster, trusting: nil)
        defer { proxy.close() }
        try cluster.addUsers("root:secret")
        let store = proxy.store(prefix, options(user: "root"))
        try store.update(root: "A") { $0 = ["count": 1] }
        #expect(try store.count() == 1)
        cluster.kill(cluster.nodes[0])
        try cluster.start(cluster.nodes[0])
        expectEventually(Result { try cluster.control("--user", "root:secret", "get", "health") }, "an answer") {
            (try? $0.get()) != nil
        }
        #expect(try store.count() == 1)
        try store.update(root: "A") { $0 = ["count": 2] }
        try store.change(root: "A") { $0?["count"] = 3 }
        #expect(try store.count() == 3)
    }

    /// It takes no deadline: the store asks once.
    @Test(arguments: EncryptingProxy.Program.installed) func aForbiddenKeyIsTold(_ program: EncryptingProxy.Program)
        throws
    {
        let cluster = try EtcdCluster(nodes: 1)
        let proxy = try EncryptingProxy(program, to: cluster, trusting: nil)
        defer { proxy.close() }
        try cluster.control("user", "add", "ann:secret")
        try cluster.control("role", "add", "other")
        try cluster.control("role", "grant-permission", "other", "--prefix=true", "readwrite", "other/")
        try cluster.control("user", "grant-role", "ann", "other")
        try cluster.addUsers("root:secret")
        let store = proxy.store(prefix, options(user: "ann"))
        let begin = ContinuousClock.now
        #expect(error { _ = try store.read(root: "A") }.unreadable?.reason == "etcdserver: permission denied")
        #expect(
            error { try store.update(root: "A") { _ in Issue.record("run") } }.notStored?.reason
                == "etcdserver: permission denied")
        Hazard.report("\(program.rawValue): two refusals in \((ContinuousClock.now - begin) / .milliseconds(1)) ms")
        #expect(try proxy.store("other/", options(1, user: "ann")).read(root: "A") == nil)
    }

    /// The lease of a client ends while the proxy is away.
    @Test(arguments: EncryptingProxy.Program.installed) func aProxyThatWasAway(_ program: EncryptingProxy.Program)
        throws
    {
        let cluster = try EtcdCluster(nodes: 1)
        let proxy = try EncryptingProxy(program, to: cluster, trusting: nil)
        defer { proxy.close() }
        let store = proxy.store(prefix, options())
        try store.update(root: "A") { $0 = ["count": 1] }
        let leases = { try cluster.control("lease", "list").split(separator: "\n").first }
        let held = try leases()
        proxy.stop()
        try expectEventually(leases(), "another lease than \(held ?? "")") { $0 != held }
        proxy.resume()
        for count in 2...5 {
            try store.update(root: "A") { $0 = ["count": count] }
            #expect(try store.count() == count)
        }
    }

    @Test(arguments: EncryptingProxy.Program.installed) func aFullDisk(_ program: EncryptingProxy.Program) throws {
        let cluster = try EtcdCluster(nodes: 1, arguments: ["--quota-backend-bytes", "\(1 << 20)"])
        let proxy = try EncryptingProxy(program, to: cluster, trusting: nil)
        defer { proxy.close() }
        let store = proxy.store(prefix, options())
        var failure: PrefsError?
        for number in 0..<40 where failure == nil {
            failure = error {
                try store.update(root: "A\(number)") { $0 = ["text": String(repeating: "x", count: 100_000)] }
            }
        }
        #expect(
            failure.notStored?.reason == "etcdserver: mvcc: database space exceeded", "\(String(describing: failure))")
        let begin = ContinuousClock.now
        #expect(
            error { try store.update(root: "B") { $0 = ["a": 1] } }.notStored?.reason
                == "etcdserver: mvcc: database space exceeded")
        Hazard.report(
            "\(program.rawValue): a full disk is told in \((ContinuousClock.now - begin) / .milliseconds(1)) ms")
        #expect(try store.read(root: "A0")?["text"] as? String == String(repeating: "x", count: 100_000))
    }

    @Test(.enabled(if: EncryptingProxy.Program.nginx.path != nil)) func moreThanAProxyPassesOn() throws {
        let cluster = try EtcdCluster(nodes: 1)
        let proxy = try EncryptingProxy(.nginx, to: cluster, trusting: nil, limit: "100k")
        defer { proxy.close() }
        let store = proxy.store(prefix, options())
        try store.update(root: "A") { $0 = ["count": 1] }
        let begin = ContinuousClock.now
        for isBody in [true, false] {
            func write(_ values: inout [String: Any]?) { values?["text"] = String(repeating: "x", count: 200_000) }
            let failure = error { try isBody ? store.update(root: "A", write) : store.change(root: "A", write) }
            #expect(failure.notStored?.reason == "a proxy before etcd refuses a request of this size: HTTP status 413")
        }
        Hazard.report(
            "nginx: two requests that are too large are told in \((ContinuousClock.now - begin) / .milliseconds(1)) ms")
        #expect(try store.read(root: "A")?.count == 1)
        try store.update(root: "A") { $0?["count"] = 2 }
        #expect(try store.count() == 2)
    }

    /// The lease of the ticket is renewed meanwhile, also with a user. `etcd grpc-proxy` of 3.5.30 loses the token of a renewal.
    @Test(arguments: EncryptingProxy.Program.installed.filter { $0 != .etcd })
    func aBodyThatTakesLongerThanALease(_ program: EncryptingProxy.Program) throws {
        let cluster = try EtcdCluster(nodes: 1)
        let proxy = try EncryptingProxy(program, to: cluster, trusting: nil)
        defer { proxy.close() }
        try cluster.addUsers("root:secret")
        let store = proxy.store(prefix, options(user: "root"))
        try store.update(root: "A") { values in
            poll(nil, 0, 9_000)
            values = ["count": 1]
        }
        #expect(try store.count() == 1)
    }

    /// nginx and haproxy end a stream that is silent for too long. The store opens another one, and observers miss nothing.
    @Test(arguments: EncryptingProxy.Program.installed) func aStreamThatIsSilent(_ program: EncryptingProxy.Program)
        throws
    {
        let cluster = try EtcdCluster(nodes: 1)
        let proxy = try EncryptingProxy(program, to: cluster, trusting: nil, silence: 2)
        defer { proxy.close() }
        let (store, other) = (proxy.store(prefix, options(0, .followed)), cluster.store(prefix, options(1)))
        try other.update(root: "A") { $0 = ["count": 0] }
        let heard = try ObservedCounts(store)
        for count in 1...3 {
            poll(nil, 0, 2_500)
            try other.update(root: "A") { $0 = ["count": count] }
            #expect(heard.wait(for: count) == .elsewhere)
        }
    }
}
