import Foundation
import PersistentPreferences
import PrefsEtcd
import Testing
import TestSupport

/// A cluster whose clients need certificates, behind stunnel, as in the article "A fleet".
@Suite(.waits, .enabled(if: EtcdCluster.isWhole && Stunnel.isThere)) final class EtcdEncryptionTests: FleetSuite {
    @Test func everyAccessWorksAndASilentServerIsReplaced() throws {
        let authority = try CertificateAuthority()
        let cluster = try EtcdCluster(nodes: 3, authority: authority)
        let stunnel = try Stunnel(to: cluster, trusting: authority, as: authority.issue("client"))
        defer { stunnel.close() }
        let (one, two) = clients(stunnel.urls, prefix)
        let exact = stunnel.store(prefix, .patient(reads: .current))
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
    @Test func whoCannotBeVerifiedIsRefused() async throws {
        let (authority, stranger) = (try CertificateAuthority(), try CertificateAuthority())
        let cluster = try EtcdCluster(nodes: 1, authority: authority)
        let client = try authority.issue("client")
        let verified = try Stunnel(to: cluster, trusting: authority, as: client)
        defer { verified.close() }
        try verified.store(prefix).update(root: "A") { $0 = ["a": 1] }
        let keys = try cluster.control("get", "--prefix", prefix)
        // Each differs from the one above in one setting.
        let unknown = try stranger.issue("client")
        // What OpenSSL says: it rejects the server, or is told by an alert that the server rejects the client.
        let (rejects, alerted) = ("verify failed", " alert ")
        let flaws: [(Comment, Stunnel, String)] = try [
            ("another authority", Stunnel(to: cluster, trusting: stranger, as: client), rejects),
            ("other host", Stunnel(to: cluster, trusting: authority, checking: "127.0.0.2", as: client), rejects),
            ("no certificate", Stunnel(to: cluster, trusting: authority, as: nil), alerted),
            ("a certificate of another authority", Stunnel(to: cluster, trusting: authority, as: unknown), alerted),
        ]
        try await sideBySide(
            flaws.map { flaw, stunnel, log in
                { [prefix] in try await Self.expectRefusal(flaw, stunnel, prefix, log) }
            })
        #expect(try cluster.control("get", "--prefix", prefix) == keys)
        // Has the files until here.
        withExtendedLifetime(stranger) {}
    }

    private static func expectRefusal(
        _ flaw: Comment, _ stunnel: Stunnel, _ prefix: String, _ log: String
    ) async throws {
        defer { stunnel.close() }
        let store = stunnel.store(prefix, .init(reads: .current, deadline: shortWait(2)))
        try await sideBySide([
            {
                let failure = error { _ = try store.read(root: "A") }.unreadable
                // Stunnel is running, and ends the connection: before it is seen to be there, before the request, or after it.
                let reasons = [
                    "connect: Connection reset by peer", "send: Connection reset by peer", "send: Broken pipe",
                    "recv: Connection reset by peer", "the connection was closed",
                ]
                #expect(failure.map { reasons.contains($0.reason) } == true, "\(flaw): \(failure as Any)")
            },
            {
                #expect(error { try store.update(root: "A") { _ in Issue.record(flaw) } }.notStored != nil, flaw)
            },
            {
                // It begins when the cluster can be reached.
                try store.observe(root: "A") { _ in Issue.record(flaw) }.cancel()
            },
        ])
        #expect(stunnel.log.contains(log), flaw)
    }

    /// etcd rejects the name in a certificate beside the user of the request.
    @Test func usersNeedACertificateWithoutACommonName() throws {
        let authority = try CertificateAuthority()
        let cluster = try EtcdCluster(nodes: 1, authority: authority)
        try cluster.addUsers("root:secret", "ann:hush")
        func write(_ subject: String, deadline: Duration = ampleWait()) throws {
            let client = try authority.issue("client", subject: subject)
            let stunnel = try Stunnel(to: cluster, trusting: authority, as: client)
            defer { stunnel.close() }
            let store = stunnel.store(prefix, .init(user: "ann", password: "hush", deadline: deadline))
            try store.update(root: "A") { $0 = ["a": 1] }
            #expect(try store.read(root: "A")?["a"] as? Int == 1)
        }
        let failure = error { try write("/CN=ann", deadline: shortWait(2)) }
        #expect(failure.notStored?.reason == "HTTP status 400, and no answer of etcd")
        try write("/O=fleet")
    }
}
