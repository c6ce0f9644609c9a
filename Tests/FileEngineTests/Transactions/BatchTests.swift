import Foundation
import PrefsPropertyLists
import TestSupport
import Testing

@testable import EngineSupport
@testable import PrefsFileEngine

/// Group commit: the members of a batch share one commit.
@Suite struct BatchTests {
    /// Records the number of new entries and the durability of each commit.
    private final class Domain: TransactionSession, @unchecked Sendable {
        struct Commit {
            let entries: Int
            let durability: CommitDurability
        }

        let queue = TransactionQueue()
        private(set) var content: [String: StoredValue]? = [:]
        let commits = Heard<Commit>()

        func transact(durability: CommitDurability, _ body: (Transaction) throws -> Void) throws {
            try queue.transact(durability: durability, begin: { self }, body)
        }

        func commit(_ content: [String: StoredValue], durability: CommitDurability) throws {
            commits.append(Commit(entries: content.count - (self.content?.count ?? 0), durability: durability))
            self.content = content
        }
    }

    /// The commits of one thread, and of other threads that ask for a turn while the first thread has its turn. A test
    /// cannot see whether all of them asked in time, so it repeats.
    private func commits(of first: CommitDurability, and others: [CommitDurability]) -> [Domain.Commit] {
        let domain = Domain()
        let (begun, asked) = (Heard<Int>(), Heard<Int>())
        inThreads(1 + others.count) { number in
            do {
                if number == 0 {
                    try domain.transact(durability: first) {
                        begun.append(number)
                        asked.wait(for: others.count)
                        for _ in 0..<1_000 { sched_yield() }
                        $0["0"] = .bool(true)
                    }
                } else {
                    begun.wait(for: 1)
                    asked.append(number)
                    try domain.transact(durability: others[number - 1]) { $0["\(number)"] = .bool(true) }
                }
            } catch {
                Issue.record("\(error)")
            }
        }
        return domain.commits.all
    }

    /// The last member writes for all members, with the strictest durability that one of them asked for.
    @Test func theStrictestMemberDecidesTheDurability() {
        for _ in 0..<10_000 {
            let commits = commits(of: .powerCut, and: [.process, .process])
            #expect(commits.map(\.entries).reduce(0, +) == 3)
            #expect(commits[0].durability == .powerCut)
            if commits.count == 1 { return }
        }
        Issue.record("no batch was shared")
    }

    @Test func aNestedWriteRaisesTheDurability() throws {
        let domain = Domain()
        try domain.transact(durability: .process) { _ in
            try domain.transact(durability: .powerCut) { $0["a"] = .bool(true) }
        }
        #expect(domain.commits.all.map(\.durability) == [.powerCut])
    }

    /// The first member waits for at most 63 others.
    @Test func aBatchHasNoMoreThan64Members() {
        for _ in 0..<1_000 {
            let commits = commits(of: .process, and: Array(repeating: .process, count: 100)).map(\.entries)
            #expect(commits.reduce(0, +) == 101)
            let largest = commits.max() ?? 0
            if largest < 64 { continue }
            #expect(largest == 64)
            return
        }
        Issue.record("no batch was full")
    }
}
