import Foundation
import PrefsPropertyLists
import TestSupport
import Testing

@testable import EngineSupport
@testable import PrefsFileEngine

/// Changes that observers receive if they subscribe, or if others write, during a reload or a commit.
@Suite(.waits) struct ChangeFeedTests {
    private let domain = Domain()
    private let subscriber = ChangeSubscriber()

    /// Two entries, which other processes change, too.
    private final class Domain: TransactionSession, FeedSource, @unchecked Sendable {
        let feed = ChangeFeed()
        let queue: TransactionQueue
        /// Whether each look waits.
        let waits = Heard<Bool>()
        /// The entries, as they are watched.
        let watched = Heard<String>()
        /// The entries whose watch could not start.
        let unwatched = Heard<String>()
        private let state = Locked(State())

        struct State {
            var entries: [String: StoredValue]? = ["own": Domain.numbers(1), "other": Domain.numbers(1)]
            var changed: (@Sendable () -> Void)?
            /// Called once, after the next read of the entries and before its result is used.
            var afterLook: (() -> Void)?
            /// Called once, in the middle of the next commit.
            var inCommit: (() throws -> Void)?
            /// The error of the next watch.
            var watchFailure: StorageFailure?
            /// The error of every watch.
            var lasting: StorageFailure?
            var fault: FileError?
            /// Why the entries cannot be read.
            var error: FileError?
            /// When the look after the next one is due, because another program is saving the domain.
            var saving: Duration?
        }

        let watchesEntries: Bool

        init(watchesEntries: Bool = true) {
            self.watchesEntries = watchesEntries
            queue = TransactionQueue(reportingTo: feed)
            feed.start(self)
        }

        func watch(entry: String, _ changed: @escaping @Sendable () -> Void) throws(StorageFailure) -> AnyObject? {
            if let failure = take(\.watchFailure) ?? state.withLock({ $0.lasting }) {
                unwatched.append(entry)
                throw failure
            }
            set(\.changed, changed)
            watched.append(entry)
            return self
        }

        func set<Part>(_ part: WritableKeyPath<State, Part?>, _ value: Part) {
            state.withLock { $0[keyPath: part] = value }
        }

        private func take<Part>(_ part: WritableKeyPath<State, Part?>) -> Part? {
            state.withLock { state in
                defer { state[keyPath: part] = nil }
                return state[keyPath: part]
            }
        }

        var content: [String: StoredValue]? { state.withLock { $0.entries } }

        func committedState(waits: Bool) throws -> DomainState {
            let found = content
            self.waits.append(waits)
            take(\.afterLook)?()
            if let error = state.withLock({ $0.error }) { throw error }
            if let next = take(\.saving) {
                return DomainState(nil, isDuringSave: true, nextLook: next)
            }
            return DomainState(found, warning: state.withLock { $0.fault })
        }

        func commit(_ content: [String: StoredValue], durability: CommitDurability) throws {
            try take(\.inCommit)?()
            set(\.entries, content)
        }

        private static func numbers(_ number: Int) -> StoredValue { .array([StoredValue(number)]) }

        func write(_ number: Int) throws {
            try queue.transact(durability: .process, begin: { self }) { $0["own"] = Self.numbers(number) }
        }

        func changeElsewhere(_ number: Int) {
            changeSilently(number)
            giveSign()
        }

        func changeSilently(_ number: Int) {
            set(\.entries, ["own": Self.numbers(number), "other": Self.numbers(number)])
        }

        func clear<Part>(_ part: WritableKeyPath<State, Part?>) { _ = take(part) }

        func giveSign() { state.withLock { $0.changed }?() }
    }

    private static let full = FileError.notStored(StorageFailure(path: "", reason: "full"))

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

    /// A reload is postponed until the commit is over. A test cannot see that, so it repeats.
    @Test func aChangeElsewhereDuringACommitIsToldOf() throws {
        let subscription = try domain.feed.subscribe(to: "own", subscriber)
        for number in 2...21 {
            domain.set(\.inCommit) {
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
        let domain = Domain(watchesEntries: false)
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
        let other = Domain()
        other.set(\.lasting, Self.noRoom)
        let subscription = try other.feed.subscribe(to: "own", ChangeSubscriber())
        other.unwatched.wait { $0.count > times }
        subscription.end()
    }

    @Test func pollingEndsWithTheWatchAndWithTheObserver() throws {
        domain.set(\.lasting, Self.noRoom)
        let subscription = try domain.feed.subscribe(to: "own", subscriber)
        domain.clear(\.lasting)
        let abandoned = Domain()
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
    @Test func whatTheLimitOfOpenFilesHidesIsReadLater() throws {
        let subscription = try domain.feed.subscribe(to: "own", subscriber)
        domain.set(\.error, .unreadable(StorageFailure("open", "", code: EMFILE)))
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
        domain.set(\.fault, Self.full)
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
        domain.set(\.fault, Self.full)
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
        domain.set(\.fault, Self.full)
        domain.giveSign()
        domain.waits.wait(for: 3)
        // The next look follows.
        domain.giveSign()
        domain.waits.wait(for: 4)
        #expect(subscriber.faults.all + twin.faults.all == [true])
        subscriptions.forEach { $0.end() }
    }

    /// Each gets what it sees, in the order of coming, whoever else there is.
    @Test(arguments: 0..<20 as Range<UInt64>) func aChangeIsPutIntoThoseThatSeeIt(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let names = ["a", "b", "c", "d"]
        var table = ObserverTable()
        var model: [(observer: EntryObserver, keys: Set<String>?, number: Int)] = []
        let heard = Locked<[String]>([])
        for number in 0..<300 {
            if model.isEmpty || Int.random(in: 0..<5, using: &generator) < 3 {
                let keys =
                    Bool.random(using: &generator)
                    ? nil : Set(names.filter { _ in Bool.random(using: &generator) })
                let new = EntryObserver(
                    of: keys,
                    .each { change in
                        let keys = change.difference.keys.sorted().joined()
                        heard.withLock { $0.append("\(number) \(keys) \(change.after.members.keys.sorted().joined())") }
                    })
                table.append(new) {}
                model.append((new, keys, number))
            } else {
                let old = model.remove(at: Int.random(in: 0..<model.count, using: &generator)).observer
                let removals = [table.remove(old), table.remove(old)]
                #expect(removals == [true, false])
            }
            #expect(table.all.map { ObjectIdentifier($0.observer) } == model.map { ObjectIdentifier($0.observer) })
            let changed = names.filter { _ in Bool.random(using: &generator) }
            var after: [String: StoredValue] = ["a": .integer(0), "b": .integer(0), "c": .integer(0)]
            let before = after
            for name in changed { after[name] = name == "b" ? nil : .integer(1) }
            guard
                let change = EntryChange(
                    of: "R", from: .dictionary(before), to: .dictionary(after), isForeign: false)
            else { continue }
            table.put(change).forEach { $0.run() }
            let expected = model.compactMap { _, keys, number -> String? in
                let own = keys.map { change.difference.keys.intersection($0) } ?? change.difference.keys
                if keys != nil, own.isEmpty { return nil }
                let members = keys.map { $0.intersection(after.keys) } ?? Set(after.keys)
                return "\(number) \(own.sorted().joined()) \(members.sorted().joined())"
            }
            #expect(heard.withLock { $0 } == expected)
            heard.withLock { $0 = [] }
        }
        for entry in model {
            let isRemoved = table.remove(entry.observer)
            #expect(isRemoved)
        }
        #expect(table.isEmpty)
    }

    /// An observer of some members that moves gets the difference in these alone.
    @Test(arguments: [nil, ["a"]] as [Set<String>?]) func aMoveIsADifference(keys: Set<String>?) throws {
        func entry(_ a: Int, _ b: Int) -> StoredValue { .dictionary(["a": StoredValue(a), "b": StoredValue(b)]) }
        domain.set(\.entries, ["own": entry(1, 1), "other": entry(2, 2), "equal": entry(2, 3)])
        let heard = Heard<String>()
        let observer = EntryObserver(
            of: keys,
            .each { change in
                let parts = change.difference.keys.sorted().map { key in
                    "\(key): \(change.difference.old[key]?.object ?? "-") → \(change.difference.new[key]?.object ?? "-")"
                }
                heard.append("\(change.key) \(parts.joined(separator: ", "))\(change.isForeign ? " elsewhere" : "")")
            })
        try domain.feed.subscribe(to: "own", observer).end()
        observer.moveByAssignment(to: "other")
        let second = try domain.feed.subscribe(to: "other", observer)
        second.catchUp?()
        let first = keys == nil ? "other a: 1 → 2, b: 1 → 2" : "other a: 1 → 2"
        #expect(heard.all == [first])
        second.end()
        let third = try domain.feed.subscribe(to: "equal", observer)
        third.catchUp?()
        // What nobody assigned is a foreign change.
        let next = keys == nil ? ["equal b: 2 → 3 elsewhere"] : []
        #expect(heard.wait(for: 1 + next.count) == [first] + next)
        third.end()
    }

    /// An observer that moves to what cannot be read gets the difference once it can be, and a new one, which begins
    /// with nothing, gets all.
    @Test(arguments: [true, false]) func whatCannotBeReadAtAMoveIsToldLater(isCommitted: Bool) throws {
        let observer = subscriber.observer()
        try domain.feed.subscribe(to: "own", observer).end()
        domain.set(\.error, Self.full)
        let new = ChangeSubscriber()
        let subscriptions = [
            try domain.feed.subscribe(to: "own", observer), try domain.feed.subscribe(to: "own", new.observer()),
        ]
        subscriptions.forEach { $0.catchUp?() }
        #expect(subscriber.changes.all == [] && new.changes.all == [])
        domain.changeSilently(2)
        domain.clear(\.error)
        if isCommitted { try domain.write(3) } else { domain.giveSign() }
        let next = isCommitted ? ["[2] → [3]"] : []
        // The foreign changes come on the main queue, and may come after those of this thread.
        #expect(Set(subscriber.changes.wait(for: 1 + next.count)) == Set(["[1] → [2] elsewhere"] + next))
        #expect(Set(new.changes.wait(for: 1 + next.count)) == Set(["- → [2] elsewhere"] + next))
        subscriptions.forEach { $0.end() }
    }

    /// The first of them may be held up on its thread.
    @Test func eachChangeThatWaitsWakes() throws {
        let wakes = Heard<Int>()
        let observer = EntryObserver(
            .waiting {
                wakes.append(0)
                return nil
            })
        let subscription = try domain.feed.subscribe(to: "own", observer)
        for number in 2...4 { try domain.write(number) }
        #expect(wakes.all.count == 3)
        subscription.end()
    }

    /// What may block comes last.
    @Test func thoseThatWaitAreWokenBeforeCodeOfTheProgramRuns() throws {
        let told = Heard<String>()
        let call = EntryObserver(.each { _ in told.append("call") })
        let waits = EntryObserver(
            .waiting {
                told.append("wake")
                return nil
            })
        let subscriptions = try [call, waits].map { try domain.feed.subscribe(to: "own", $0) }
        try domain.write(2)
        #expect(told.all == ["wake", "call"])
        subscriptions.forEach { $0.end() }
    }

    /// Nobody runs what its own subscription has for it: it has nothing for a new observer.
    @Test func aNewObserverFindsTheStateForWhoWaits() throws {
        let observer = subscriber.observer()
        try domain.feed.subscribe(to: "own", observer).end()
        domain.set(\.error, Self.full)
        let first = try domain.feed.subscribe(to: "own", observer)
        domain.clear(\.error)
        domain.changeSilently(2)
        let second = try domain.feed.subscribe(to: "own", ChangeSubscriber())
        #expect(second.catchUp == nil)
        #expect(subscriber.changes.wait(for: 1) == ["[1] → [2] elsewhere"])
        first.end()
        second.end()
    }
}

extension ChangeFeed {
    /// Subscribes an observer of its own.
    func subscribe(to key: String, _ subscriber: ChangeSubscriber) throws -> EntrySubscription {
        try subscribe(to: key, subscriber.observer())
    }
}

/// Records each change and fault, and the threads that run the actions afterwards.
final class ChangeSubscriber: Sendable {
    let changes = Heard<String>()
    let faults = Heard<Bool>()
    let threads = Heard<ObjectIdentifier>()
    /// What the action of a fault runs.
    let whenFailed = Locked<(@Sendable () -> Void)?>(nil)
    private let instance: ChangeSubscriber?

    /// - Parameter instance: the reader of this subscriber; nil if it is one itself.
    init(for instance: ChangeSubscriber? = nil) { self.instance = instance }

    static func text(_ change: EntryChange) -> String {
        func text(_ entry: EntryState) -> String { (entry.value?.object as? [Int]).map { "\($0)" } ?? "-" }
        return "\(text(change.before)) → \(text(change.after))\(change.isForeign ? " elsewhere" : "")"
    }

    func observer() -> EntryObserver {
        EntryObserver(
            .each { [changes, threads] change in
                changes.append(Self.text(change))
                threads.append(ObjectIdentifier(Thread.current))
            }, reader: instance ?? self
        ) { [faults, whenFailed] error in
            faults.append(error != nil)
            return whenFailed.withLock { $0 }
        }
    }
}
