import Foundation
import PrefsPropertyLists
import TestSupport
import Testing

@testable import EngineSupport
@testable import PrefsFileEngine

/// Threads that commit together: the result of each, the stored values, and the changes that observers receive.
@Suite struct BatchMemberTests {
    /// A session whose commits succeed or fail as a test demands.
    private final class Domain: TransactionSession, FeedSource, @unchecked Sendable {
        let feed = ChangeFeed()
        let queue: TransactionQueue
        private(set) var content: [String: StoredValue]? = [:]
        private(set) var begins = 0
        private(set) var durabilities: [CommitDurability] = []
        /// The number of new entries of each commit.
        private(set) var entries: [Int] = []
        /// The sizes beside which the changes were vetted. Each change counts as ten bytes.
        private(set) var sizes: [Int] = []
        /// Why each commit keeps the former state.
        private(set) var reasons: [String?] = []
        private let outcome: FileError?
        private let isFlushed: Bool

        init(_ outcome: FileError? = nil, isFlushed: Bool = true) {
            (self.outcome, self.isFlushed) = (outcome, isFlushed)
            queue = TransactionQueue(reportingTo: feed)
            feed.start(self)
        }

        func committedState(waits: Bool) -> DomainState { DomainState(content) }

        func transact(durability: CommitDurability, _ body: (Transaction) throws -> Void) throws {
            try queue.transact(durability: durability, begin: begin, body)
        }

        private func begin() -> any TransactionSession {
            begins += 1
            return self
        }

        var stored: [Int] { content?["list"]?.object as? [Int] ?? [] }

        func commit(_ content: [String: StoredValue], durability: CommitDurability) throws {
            durabilities.append(durability)
            entries.append(content.count - (self.content?.count ?? 0))
            if case .notStored? = outcome {} else { self.content = content }
            if let outcome { throw outcome }
        }

        func commit(
            _ content: [String: StoredValue], keepingFormerBecause reason: String?, durability: CommitDurability
        ) throws {
            reasons.append(reason)
            try commit(content, durability: durability)
        }

        func vet(_ content: [String: StoredValue], after former: [String: StoredValue]?, beside size: Int) -> Int {
            sizes.append(size)
            return 10
        }

        func isDurable(_ durability: CommitDurability) -> Bool { isFlushed }
    }

    private struct Refused: Error {}

    /// The result of one member. Members are numbered in the order in which they ran.
    private struct Ended {
        let member: Int
        let outcome: String
        let thread: ObjectIdentifier
    }

    /// Runs a transaction in each of several threads. The others ask for a turn while the first thread has its turn. A
    /// test cannot see whether all of them asked in time, so it repeats.
    private func share(
        _ domain: Domain, _ threads: Int, _ member: @escaping @Sendable (Int, Transaction) throws -> Void
    ) -> [Ended] {
        let (begun, asked, ended) = (Heard<Int>(), Heard<Int>(), Heard<Ended>())
        inThreads(threads) { thread in
            if thread > 0 {
                begun.wait { !$0.isEmpty }
                asked.append(thread)
            }
            var (number, outcome) = (-1, "ok")
            do {
                try domain.transact(durability: .process) { transaction in
                    number = begun.all.count
                    begun.append(number)
                    if number == 0 {
                        asked.wait(for: threads - 1)
                        for _ in 0..<1_000 { sched_yield() }
                    }
                    try member(number, transaction)
                }
            } catch {
                outcome = (error as? FileError)?.text ?? "\(error)"
            }
            ended.append(Ended(member: number, outcome: outcome, thread: ObjectIdentifier(Thread.current)))
        }
        return ended.all.sorted { $0.member < $1.member }
    }

    /// A batch of three members.
    private func batch(
        _ outcome: FileError? = nil, isFlushed: Bool = true,
        _ member: @escaping @Sendable (Int, Transaction) throws -> Void
    ) throws -> (domain: Domain, members: [Ended], subscriber: ChangeSubscriber, changes: [String]) {
        for _ in 0..<10_000 {
            let domain = Domain(outcome, isFlushed: isFlushed)
            let subscriber = ChangeSubscriber()
            // What waits is in the order of the commits. What is told on the threads is not.
            let waiting = EntryObserver(.waiting { nil })
            let subscriptions = [
                try domain.feed.subscribe(to: "list", subscriber), try domain.feed.subscribe(to: "list", waiting),
            ]
            let members = share(domain, 3, member)
            subscriptions.forEach { $0.end() }
            let changes = sequence(state: waiting) { $0.takeFirst() }.map(ChangeSubscriber.text)
            if domain.begins == 1 { return (domain, members, subscriber, changes) }
        }
        Issue.record("no batch was shared")
        throw Refused()
    }

    private static func append(_ number: Int, to transaction: Transaction) {
        transaction["list"] = .array((transaction["list"]?.array ?? []) + [StoredValue(number)])
    }

    private static let failure = StorageFailure(path: "", reason: "full")

    /// A failed member is neither stored nor reported, and does not decide the durability of the others.
    @Test(arguments: 0..<3, [true, false]) func aMemberThatFailsFailsAlone(_ failing: Int, isCaught: Bool) throws {
        let batch = try batch { number, transaction in
            Self.append(number, to: transaction)
            guard number == failing else { return }
            transaction.durability = .powerCut
            if isCaught { transaction.fail(Refused()) } else { throw Refused() }
        }
        let others = [0, 1, 2].filter { $0 != failing }
        #expect(batch.members.map(\.outcome) == [0, 1, 2].map { $0 == failing ? "Refused()" : "ok" })
        #expect(batch.domain.stored == others)
        #expect(batch.domain.durabilities == [.process])
        #expect(batch.changes == ["- → [\(others[0])]", "[\(others[0])] → \(others)"])
    }

    @Test(arguments: 0..<3, [true, false])
    func theMemberThatAsksForMostDecidesTheDurability(_ sure: Int, isChange: Bool) throws {
        let batch = try batch { number, transaction in
            if isChange || number != sure { Self.append(number, to: transaction) }
            if number == sure { transaction.durability = .powerCut }
        }
        #expect(batch.domain.durabilities == [.powerCut])
        #expect(batch.members.map(\.outcome) == ["ok", "ok", "ok"])
    }

    /// Some members have a reason to keep the state before the batch. Those that change nothing need no copy.
    @Test(arguments: [[], [0], [1], [2], [1, 2], [0, 2]])
    func theFirstReasonToKeepTheFormerStateCounts(_ some: [Int]) throws {
        for writes in [true, false] {
            let batch = try batch { number, transaction in
                if writes || number == 0 { Self.append(number, to: transaction) }
                if some.contains(number) { transaction.reasonToKeepFormer = "reason \(number)" }
            }
            let first = writes ? some.first : some.first { $0 == 0 }
            #expect(batch.domain.reasons == [first.map { "reason \($0)" }], "\(writes)")
        }
    }

    @Test func aNestedWriteRaisesTheDurability() throws {
        let domain = Domain()
        try domain.transact(durability: .process) { _ in
            try domain.transact(durability: .powerCut) { $0["a"] = .bool(true) }
        }
        #expect(domain.durabilities == [.powerCut])
    }

    /// The first member waits for at most 63 others.
    @Test func aBatchHasNoMoreThan64Members() {
        for _ in 0..<1_000 {
            let domain = Domain()
            _ = share(domain, 101) { $1["\($0)"] = .bool(true) }
            #expect(domain.entries.reduce(0, +) == 101)
            let largest = domain.entries.max() ?? 0
            if largest < 64 { continue }
            #expect(largest == 64)
            return
        }
        Issue.record("no batch was full")
    }

    @Test func eachMemberIsToldOfOnceOnItsOwnThread() throws {
        let batch = try batch { Self.append($0, to: $1) }
        #expect(batch.domain.stored == [0, 1, 2])
        #expect(batch.changes == ["- → [0]", "[0] → [0, 1]", "[0, 1] → [0, 1, 2]"])
        // Vetted beside those before it, so that none fails the commit of the others, also not by the sum of the sizes.
        #expect(batch.domain.sizes == [0, 10, 20])
        let (threads, actions) = (batch.members.map(\.thread), batch.subscriber.threads.all)
        #expect(Set(threads).count == 3)
        #expect(Set(actions) == Set(threads))
        #expect(actions.count == 3)
    }

    /// A commit that is not confirmed is stored, and observers are told of it.
    @Test(arguments: [true, false]) func aCommitThatFailsFailsForAll(_ isStored: Bool) throws {
        let batch = try batch(isStored ? .durabilityUnconfirmed(Self.failure) : .notStored(Self.failure)) {
            Self.append($0, to: $1)
        }
        let outcome = isStored ? "not confirmed: full" : "not stored: full"
        #expect(batch.members.map(\.outcome) == [outcome, outcome, outcome])
        #expect(batch.domain.stored == (isStored ? [0, 1, 2] : []))
        #expect(batch.changes == (isStored ? ["- → [0]", "[0] → [0, 1]", "[0, 1] → [0, 1, 2]"] : []))
    }

    /// A member that changes nothing has read the changes of the members before it. If these are never stored, it
    /// fails, too.
    @Test(arguments: 0..<3) func aMemberThatOnlyReadsReturnsNothingUnstored(_ reader: Int) throws {
        let batch = try batch(.notStored(Self.failure)) { number, transaction in
            if number != reader { Self.append(number, to: transaction) }
        }
        #expect(batch.members.map(\.outcome) == [0, 1, 2].map { $0 == 0 && reader == 0 ? "ok" : "not stored: full" })
    }

    /// A member that changes nothing and asks for a flush, which another one makes.
    @Test func aFlushIsAwaited() throws {
        let batch = try batch(.durabilityUnconfirmed(Self.failure), isFlushed: false) { _, _ in }
        #expect(batch.members.map(\.outcome) == ["not confirmed: full", "not confirmed: full", "not confirmed: full"])
        #expect(batch.domain.durabilities == [.process] && batch.domain.entries == [0], "nothing is changed")
    }

    private final class Nothing: CommitGroup {
        var acceptsMembers: Bool { true }
        var dependsOnCommit: Bool { false }
        func commit() {}
    }

    @Test func aBatchThatCannotBeginPassesTheTurnOn() throws {
        let commits = GroupCommit<Nothing>()
        for _ in 0..<2 {
            #expect(throws: Refused.self) { try commits.enter(until: .now()) { throw Refused() } }
        }
        let batch = try commits.enter(until: .now()) { Nothing() }
        #expect(throws: GroupCommit<Nothing>.Timeout.self) { try commits.enter(until: .now()) { Nothing() } }
        try commits.leave(batch).get()
        try commits.leave(commits.enter(until: .now()) { Nothing() }).get()
    }

    /// It would otherwise be lost, because nobody else passes it on.
    @Test func aTurnThatComesAtTheTimeoutIsTaken() throws {
        let atTimeout = Locked<() -> Void>({})
        let commits = GroupCommit<Nothing>(didTimeOut: { atTimeout.withLock { $0 }() })
        let first = try commits.enter { Nothing() }
        atTimeout.withLock { $0 = { #expect(throws: Never.self) { try commits.leave(first).get() } } }
        let second = try commits.enter(until: .now()) { Nothing() }
        #expect(second === first, "the open batch")
        try commits.leave(second).get()
        try commits.leave(commits.enter(until: .now()) { Nothing() }).get()
    }
}
