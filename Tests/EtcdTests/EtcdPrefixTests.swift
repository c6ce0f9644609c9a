import EngineSupport
import Foundation
import PersistentPreferences
import PrefsStoreKit
import Testing
import TestSupport

@testable import PrefsEtcd

/// Stores whose keys begin alike, keys of strangers, and prefixes with many roots.
@Suite(.waits, .enabled(if: EtcdCluster.isThere)) final class EtcdPrefixTests: FleetSuite {
    private func store(_ prefix: String, deadline: Duration) -> EtcdStore {
        cluster.store(prefix, .init(reads: .current, deadline: deadline))
    }

    /// Uses so many roots that the store follows all of the prefix.
    private static func followAll(_ store: EtcdStore) throws {
        for number in 0..<9 { #expect(try store.read(root: "none\(number)") == nil) }
    }

    /// A store below the tickets of another one, even if its own lock is held.
    @Test(arguments: ["l/A/", "l/n/", "c/n/", "m/n/", "n/"]) func aStoreBelowAnother(_ rest: String) throws {
        let (outer, inner) = (store(prefix, deadline: shortWait(2)), store(prefix + rest, deadline: ampleWait()))
        try inner.update(root: "A") { $0 = ["count": 1] }
        let holder = Holder(inner)
        defer { holder.finish() }
        try outer.update(root: "A") { $0 = ["count": 3] }
        #expect(try outer.count() == 3)
        #expect(try inner.count() == 1)
    }

    /// A key below the tickets that has no lease is none.
    @Test func aKeyOfAStrangerIsNoTicket() throws {
        try cluster.control("put", "\(prefix)l/A/stranger", "x")
        let store = store(prefix, deadline: shortWait(2))
        try increment(store)
        #expect(try store.count() == 1)
        #expect(try cluster.control("get", "--prefix", "--keys-only", "\(prefix)l/") == "\(prefix)l/A/stranger\n\n")
    }

    /// Keys of strangers do not hide the ticket before ours.
    @Test func aTicketBehindManyKeysOfStrangers() throws {
        let holder = Holder(store(prefix, deadline: ampleWait()))
        let other = store(prefix, deadline: shortWait(2))
        for number in 0..<10 { try cluster.control("put", "\(prefix)l/A/\(number)", "x") }
        let reason = error { try other.update(root: "A") { _ in Issue.record("run") } }.notStored?.reason
        #expect(reason?.hasPrefix("timed out waiting for the lock of root A, held by ") == true)
        #expect(reason?.hasSuffix("(process \(getpid())); clients ahead: 1") == true)
        holder.finish()
        try increment(other)
        #expect(try other.count() == 2)
    }

    @Test func prefixesThatMixKeysAreRejected() throws {
        let words = ["l/": "l/", "m/": "m/", "r/": "r/", "r/x/": "r/", "r/x/l/": "r/"]
        for (rest, word) in words {
            for prefix in [rest, prefix + rest] {
                let failure = error { _ = try cluster.store(prefix).read(root: "A") }
                let reason = "is not a valid prefix: the keys of a shorter prefix may begin with \(word)"
                #expect(failure == .invalidName(name: prefix, reason: reason))
            }
        }
        let failure = error { _ = try cluster.store("\(prefix)a\0/").read(root: "A") }
        let reason = "is not a valid prefix: it contains a NUL"
        #expect(failure == .invalidName(name: "\(prefix)a\0/", reason: reason))
        // Words that end with these letters are prefixes like others.
        let word = store("\(prefix)our/", deadline: ampleWait())
        try increment(word)
        #expect(try word.count() == 1)
    }

    /// More than one reply may hold: what was stored can be read again by a new process.
    @Test(.enabled(if: Hazard.canRun("fleet: large roots", if: Hazard.isLong, else: "the long form has them")))
    func manyLargeRoots() throws {
        let cluster = try EtcdCluster(nodes: 1)
        let namespace = try cluster.store(prefix).namespace
        // 286 MB of base64. Nobody reads them as JSON.
        let large = Data(count: 1_400 << 10)
        for number in 100..<250 {
            let put = TxnRequest(success: [.put(namespace.keys.root("R\(number)"), large)])
            _ = try namespace.client.commit(put, until: .now + longestWait)
        }
        for name in ["A", "R1234", "Z"] {
            try cluster.control("put", "\(prefix)r/\(name)", #"{"name": "\#(name)"}"#)
        }
        let store = cluster.store(prefix, .init(deadline: longestWait))
        try Self.followAll(store)
        for name in ["A", "R1234", "Z"] { #expect(try store.read(root: name)?["name"] as? String == name) }
    }

    /// Changes between the pages of the first reading are there when it has ended, or soon after.
    @Test func changesWhileTheRootsAreRead() throws {
        let writer = store(prefix, deadline: ampleWait())
        for half in 0..<2 {
            try writer.update(root: "R\(half)00") { _ in
                for number in 0..<99 { try writer.update(root: "R\(half * 99 + number)") { $0 = ["count": number] } }
            }
        }
        let pages = Locked(0)
        proxy.intercept { [cluster, prefix] request in
            guard request.contains("KV/Range"), pages.next() == 2 else { return nil }
            // One on a page that was read, and two on pages that were not.
            for root in ["R0", "R98"] { _ = try? cluster.control("del", "\(prefix)r/\(root)") }
            _ = try? cluster.control("put", "\(prefix)r/Z", #"{"count": 7}"#)
            return nil
        }
        let store = proxy.store(prefix, .init(deadline: ampleWait()))
        try Self.followAll(store)
        #expect(try store.count("R55") == 55)
        try expectEventually(store.count("Z"), is: 7)
        for number in 0..<198 {
            let count = try store.count("R\(number)")
            #expect(count == ([0, 98].contains(number) ? nil : number % 99))
        }
        // 64 roots, 128, and 6.
        #expect(pages.withLock { $0 } == 3)
    }
}
