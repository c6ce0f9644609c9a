import EngineSupport
import Foundation
import PersistentPreferences
import PrefsStoreKit
import Testing
import TestSupport

@testable import PrefsEtcd

/// Changes that are data: one transaction, which is made again if another client was faster.
@Suite(.waits, .enabled(if: EtcdCluster.isThere)) final class EtcdChangeTests: FleetSuite {
    /// The requests that read or write, but not those of the watch.
    private func countRequests() -> Locked<[String]> {
        let requests = Locked<[String]>([])
        proxy.intercept { request in
            if request.contains("KV/"), !LossyProxy.isOfTheWatch(request) {
                requests.withLock { $0.append(String(request.split(separator: " ")[1])) }
            }
            return nil
        }
        return requests
    }

    /// How often a root was written.
    private func writes(of root: String = "A") throws -> Int {
        let json = try cluster.control("get", "-w", "json", "\(prefix)r/\(root)")
        let version = json.components(separatedBy: "\"version\":").dropFirst().first?.prefix { $0.isNumber }
        return version.flatMap { Int($0) } ?? 0
    }

    @Test(arguments: [EtcdStore.ReadMode.followed, .current])
    func aChangeIsOneRequestAndAnUpdateTwo(_ reads: EtcdStore.ReadMode) throws {
        let prefs = TeamPrefs(key: "A", store: storeBehindProxy(reads).store)
        prefs.level = 1
        prefs.update { prefs.level = 2 }
        let requests = countRequests()
        prefs.level = 3
        prefs.name = "x"
        prefs.values = ["level": 4]
        prefs.$level.reset()
        prefs.name = "y"
        prefs.resetAll()
        prefs.name = "z"
        prefs["level"] = 6
        prefs.reset("level", "name")
        prefs.deleteRoot()
        #expect(requests.withLock { $0 } == Array(repeating: "KV/Txn", count: 10))
        requests.withLock { $0 = [] }
        prefs.update { (prefs.level, prefs.name) = (5, "v") }
        #expect(requests.withLock { $0 } == ["KV/Txn", "KV/Txn"])
        #expect(prefs.lastError == nil && prefs.level == 5)
        #expect(try (two.read(root: "A") ?? [:]) as NSDictionary == ["level": 5, "name": "v"])
    }

    /// A write that would change nothing is compared with the newest state, and not sent.
    @Test func anEqualChangeIsNotSent() throws {
        let prefs = TeamPrefs(key: "A", store: storeBehindProxy(.followed).store)
        prefs.level = 7
        let requests = countRequests()
        prefs.level = 7
        #expect(requests.withLock { $0 } == ["KV/Range"])
        #expect(try prefs.lastError == nil && writes() == 1)
    }

    /// The copy may be old, so it does not decide that a change is equal.
    @Test func aChangeThatEqualsAnOldCopyIsStored() throws {
        let store = storeBehindProxy(.followed)
        try store.change(root: "A") { $0 = ["level": 1] }
        #expect(try store.read(root: "A")?["level"] as? Int == 1)
        proxy.withoutWatch()
        try two.change(root: "A") { $0 = ["level": 2] }
        try store.change(root: "A") { $0 = ["level": 1] }
        #expect(try two.current(root: "A")?["level"] as? Int == 1)
    }

    /// Another client writes between what a change is applied to and its transaction.
    @Test func aChangeIsAppliedAgainToTheNewerState() throws {
        let prefs = TeamPrefs(key: "A", store: storeBehindProxy(.followed).store)
        prefs.level = 1
        let requests = Locked(0)
        proxy.intercept { [cluster, prefix] request in
            guard request.contains("requestPut") else { return nil }
            let round = 3 - requests.next()
            if round >= 0 { _ = try? cluster.control("put", "\(prefix)r/A", #"{"level": 1, "others": \#(round)}"#) }
            return nil
        }
        prefs.name = "x"
        #expect(prefs.lastError == nil)
        #expect(requests.withLock { $0 } == 4)
        #expect(try (two.read(root: "A") ?? [:]) as NSDictionary == ["level": 1, "name": "x", "others": 0])
    }

    /// A change that loses too often waits for the lock, which keeps the others out.
    @Test func aChangeThatLosesTooOftenTakesATicket() throws {
        let prefs = TeamPrefs(key: "A", store: storeBehindProxy(.followed).store)
        prefs.level = 1
        let writes = Locked(0)
        let hadTicket = Locked(false)
        proxy.intercept { [cluster, prefix] request in
            guard request.contains("requestPut") else { return nil }
            let ticket = Data("\(prefix)l/A/".utf8).base64EncodedString().prefix(20)
            if request.contains("\"requestPut\":{\"key\":\"\(ticket)") { hadTicket.withLock { $0 = true } }
            let number = writes.next()
            if !hadTicket.withLock({ $0 }) {
                _ = try? cluster.control("put", "\(prefix)r/A", #"{"level": \#(number)}"#)
            }
            return nil
        }
        prefs.name = "x"
        #expect(prefs.lastError == nil)
        #expect(hadTicket.withLock { $0 })
        #expect(try two.read(root: "A")?["name"] as? String == "x")
        #expect(try cluster.control("get", "--prefix", "--keys-only", "\(prefix)l/").isEmpty)
    }

    /// Nothing comes between what a body reads and what it commits.
    @Test func aChangeWaitsForTheBodyOfAnotherClient() throws {
        let prefs = TeamPrefs(key: "A", store: storeBehindProxy(.followed).store)
        prefs.level = 1
        let holder = Holder(two) { root in
            let level = root?["level"] as? Int ?? 0
            root?["level"] = level + 10
        }
        // The change has found the lock when it asks for a ticket.
        proxy.intercept { request in
            if request.contains("Lease/LeaseGrant") { holder.letEnd() }
            return nil
        }
        prefs.name = "x"
        #expect(holder.finish() == nil)
        #expect(prefs.lastError == nil)
        #expect(try (two.current(root: "A") ?? [:]) as NSDictionary == ["level": 11, "name": "x"])
    }

    @Test func manyClientsChangeOneRoot() throws {
        let count = 25
        inThreads(4) { [cluster, prefix] number in
            let store = cluster.store(prefix, .init(deadline: .seconds(20 + number)))
            #expect(throws: Never.self) {
                for value in 1...count {
                    if value % 5 == 0 {
                        try store.update(root: "A") { root in
                            let sum = root?["sum"] as? Int ?? 0
                            root?["sum"] = sum + 1
                        }
                    }
                    try store.change(root: "A") { $0 = ($0 ?? [:]).merging(["\(number)": value]) { $1 } }
                }
            }
        }
        let root = try two.read(root: "A") as? [String: Int]
        #expect(root == ["0": count, "1": count, "2": count, "3": count, "sum": 4 * count / 5])
    }

    /// The answer to each commit is lost, and so are all tries before it. Each change is stored once, and so is each update.
    @Test func unknownOutcomesAreFoundOut() throws {
        let count = Hazard.count("PREFS_FLEET_UNKNOWN", default: 20)
        let prefs = TeamPrefs(key: "A", store: storeBehindProxy(.current, deadline: ampleWait(2)).store)
        prefs.level = 100_000
        let number = Locked(0)
        let lost = Locked(0)
        proxy.intercept { [proxy] request in
            guard request.contains("requestPut"), number.next() % 2 == 1 else { return nil }
            lost.next()
            proxy.carryOut(request)
            return ""
        }
        for value in 1...count {
            prefs.level = value
            #expect(prefs.lastError == nil)
        }
        #expect(lost.withLock { $0 } == count)
        #expect(try writes() == count + 1)
        for _ in 1...count { prefs.update { prefs.level += 1 } }
        #expect(prefs.lastError == nil)
        #expect(try two.current(root: "A")?["level"] as? Int == 2 * count)
        Hazard.report("fleet: \(2 * count) commits whose answers were lost, stored once each")
    }

    /// Adds one to a count by the JSON gateway, as programs before gRPC did, unless another client was faster.
    private static func incrementByJSON(_ port: Int, _ prefix: String) throws -> Bool {
        let (key, tickets) = (Data("\(prefix)r/A".utf8).base64EncodedString(), Data("\(prefix)l/A/".utf8))
        let found = try post(port, "range", #"{"key": "\#(key)"}"#)
        let entry = (found["kvs"] as? [[String: Any]])?.first
        let bytes = (entry?["value"] as? String).flatMap { Data(base64Encoded: $0) } ?? Data("{}".utf8)
        let values = try JSONSerialization.jsonObject(with: bytes) as? [String: Int] ?? [:]
        let next = try JSONSerialization.data(withJSONObject: ["count": (values["count"] ?? 0) + 1])
        let end = (tickets.dropLast() + [0x30]).base64EncodedString()
        let compare = """
            {"key": "\(key)", "target": "MOD", "modRevision": "\(entry?["mod_revision"] ?? "0")"}, \
            {"key": "\(tickets.base64EncodedString())", "rangeEnd": "\(end)"}
            """
        let put = #"{"requestPut": {"key": "\#(key)", "value": "\#(next.base64EncodedString())"}}"#
        return try post(port, "txn", #"{"compare": [\#(compare)], "success": [\#(put)]}"#)["succeeded"] != nil
    }

    private static func post(_ port: Int, _ path: String, _ body: String) throws -> [String: Any] {
        let descriptor = try #require(SocketBytes.connect(to: port))
        defer { Foundation.close(descriptor) }
        let head = "POST /v3/kv/\(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: "
        SocketBytes.write(Array("\(head)\(body.utf8.count)\r\n\r\n\(body)".utf8), to: descriptor)
        var answer: [UInt8] = []
        while let more = SocketBytes.read(from: descriptor) { answer += more }
        let text = String(decoding: answer, as: UTF8.self)
        let json = try #require(text.range(of: "\r\n\r\n").map { text[$0.upperBound...] })
        return try #require(JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    }

    @Test func programsThatUseTheGateway() throws {
        let count = Hazard.count(20, long: 200)
        let stores = [cluster.store(prefix, .patient(7)), cluster.store(prefix, .patient(8))]
        inThreads(4) { [port = cluster.nodes[0].clientPort, prefix] number in
            for _ in 0..<count {
                do {
                    switch number {
                    case 0: try increment(stores[0])
                    case 1: try stores[1].change(root: "A") { $0 = ["count": ($0?["count"] as? Int ?? 0) + 1] }
                    default: while try !Self.incrementByJSON(port, prefix) {}
                    }
                } catch {
                    Issue.record("\(error)")
                }
            }
        }
        #expect(try one.currentCount() == 4 * count)
    }

    /// A network may deliver a request again when nobody expects it any more.
    @Test func lateCopiesOfChangesChangeNothing() throws {
        let prefs = TeamPrefs(key: "A", store: storeBehindProxy(.followed).store)
        for level in 1...3 {
            prefs.level = level
            // Removed, so that no revision of the root tells a copy from the original.
            try two.update(root: "A") { $0 = nil }
        }
        proxy.replay()
        #expect(try cluster.control("get", "\(prefix)r/A").isEmpty)
        // The first try meets a root of another client, which is gone when the copy comes.
        proxy.interceptFirst("requestPut") { [cluster, prefix] _ in
            _ = try? cluster.control("put", "\(prefix)r/A", "[1]")
            return nil
        }
        prefs.level = 3
        #expect(prefs.lastError == .rootIsNotDictionary(key: "A"))
        try cluster.control("del", "\(prefix)r/A")
        proxy.replay()
        #expect(try cluster.control("get", "\(prefix)r/A").isEmpty)
    }

    /// The first copy of a change is late. It comes when the root is missing again, as it was at first.
    ///
    /// - Parameter isEqual: whether the change, of two roots, has nothing to do any more when it is applied again.
    @Test(arguments: [true, false]) func aLateCopyIsCarriedOut(_ isEqual: Bool) throws {
        let store = storeBehindProxy(.followed)
        try store.change(root: "B") { $0 = ["level": 1] }
        for root in ["A", "C"] { #expect(try store.read(root: root) == nil) }
        let (puts, late) = (Locked(0), Locked(""))
        proxy.block()
        proxy.intercept { [proxy, cluster, prefix] request in
            if LossyProxy.isOfTheWatch(request) { return LossyProxy.answer(503) }
            switch request.contains("requestPut") ? puts.next() : puts.withLock({ $0 }) {
            case 1:
                late.withLock { $0 = request }
                return ""
            case 2 where late.withLock({ !$0.isEmpty }) && request.contains("requestPut"):
                for root in ["A", "C"] { _ = try? cluster.control("put", "\(prefix)r/\(root)", #"{"level": 1}"#) }
            default:
                let copy = late.withLock { late in
                    defer { late = "" }
                    return late
                }
                if copy.isEmpty { return nil }
                for root in ["A", "C"] { _ = try? cluster.control("del", "\(prefix)r/\(root)") }
                proxy.carryOut(copy)
            }
            return nil
        }
        proxy.unblock()
        @Sendable func change(_ root: inout [String: Any]?) {
            root = ["level": isEqual ? 1 : (root?["level"] as? Int ?? 0) + 1]
        }
        try store.change(root: "A") { root in
            change(&root)
            try store.update(root: "C", change)
        }
        for root in ["A", "C"] {
            #expect(try store.read(root: root)?["level"] as? Int == 1)
            #expect(try two.current(root: root)?["level"] as? Int == 1)
            #expect(try writes(of: root) == 1)
        }
    }

    /// The observer has started with the change, which its client does not know to be its own yet.
    @Test func anObserverThatStartsBeforeTheAnswerToAChange() throws {
        let store = storeBehindProxy(.followed)
        try store.change(root: "A") { $0 = ["count": 1] }
        #expect(try store.count() == 1)
        let heard = Locked<ObservedCounts?>(nil)
        proxy.interceptFirst("requestPut") { [proxy] request in
            proxy.carryOut(request)
            do {
                try expectEventually(store.count(), is: 2)
                let new = try ObservedCounts(store)
                heard.withLock { $0 = new }
            } catch {
                Issue.record("\(error)")
            }
            return ""
        }
        try store.change(root: "A") { $0 = ["count": 2] }
        try increment(two)
        let counts = try #require(heard.withLock { $0 })
        #expect(counts.wait(for: 3) == .elsewhere)
        #expect(counts.all == [3])
    }

    /// Somebody has removed the marker, which would tell whether the first copy was carried out.
    @Test func aLostAnswerAndALostMarker() throws {
        let prefs = TeamPrefs(key: "A", store: storeBehindProxy(.current).store)
        prefs.level = 1
        proxy.interceptFirst("requestPut") { [proxy, cluster, prefix] request in
            proxy.carryOut(request)
            _ = try? cluster.control("del", "--prefix", "\(prefix)c/")
            return ""
        }
        prefs.level = 2
        guard case .outcomeUnknown? = prefs.lastError else { return #expect(Bool(false), "\(prefs.lastError as Any)") }
        prefs.level = 3
        #expect(prefs.lastError == nil)
        #expect(try two.current(root: "A")?["level"] as? Int == 3)
    }

    /// Once its outcome is known, a transaction holds nothing back any more.
    @Test func aTransactionOfUnknownOutcomeIsNotListedForEver() throws {
        let store = storeBehindProxy(.followed, deadline: shortWait(2))
        let heard = try ObservedCounts(store)
        try increment(store)
        let lost = try #require(StoredRoot(["count": .integer(10)]).data).base64EncodedString()
        for isCarriedOut in [true, false] {
            proxy.intercept { [proxy] request in
                guard request.contains("requestPut") else { return nil }
                if isCarriedOut { proxy.carryOut(request) }
                return ""
            }
            expectUnknownOutcome { try store.change(root: "A") { $0 = ["count": 10] } }
            // The last copy may still be on its way.
            proxy.intercept { $0.contains(lost) ? "" : nil }
            // A look at the marker tells what became of it, without another update.
            try two.update(root: "A") { $0 = ["count": isCarriedOut ? 20 : 30] }
            #expect(heard.wait(for: isCarriedOut ? 20 : 30) == .elsewhere)
            try increment(store)
            #expect(heard.wait(for: isCarriedOut ? 21 : 31) == .thisProcess)
            #expect(try store.namespace.watch.state.withLock { $0.own.isEmpty })
        }
        #expect(heard.all == [1, 10, 20, 21, 30, 31])
        #expect(heard.allOrigins == [.thisProcess, .thisProcess, .elsewhere, .thisProcess, .elsewhere, .thisProcess])
    }
}
