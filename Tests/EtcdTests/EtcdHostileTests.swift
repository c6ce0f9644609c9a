import Foundation
import PersistentPreferences
import PrefsEtcd
import PrefsStoreKit
import Testing
import TestSupport

/// Servers whose answers make no sense, and systems without threads: errors, and no more work than an honest server makes.
@Suite(.waits, .enabled(if: EtcdCluster.isWhole)) final class EtcdHostileTests: FleetSuite {
    private var urlOfProxy: String { "etcd://127.0.0.1:\(proxy.port)/\(prefix)" }

    /// A round of few requests every 50 ms: a client that does not wait makes thousands. On a busy machine, one.
    private func expectFew(_ requests: Int, in time: Duration, sourceLocation: SourceLocation = #_sourceLocation) {
        let most = Int(5 * (time / .milliseconds(50)))
        #expect((1...most).contains(requests), "\(requests)", sourceLocation: sourceLocation)
    }

    /// Grants every lease, and answers every transaction with what the closure returns.
    private func answerTransactions(_ answer: @escaping @Sendable () -> String) {
        let leases = Locked(0)
        proxy.intercept { request in
            guard request.contains("Lease/LeaseGrant") else {
                return request.contains("KV/Txn") ? LossyProxy.answer(200, answer()) : nil
            }
            return LossyProxy.answer(200, #"{"ID": "\#(leases.next())", "TTL": "5"}"#)
        }
    }

    /// Each update asks for another lease. One thread keeps them all.
    @Test func updatesThatFailLeaveNoThreads() throws {
        answerTransactions { #"{"header": {"revision": "9"}, "succeeded": true}"# }
        let words = try probe("fail", urlOfProxy, "200").output.split(separator: " ")
        #expect(words.first == "200")
        // The first, the keeper's, and those of Swift and Foundation.
        #expect(words.last.flatMap { Int($0.dropLast()) }.map { (1..<20).contains($0) } == true, "\(words)")
    }

    /// A ticket that is granted and not there.
    @Test func aRoundWithoutProgressWaits() throws {
        let count = Locked(0)
        let none = #"{"response_range": {"header": {}}}"#
        answerTransactions {
            count.next()
            return #"{"header": {"revision": "9"}, "succeeded": true, "responses": [\#(none), \#(none)]}"#
        }
        let deadline = shortWait(1)
        let store = storeBehindProxy(deadline: deadline)
        #expect(error { try store.update(root: "A") { _ in Issue.record("run") } }.notStored != nil)
        expectFew(count.withLock { $0 }, in: deadline)
    }

    /// The roots have no end, because each page is the first one.
    @Test func pagesThatRepeatThemselves() throws {
        let key = Data("\(prefix)r/A".utf8).base64EncodedString()
        let page =
            #""header": {"revision": "9"}, "kvs": [{"key": "\#(key)", "value": "e30="}], "count": "2", "more": true"#
        let count = Locked(0)
        proxy.intercept { request in
            if request.contains("KV/Txn") {
                let responses = #"[{"response_range": {\#(page)}}]"#
                return LossyProxy.answer(
                    200, #"{"header": {"revision": "9"}, "succeeded": true, "responses": \#(responses)}"#)
            }
            guard request.contains("KV/Range") else { return nil }
            count.next()
            return LossyProxy.answer(200, "{\(page)}")
        }
        let deadline = shortWait(1)
        let store = proxy.store(prefix, .init(deadline: deadline))
        // More roots than are followed alone.
        for number in 0..<8 { _ = try store.read(root: "\(number)") }
        let failure = error { _ = try store.read(root: "A") }.unreadable
        #expect(failure?.reason.contains("contradict each other") == true, "\(failure as Any)")
        expectFew(count.withLock { $0 }, in: deadline)
    }

    /// A ticket that is there, although the watch says that it has ended.
    @Test func aTicketThatDoesNotEnd() throws {
        let holder = Holder(one)
        let count = Locked(0)
        let answer = LossyProxy.stream(
            #"{"result": {"events": [{"type": "DELETE", "kv": {"key": "YQ==", "mod_revision": "9000000000000000000"}}]}}"#
        )
        proxy.intercept { request in
            if request.contains("Watch/Watch") { return answer }
            if request.contains("KV/Txn") { count.next() }
            return nil
        }
        let deadline = shortWait(2)
        let failure = error { try storeBehindProxy(deadline: deadline).update(root: "A") { _ in Issue.record("run") } }
        #expect(failure.notStored?.reason.hasSuffix("(process \(getpid())); clients ahead: 1") == true)
        expectFew(count.withLock { $0 }, in: deadline)
        holder.finish()
    }

    /// What a server says may be long, and drive a terminal.
    @Test func theTextOfAServerIsCutAndEscaped() throws {
        let text = #"\u001b[31m\n\u202e"# + String(repeating: "x", count: 10_000)
        proxy.intercept { _ in LossyProxy.answer(400, #"{"code": 9, "message": "\#(text)"}"#) }
        let reason = error { _ = try storeBehindProxy(deadline: .seconds(10)).read(root: "A") }.unreadable?.reason
        #expect(reason?.hasPrefix(#"\u{1b}[31m\n\u{202e}xxx"#) == true)
        #expect(reason?.unicodeScalars.count == 1_201)
    }

    @Test(.enabled(if: Hazard.canRunUnsanitized("fleet: memory")))
    func aLongReplyOfOthersIsNotHeld() throws {
        let isFirst = Locked(true)
        // With as many bytes as a message of its own length, which nobody needs.
        let long = LossyProxy.answer(404, String(repeating: "x", count: 32 << 20))
        proxy.intercept { _ in isFirst.take() ? long : LossyProxy.answer(400, #"{"code": 9, "message": "no"}"#) }
        let output = try probe("memory", urlOfProxy).output
        let growth = try #require(Int(output.dropLast()), "\(output)")
        #expect((0..<16).contains(growth), "\(growth) MiB")
    }

    /// The system may have threads again.
    @Test(
        .enabled(
            if: Hazard.canRun(
                "fleet: no threads",
                if: FileManager.default.fileExists(atPath: "/proc/self/statm") && !Hazard.isSanitized,
                else: "not on Linux, or a sanitizer is on")))
    func aThreadThatCannotBeMade() throws {
        let output = try probe("threadless", urlOfProxy).output
        #expect(
            output == """
                etcd 127.0.0.1:\(proxy.port): the system has no thread to give; the stored state is unchanged
                read 1

                """)
    }
}
