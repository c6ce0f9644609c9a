import Foundation
import PrefsPropertyLists
import TestSupport
import Testing

@testable import EngineSupport
@testable import PrefsFileEngine

/// Changes that observers receive if they subscribe, or if others write, during a reload or a commit.
@Suite(.waits) struct ChangeFeedTests {
    let domain = FeedDomain()
    let subscriber = ChangeSubscriber()

    private func writeOnAnotherThread(_ number: Int) {
        inThreads(1) { _ in #expect(throws: Never.self) { try domain.write(number) } }
    }

    @Test func aCommitWhileAnObserverJoinsIsWhatItStartsFrom() throws {
        domain.set(\.afterLook) { writeOnAnotherThread(2) }
        let subscription = try domain.feed.subscribe(to: "own", subscriber)
        #expect(subscription.start.value?.object as? [Int] == [2])
        try domain.write(3)
        subscription.end()
        #expect(subscriber.changes.all == ["[2] → [3]"])
    }

    /// Another observer receives the change. The state that was read for the new observer is older.
    @Test func aChangeElsewhereWhileAnObserverJoinsIsWhatItStartsFrom() throws {
        let other = ChangeSubscriber()
        let otherSubscription = try domain.feed.subscribe(to: "other", other)
        domain.set(\.afterLook) {
            domain.changeElsewhere(2)
            #expect(other.changes.wait(for: 1) == ["[1] → [2] elsewhere"])
        }
        let subscription = try domain.feed.subscribe(to: "own", subscriber)
        #expect(subscription.start.value?.object as? [Int] == [2])
        subscription.end()
        otherSubscription.end()
        #expect(subscriber.changes.all == [])
    }

    /// Two updates commit together, and each changes another entry. Each observer is told at the step of its entry, and the one of all
    /// entries at both.
    @Test func twoStepsOfACommitChangeTwoEntries() throws {
        let names = ["own", "other", "third", ""]
        let subscribers = names.map { _ in ChangeSubscriber() }
        let subscriptions = try zip(names, subscribers).map { try domain.feed.subscribe(to: $0, $1) }
        var content = try #require(domain.content)
        func commit(_ keys: String..., number: Int) -> [Int] {
            let steps = keys.map { key in
                let before = content
                content[key] = .array([StoredValue(number)])
                return CommitStep(before: before, after: content)
            }
            domain.set(\.entries, content)
            domain.feed.willCommit()
            let actions = domain.feed.didCommit(steps) { $0 }
            for action in actions.joined() { action() }
            return actions.map(\.count)
        }
        #expect(commit("own", number: 2) == [2])
        // Now all of them know the same content.
        #expect(commit("own", "other", number: 3) == [2, 2])
        #expect(commit("third", "own", number: 4) == [2, 2])
        let expected = [["[1] → [2]", "[2] → [3]", "[3] → [4]"], ["[1] → [3]"], ["- → [4]"]]
        #expect(subscribers.prefix(3).map(\.changes.all) == expected)
        #expect(subscribers[3].changes.all.count == 5)
        for subscription in subscriptions { subscription.end() }
    }

    /// A reload is postponed until the commit is over. A test cannot see that, so it repeats.
    @Test func aChangeElsewhereDuringACommitIsToldOf() throws {
        let subscription = try domain.feed.subscribe(to: "own", subscriber)
        for number in 2...21 {
            domain.set(\.inCommit) {
                domain.changeElsewhere(number)
                for _ in 0..<1_000 { sched_yield() }
                throw FeedDomain.full
            }
            #expect(throws: FileError.self) { try domain.write(0) }
            guard subscriber.changes.wait(for: number - 1).count == number - 1 else { break }
        }
        subscription.end()
        #expect(subscriber.changes.all == (2...21).map { "[\($0 - 1)] → [\($0)] elsewhere" })
    }

    /// The result of the reload is older than the commit. The next reload comes after the commit.
    @Test func aLookThatIsOvertakenByACommitIsNotToldOf() throws {
        let subscription = try domain.feed.subscribe(to: "own", subscriber)
        let looks = Heard<Int>()
        domain.set(\.afterLook) {
            writeOnAnotherThread(2)
            domain.set(\.afterLook) { looks.append(2) }
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
        domain.set(\.inCommit) {
            subscription = try domain.feed.subscribe(to: "own", subscriber)
            throw FeedDomain.full
        }
        #expect(throws: FileError.self) { try domain.write(2) }
        #expect(subscription?.start.value?.object as? [Int] == [1])
        domain.changeElsewhere(3)
        #expect(subscriber.changes.wait(for: 1) == ["[1] → [3] elsewhere"])
        subscription?.end()
    }

    /// There may be room for a watch later.
    @Test func whatCouldNotBeWatchedIsWatchedAfterACommit() throws {
        domain.set(\.watchFailure, StorageFailure(path: "", reason: "no room"))
        let subscription = try domain.feed.subscribe(to: "own", subscriber)
        #expect(subscription.failure?.reason == "no room")
        try domain.write(2)
        // Not by the poll, which comes later.
        #expect(domain.watched.all == ["own"])
        domain.changeElsewhere(3)
        #expect(subscriber.changes.wait(for: 2) == ["[1] → [2]", "[2] → [3] elsewhere"])
        subscription.end()
    }

    @Test func whatCouldNotBeWatchedIsWatchedWithAnotherEntry() throws {
        domain.set(\.watchFailure, StorageFailure(path: "", reason: "no room"))
        let subscriptions = try ["own", "other"].map { try domain.feed.subscribe(to: $0, subscriber) }
        #expect(
            subscriptions.map { $0.failure?.reason } == ["no room", nil] && domain.watched.all == ["other", "own"])
        subscriptions.forEach { $0.end() }
    }

    /// It is there as long as one of them has an observer.
    @Test func oneWatchServesTheEntriesOfAFile() throws {
        let domain = FeedDomain(watchesEntries: false)
        let other = ChangeSubscriber()
        let first = try domain.feed.subscribe(to: "own", subscriber)
        let second = try domain.feed.subscribe(to: "other", other)
        first.end()
        domain.changeElsewhere(2)
        #expect(other.changes.wait(for: 1) == ["[1] → [2] elsewhere"] && subscriber.changes.all == [])
        #expect(domain.watched.all == [""])
        second.end()
        let third = try domain.feed.subscribe(to: "own", subscriber)
        #expect(domain.watched.all == ["", ""])
        third.end()
    }

    private static let noRoom = StorageFailure("inotify_add_watch", "", code: ENOSPC)

    @Test func whatCannotBeWatchedIsPolledUntilItCanBe() throws {
        domain.set(\.lasting, Self.noRoom)
        let subscription = try domain.feed.subscribe(to: "own", subscriber)
        #expect(subscription.failure == Self.noRoom)
        for number in 2...3 {
            domain.changeSilently(number)
            #expect(subscriber.changes.wait(for: number - 1).last == "[\(number - 1)] → [\(number)] elsewhere")
        }
        #expect(domain.watched.all.isEmpty)
        domain.clear(\.lasting)
        #expect(domain.watched.wait(for: 1) == ["own"])
        domain.changeElsewhere(4)
        #expect(subscriber.changes.wait(for: 3).last == "[3] → [4] elsewhere")
        subscription.end()
    }

    /// Another domain shows how often the poller has looked.
    private func poll(_ times: Int) throws {
        let other = FeedDomain()
        other.set(\.lasting, Self.noRoom)
        let subscription = try other.feed.subscribe(to: "own", ChangeSubscriber())
        other.unwatched.wait { $0.count > times }
        subscription.end()
    }

    @Test func pollingEndsWithTheWatchAndWithTheObserver() throws {
        domain.set(\.lasting, Self.noRoom)
        let subscription = try domain.feed.subscribe(to: "own", subscriber)
        domain.clear(\.lasting)
        let abandoned = FeedDomain()
        abandoned.set(\.lasting, Self.noRoom)
        try abandoned.feed.subscribe(to: "own", ChangeSubscriber()).end()
        domain.watched.wait(for: 1)
        // The poll that has watched it looks at it, too.
        try poll(1)
        let (looks, tries) = (domain.waits.all.count, abandoned.unwatched.all.count)
        try poll(2)
        #expect(domain.waits.all.count == looks && abandoned.unwatched.all.count == tries)
        subscription.end()
    }

    /// Nothing tells that other files of the process were closed.
    @Test(arguments: [EMFILE, ENFILE, ENOMEM]) func whatTheLimitOfOpenFilesHidesIsReadLater(_ code: Int32) throws {
        let subscription = try domain.feed.subscribe(to: "own", subscriber)
        domain.set(\.error, .unreadable(StorageFailure("open", "", code: code)))
        domain.changeElsewhere(2)
        #expect(subscriber.faults.wait { !$0.isEmpty } == [true])
        domain.clear(\.error)
        #expect(subscriber.changes.wait(for: 1) == ["[1] → [2] elsewhere"])
        subscription.end()
        #expect(subscriber.faults.all == [true, false])
    }

    /// Nothing tells of the end of the save.
    @Test func aLookDuringASaveTellsNothingAndIsRepeated() throws {
        let subscription = try domain.feed.subscribe(to: "own", subscriber)
        domain.set(\.saving, .milliseconds(1))
        domain.changeElsewhere(2)
        #expect(subscriber.changes.wait(for: 1) == ["[1] → [2] elsewhere"])
        subscription.end()
    }

    /// However many looks find a save, one more is due.
    @Test func looksDuringASaveCauseOneMore() throws {
        let subscription = try domain.feed.subscribe(to: "own", subscriber)
        let looks = Heard<ContinuousClock.Instant>()
        @Sendable func noteLook() {
            looks.append(.now)
            let count = looks.all.count
            guard count < 7 else { return }
            domain.set(\.saving, .seconds(1))
            domain.set(\.afterLook, noteLook)
            if count < 5 { domain.giveSign() }
        }
        domain.set(\.afterLook, noteLook)
        domain.giveSign()
        let times = looks.wait(for: 7)
        subscription.end()
        try #require(times.count == 7)
        #expect(times[6] - times[5] > .milliseconds(500))
    }

    /// One that is due later holds none back.
    @Test func theLookThatIsDueSoonerComes() throws {
        let subscription = try domain.feed.subscribe(to: "own", subscriber)
        domain.set(\.afterLook) { [domain] in
            domain.set(\.saving, .seconds(1_000))
            domain.set(\.afterLook) { domain.set(\.saving, .milliseconds(1)) }
            domain.giveSign()
        }
        domain.changeElsewhere(2)
        #expect(subscriber.changes.wait(for: 1) == ["[1] → [2] elsewhere"])
        subscription.end()
    }

    /// The queue of the feed must not wait.
    @Test func onlyASubscriptionWaits() throws {
        let subscription = try domain.feed.subscribe(to: "own", subscriber)
        #expect(domain.waits.all == [true])
        domain.giveSign()
        #expect(domain.waits.wait(for: 2) == [true, false])
        subscription.end()
    }

    /// The new observer has read of it before the others were told.
    @Test func aFaultThatANewObserverFindsIsToldToTheOthers() throws {
        let (first, other) = (try domain.feed.subscribe(to: "own", subscriber), ChangeSubscriber())
        domain.set(\.fault, FeedDomain.full)
        let second = try domain.feed.subscribe(to: "own", other)
        domain.giveSign()
        #expect(subscriber.faults.wait(for: 1) == [true])
        first.end()
        second.end()
    }

    /// The caller has locks, and a handler may end the subscription.
    @Test func theCallerRunsWhatAFaultCauses() throws {
        let told = Heard<Bool>()
        subscriber.whenFailed.withLock { $0 = { told.append(true) } }
        let observer = subscriber.observer()
        try domain.feed.subscribe(to: "own", observer).end()
        domain.set(\.fault, FeedDomain.full)
        // It moves here.
        let subscription = try domain.feed.subscribe(to: "own", observer)
        #expect(subscriber.faults.all.isEmpty && told.all.isEmpty)
        subscription.catchUp?()
        #expect(subscriber.faults.all == [true] && told.all == [true])
        // Nobody else runs what a look of the feed causes.
        domain.set(\.fault, .notStored(StorageFailure(path: "", reason: "still full")))
        domain.giveSign()
        #expect(told.wait(for: 2) == [true, true])
        subscription.end()
    }

    /// However many subscriptions it has.
    @Test func aFaultIsToldToAReaderOnce() throws {
        let twin = ChangeSubscriber(for: subscriber)
        let subscriptions = try [subscriber, twin].map { try domain.feed.subscribe(to: "own", $0) }
        domain.set(\.fault, FeedDomain.full)
        domain.giveSign()
        domain.waits.wait(for: 3)
        // The next look follows.
        domain.giveSign()
        domain.waits.wait(for: 4)
        #expect(subscriber.faults.all + twin.faults.all == [true])
        subscriptions.forEach { $0.end() }
    }

    // MARK: - Entries that a commit has not changed

    /// The commit looks only at its own entry if it starts from what all observers know.
    @Test func aChangeBeforeACommitIsToldOfToTheObserversOfOtherEntries() throws {
        let other = ChangeSubscriber()
        let subscriptions = try [
            domain.feed.subscribe(to: "own", subscriber), domain.feed.subscribe(to: "other", other),
        ]
        try domain.write(2)
        try domain.write(3)
        domain.changeSilently(9)
        try domain.write(4)
        #expect(other.changes.wait(for: 1) == ["[1] → [9] elsewhere"])
        try domain.write(5)
        let own = ["[1] → [2]", "[2] → [3]", "[3] → [9] elsewhere", "[9] → [4]", "[4] → [5]"]
        #expect(Set(subscriber.changes.wait(for: 5)) == Set(own))
        for subscription in subscriptions { subscription.end() }
    }

    @Test func anObserverThatJoinsDuringACommitOfAnotherEntryIsToldOfChangesElsewhere() throws {
        let other = ChangeSubscriber()
        // With one entry, the feed keeps no content.
        var subscriptions = try [
            domain.feed.subscribe(to: "own", subscriber), domain.feed.subscribe(to: "third", ChangeSubscriber()),
        ]
        try domain.write(2)
        try domain.write(3)
        domain.set(\.inCommit) { subscriptions.append(try self.domain.feed.subscribe(to: "other", other)) }
        try domain.write(4)
        domain.changeElsewhere(9)
        #expect(other.changes.wait(for: 1) == ["[1] → [9] elsewhere"])
        for subscription in subscriptions { subscription.end() }
    }

    /// The others know the state to which the domain returns, and the new observer does not.
    @Test func anObserverOfAnotherStateIsToldOfTheReturnToTheFormerOne() throws {
        let other = ChangeSubscriber()
        var subscriptions = [try domain.feed.subscribe(to: "own", subscriber)]
        try domain.write(2)
        try domain.write(3)
        let known = try #require(domain.content)
        domain.changeSilently(9)
        subscriptions.append(try domain.feed.subscribe(to: "other", other))
        domain.set(\.entries, known)
        try domain.write(4)
        #expect(other.changes.wait(for: 1) == ["[9] → [1] elsewhere"])
        for subscription in subscriptions { subscription.end() }
    }
}
