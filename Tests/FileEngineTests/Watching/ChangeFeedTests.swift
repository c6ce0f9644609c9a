import Foundation
import PrefsPropertyLists
import TestSupport
import Testing

@testable import EngineSupport
@testable import PrefsFileEngine

/// Changes that observers receive if they subscribe, or if others write, during a reload or a commit.
@Suite struct ChangeFeedTests {
    private let domain = Domain()
    private let subscriber = Subscriber()

    /// Two entries, which other processes change, too.
    private final class Domain: TransactionSession, @unchecked Sendable {
        let queue = TransactionQueue()
        private let lock = NSLock()
        private var entries: [String: StoredValue]? = ["own": Domain.numbers(1), "other": Domain.numbers(1)]
        private var changed: (@Sendable () -> Void)?
        private var afterLook: (() -> Void)?
        private var inCommit: (() throws -> Void)?
        private var watchFailure: StorageFailure?
        private var fault: FileError?

        init() {
            queue.feed.start(
                self, committed: { $0.committed() },
                fault: { $0.currentFault },
                watch: { (domain, _, changed) throws(StorageFailure) in try domain.watch(changed) })
        }

        var content: [String: StoredValue]? { lock.withLock { entries } }

        private func committed() -> [String: StoredValue]? {
            let (found, action) = lock.withLock {
                defer { afterLook = nil }
                return (entries, afterLook)
            }
            action?()
            return found
        }

        func commit(_ content: [String: StoredValue], durability: CommitDurability) throws {
            let action = lock.withLock {
                defer { inCommit = nil }
                return inCommit
            }
            try action?()
            lock.withLock { entries = content }
        }

        private func watch(_ changed: @escaping @Sendable () -> Void) throws(StorageFailure) -> AnyObject? {
            let failure = lock.withLock {
                defer { watchFailure = nil }
                return watchFailure
            }
            if let failure { throw failure }
            lock.withLock { self.changed = changed }
            return self
        }

        private var currentFault: ChangeFeed.Fault? {
            lock.withLock { fault }.map { ChangeFeed.Fault(error: $0, next: nil) }
        }

        func setFault(_ fault: FileError) {
            lock.withLock { self.fault = fault }
        }

        func failNextWatch(_ failure: StorageFailure) {
            lock.withLock { watchFailure = failure }
        }

        private static func numbers(_ number: Int) -> StoredValue { .array([StoredValue(number)]) }

        func write(_ number: Int) throws {
            try queue.transact(durability: .process, begin: { self }) { $0["own"] = Self.numbers(number) }
        }

        func changeElsewhere(_ number: Int) {
            lock.withLock { entries = ["own": Self.numbers(number), "other": Self.numbers(number)] }
            giveSign()
        }

        func giveSign() {
            lock.withLock { changed }?()
        }

        /// Runs a closure once, after the next read of the entries and before its result is used.
        func afterNextLook(_ action: @escaping () -> Void) {
            lock.withLock { afterLook = action }
        }

        /// Runs a closure once, in the middle of the next commit.
        func inNextCommit(_ action: @escaping () throws -> Void) {
            lock.withLock { inCommit = action }
        }
    }

    private final class Subscriber: EntrySubscriber {
        let changes = Heard<String>()
        let faults = Heard<Bool>()

        func failed(_ error: FileError?) { faults.append(error != nil) }

        func receive(_ change: EntryChange) -> (@Sendable () -> Void)? {
            func text(_ entry: EntryState) -> String { (entry.value?.object as? [Int]).map { "\($0)" } ?? "-" }
            changes.append("\(text(change.before)) → \(text(change.after))\(change.isForeign ? " elsewhere" : "")")
            return nil
        }
    }

    private static let full = FileError.notStored(StorageFailure(path: "", reason: "full"))

    private func writeOnAnotherThread(_ number: Int) {
        inThreads(1) { _ in
            do {
                try domain.write(number)
            } catch {
                Issue.record("\(error)")
            }
        }
    }

    @Test func aCommitWhileAnObserverJoinsIsWhatItStartsFrom() throws {
        domain.afterNextLook { writeOnAnotherThread(2) }
        let subscription = try domain.queue.feed.subscribe(to: "own", subscriber)
        #expect(subscription.start.value?.object as? [Int] == [2])
        try domain.write(3)
        subscription.end()
        #expect(subscriber.changes.all == ["[2] → [3]"])
    }

    /// Another observer receives the change. The state that was read for the new observer is older.
    @Test func aChangeElsewhereWhileAnObserverJoinsIsWhatItStartsFrom() throws {
        let other = Subscriber()
        let otherSubscription = try domain.queue.feed.subscribe(to: "other", other)
        domain.afterNextLook {
            domain.changeElsewhere(2)
            #expect(other.changes.wait(for: 1) == ["[1] → [2] elsewhere"])
        }
        let subscription = try domain.queue.feed.subscribe(to: "own", subscriber)
        #expect(subscription.start.value?.object as? [Int] == [2])
        subscription.end()
        otherSubscription.end()
        #expect(subscriber.changes.all == [])
    }

    /// A reload is postponed until the commit is over. A test cannot see that, so it repeats.
    @Test func aChangeElsewhereDuringACommitIsToldOf() throws {
        let subscription = try domain.queue.feed.subscribe(to: "own", subscriber)
        for number in 2...21 {
            domain.inNextCommit {
                domain.changeElsewhere(number)
                for _ in 0..<1_000 { sched_yield() }
                throw Self.full
            }
            #expect(throws: FileError.self) { try domain.write(0) }
            guard subscriber.changes.wait(for: number - 1).count == number - 1 else { break }
        }
        subscription.end()
        #expect(subscriber.changes.all == (2...21).map { "[\($0 - 1)] → [\($0)] elsewhere" })
    }

    /// The result of the reload is older than the commit. The next reload comes after the commit.
    @Test func aLookThatIsOvertakenByACommitIsNotToldOf() throws {
        let subscription = try domain.queue.feed.subscribe(to: "own", subscriber)
        let looks = Heard<Int>()
        domain.afterNextLook {
            writeOnAnotherThread(2)
            domain.afterNextLook { looks.append(2) }
            looks.append(1)
        }
        domain.giveSign()
        looks.wait { !$0.isEmpty }
        domain.giveSign()
        looks.wait(for: 2)
        try domain.write(3)
        subscription.end()
        #expect(subscriber.changes.all == ["[1] → [2]", "[2] → [3]"])
    }

    /// The state that was read during the commit is not the result of the commit.
    @Test func anObserverThatJoinsDuringAFailedCommitIsToldOfChangesElsewhere() throws {
        nonisolated(unsafe) var subscription: EntrySubscription?
        domain.inNextCommit {
            subscription = try domain.queue.feed.subscribe(to: "own", subscriber)
            throw Self.full
        }
        #expect(throws: FileError.self) { try domain.write(2) }
        #expect(subscription?.start.value?.object as? [Int] == [1])
        domain.changeElsewhere(3)
        #expect(subscriber.changes.wait(for: 1) == ["[1] → [3] elsewhere"])
        subscription?.end()
    }

    /// There may be room for a watch later.
    @Test func whatCouldNotBeWatchedIsWatchedAfterACommit() throws {
        domain.failNextWatch(StorageFailure(path: "", reason: "no room"))
        let subscription = try domain.queue.feed.subscribe(to: "own", subscriber)
        #expect(subscription.failure?.reason == "no room")
        try domain.write(2)
        domain.changeElsewhere(3)
        #expect(subscriber.changes.wait(for: 2) == ["[1] → [2]", "[2] → [3] elsewhere"])
        subscription.end()
    }

    /// The new observer has read of it before the others were told.
    @Test func aFaultThatANewObserverFindsIsToldToTheOthers() throws {
        let (first, other) = (try domain.queue.feed.subscribe(to: "own", subscriber), Subscriber())
        domain.setFault(Self.full)
        let second = try domain.queue.feed.subscribe(to: "own", other)
        domain.giveSign()
        #expect(subscriber.faults.wait(for: 1) == [true])
        first.end()
        second.end()
    }
}
