import Foundation
import PersistentPreferences
import PrefsEtcd
import PrefsStoreKit
import Testing
import TestSupport

/// A cluster whose clients need certificates, behind what the article "Operating a fleet" shows.
@Suite(.waits, .serialized, .enabled(if: EtcdCluster.isWhole && EncryptingProxy.isThere))
final class EtcdEncryptionTests: FleetSuite {
    @Test(arguments: EncryptingProxy.Program.installed)
    func everyAccessWorksAndASilentServerIsReplaced(_ program: EncryptingProxy.Program) throws {
        let authority = try CertificateAuthority()
        let cluster = try EtcdCluster(nodes: 3, authority: authority)
        let proxy = try EncryptingProxy(program, to: cluster, trusting: authority, as: authority.issue("client"))
        defer { proxy.close() }
        let (one, two) = clients(proxy.urls, prefix)
        let exact = proxy.store(prefix, .patient(reads: .current))
        let heard = try ObservedCounts(two)
        func write(_ number: Int) throws {
            try one.update(root: "A") { $0 = ["count": number] }
            #expect(try exact.count() == number)
            #expect(heard.wait(for: number) != nil)
            #expect(try one.count() == number)
            #expect(try two.count() == number)
        }
        try write(1)
        #expect(try cluster.control("get", "--print-value-only", "\(prefix)r/A").contains("\"count\": 1"))
        cluster.kill(cluster.nodes[0])
        try write(2)
        try cluster.start(cluster.nodes[0])
        try cluster.waitUntilHealthy()
        // Its port still accepts connections.
        cluster.stop(cluster.nodes[1])
        try write(3)
    }

    /// Nothing is passed on, in either direction.
    @Test(arguments: EncryptingProxy.Program.installed)
    func whoCannotBeVerifiedIsRefused(_ program: EncryptingProxy.Program) async throws {
        let (authority, stranger) = (try CertificateAuthority(), try CertificateAuthority())
        let cluster = try EtcdCluster(nodes: 1, authority: authority)
        let client = try authority.issue("client")
        let verified = try EncryptingProxy(program, to: cluster, trusting: authority, as: client)
        defer { verified.close() }
        try verified.store(prefix).update(root: "A") { $0 = ["a": 1] }
        let keys = try cluster.control("get", "--prefix", prefix)
        // Each differs from the one above in one setting.
        let unknown = try stranger.issue("client")
        let flaws: [(Comment, EncryptingProxy)] = try [
            ("another authority", EncryptingProxy(program, to: cluster, trusting: stranger, as: client)),
            ("other host", EncryptingProxy(program, to: cluster, trusting: authority, asksForOther: true, as: client)),
            ("no certificate", EncryptingProxy(program, to: cluster, trusting: authority)),
            (
                "a certificate of another authority",
                EncryptingProxy(program, to: cluster, trusting: authority, as: unknown)
            ),
        ]
        try await sideBySide(
            flaws.map { flaw, proxy in
                { [prefix] in try await Self.expectRefusal(flaw, proxy, prefix) }
            })
        #expect(try cluster.control("get", "--prefix", prefix) == keys)
        // Has the files until here.
        withExtendedLifetime(stranger) {}
    }

    private static func expectRefusal(_ flaw: Comment, _ proxy: EncryptingProxy, _ prefix: String) async throws {
        defer { proxy.close() }
        let store = proxy.store(prefix, .init(reads: .current, deadline: shortWait(2)))
        try await sideBySide([
            { #expect(error { _ = try store.read(root: "A") }.unreadable != nil, flaw) },
            { #expect(error { try store.update(root: "A") { _ in Issue.record(flaw) } }.notStored != nil, flaw) },
            {
                // It begins when the cluster can be reached.
                try store.observe(root: "A") { _ in Issue.record(flaw) }.cancel()
            },
        ])
    }

    /// The proxy passes the token of a user on. Its certificate has no common name, with which it would not start.
    @Test(arguments: EncryptingProxy.Program.installed)
    func usersBesideCertificates(_ program: EncryptingProxy.Program) throws {
        let authority = try CertificateAuthority()
        let cluster = try EtcdCluster(nodes: 1, authority: authority)
        try cluster.addUsers("root:secret", "ann:hush")
        let proxy = try EncryptingProxy(program, to: cluster, trusting: authority, as: authority.issue("client"))
        defer { proxy.close() }
        let store = proxy.store(prefix, .init(user: "ann", password: "hush", deadline: ampleWait()))
        try store.update(root: "A") { $0 = ["a": 1] }
        #expect(try store.read(root: "A")?["a"] as? Int == 1)
        let other = proxy.store(prefix, .init(user: "ann", password: "hush", deadline: ampleWait(1)))
        let heard = try ObservedCounts(other)
        try increment(store)
        #expect(heard.wait(for: 1) == .elsewhere)
    }
}
