import Foundation
import PersistentPreferences
import PrefsEtcd
import PrefsPropertyLists
import Testing
import TestSupport

/// A cluster whose clients need certificates, behind stunnel, as in the article "A fleet".
@Suite(.enabled(if: EtcdCluster.isThere && Stunnel.isThere)) actor EtcdEncryptionTests: ThreadSuite {
    nonisolated let thread = SuiteThread()
    private let prefix = EtcdCluster.prefix()

    private func store(
        _ stunnel: Stunnel, reads: EtcdStore.ReadMode = .followed, user: String? = nil,
        deadline: Duration = ampleWait()
    ) -> EtcdStore {
        EtcdStore(
            endpoints: stunnel.urls, prefix: prefix,
            options: .init(reads: reads, user: user, password: "hush", deadline: deadline, staleness: .seconds(2)))
    }

    @Test func everyAccessWorksAndASilentServerIsReplaced() throws {
        let authority = try CertificateAuthority()
        let cluster = try EtcdCluster(nodes: 3, authority: authority)
        let stunnel = try Stunnel(to: cluster, trusting: authority, as: authority.issue("client"))
        defer { stunnel.close() }
        // Another deadline is another client, as in another process.
        let (one, two) = (store(stunnel), store(stunnel, deadline: ampleWait(1)))
        let exact = store(stunnel, reads: .current)
        let isHeard = Signal()
        let heard = Locked<[Int]>([])
        let observation = try two.observe(root: "A") { change in
            heard.withLock { $0.append(change.newValues["a"] as? Int ?? 0) }
            isHeard.signal()
        }
        func write(_ number: Int) throws {
            try one.update(root: "A") { $0 = ["a": number] }
            #expect(try exact.read(root: "A")?["a"] as? Int == number)
            isHeard.wait()
            #expect(heard.withLock { $0.last } == number)
            #expect(try one.read(root: "A")?["a"] as? Int == number)
            #expect(try two.read(root: "A")?["a"] as? Int == number)
        }
        try write(1)
        #expect(try cluster.control("get", "--print-value-only", "\(prefix)r/A").contains("\"a\": 1"))
        cluster.kill(cluster.nodes[0])
        try write(2)
        try cluster.start(cluster.nodes[0])
        try cluster.waitUntilHealthy()
        // Its port still accepts connections.
        cluster.stop(cluster.nodes[1])
        try write(3)
        observation.cancel()
    }

    /// Nothing is passed on, in either direction.
    @Test func whoCannotBeVerifiedIsRefused() async throws {
        let (authority, stranger) = (try CertificateAuthority(), try CertificateAuthority())
        let cluster = try EtcdCluster(nodes: 1, authority: authority)
        let client = try authority.issue("client")
        let verified = try Stunnel(to: cluster, trusting: authority, as: client)
        defer { verified.close() }
        try store(verified).update(root: "A") { $0 = ["a": 1] }
        let keys = try cluster.control("get", "--prefix", prefix)
        // Each differs from the one above in one setting.
        let flaws: [(Comment, Stunnel, String)] = [
            ("another authority", try Stunnel(to: cluster, trusting: stranger, as: client), "verify failed"),
            (
                "another host", try Stunnel(to: cluster, trusting: authority, checking: "127.0.0.2", as: client),
                "verify failed"
            ),
            ("no certificate", try Stunnel(to: cluster, trusting: authority, as: nil), " alert "),
            (
                "a certificate of another authority",
                try Stunnel(to: cluster, trusting: authority, as: stranger.issue("client")), " alert "
            ),
        ]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (flaw, stunnel, log) in flaws {
                group.addTask(priority: .high) { try await self.expectRefusal(flaw, stunnel, log: log) }
            }
            try await group.waitForAll()
        }
        #expect(try cluster.control("get", "--prefix", prefix) == keys)
        // Has the files until here.
        withExtendedLifetime(stranger) {}
    }

    /// - Parameter log: what OpenSSL says: it rejects the server, or is told by an alert that the server rejects the client.
    private func expectRefusal(_ flaw: Comment, _ stunnel: Stunnel, log: String) async throws {
        defer { stunnel.close() }
        let store = store(stunnel, reads: .current, deadline: shortWait(2))
        try await sideBySide(
            {
                guard case .unreadable(let failure)? = error(of: { _ = try store.read(root: "A") }) else {
                    return #expect(Bool(false), flaw)
                }
                // Stunnel is running, and ends the connection: before it is seen to be there, before the request, or after it.
                let reasons = [
                    "connect: Connection reset by peer", "send: Connection reset by peer", "send: Broken pipe",
                    "recv: Connection reset by peer", "the connection was closed",
                ]
                #expect(reasons.contains(failure.reason), "\(flaw): \(failure.reason)")
            },
            {
                guard case .notStored? = error(of: { try store.update(root: "A") { _ in Issue.record(flaw) } }) else {
                    return #expect(Bool(false), flaw)
                }
            },
            {
                // It begins when the cluster can be reached.
                try store.observe(root: "A") { _ in Issue.record(flaw) }.cancel()
            })
        #expect(stunnel.log.contains(log), flaw)
    }

    /// etcd rejects the name in a certificate beside the user of the request.
    @Test func usersNeedACertificateWithoutACommonName() throws {
        let authority = try CertificateAuthority()
        let cluster = try EtcdCluster(nodes: 1, authority: authority)
        try cluster.control("user", "add", "root:secret")
        try cluster.control("user", "add", "ann:hush")
        try cluster.control("user", "grant-role", "root", "root")
        try cluster.control("user", "grant-role", "ann", "root")
        try cluster.control("auth", "enable")
        func write(_ subject: String, deadline: Duration = ampleWait()) throws {
            let client = try authority.issue("client", subject: subject)
            let stunnel = try Stunnel(to: cluster, trusting: authority, as: client)
            defer { stunnel.close() }
            let store = store(stunnel, user: "ann", deadline: deadline)
            try store.update(root: "A") { $0 = ["a": 1] }
            #expect(try store.read(root: "A")?["a"] as? Int == 1)
        }
        guard case .notStored(let failure)? = error(of: { try write("/CN=ann", deadline: shortWait(2)) }) else {
            return #expect(Bool(false))
        }
        #expect(failure.reason == "HTTP status 400, and no answer of etcd")
        try write("/O=fleet")
    }
}
