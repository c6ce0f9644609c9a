import Foundation
import PrefsPropertyLists
import TestSupport
import Testing

@testable import EngineSupport
@testable import PrefsFileEngine

/// What a feed does if a subscription fails, if the path leads elsewhere, and if others write in the middle of a commit.
extension ChangeFeedTests {
    /// The next observer watches anew.
    @Test func aSubscriptionThatFailsLeavesNoWatch() throws {
        domain.set(\.error, .pathChanged)
        #expect(throws: FileError.pathChanged) { try domain.feed.subscribe(to: "own", subscriber) }
        #expect(!domain.feed.hasObservers)
        domain.clear(\.error)
        let subscription = try domain.feed.subscribe(to: "own", subscriber)
        #expect(domain.watched.all == ["own", "own"])
        // Nor does one that fails later end the watch of those that have begun.
        domain.set(\.error, .pathChanged)
        #expect(throws: FileError.pathChanged) { try domain.feed.subscribe(to: "own", ChangeSubscriber()) }
        domain.clear(\.error)
        domain.changeElsewhere(2)
        #expect(subscriber.changes.wait(for: 1) == ["[1] → [2] elsewhere"])
        #expect(domain.watched.all == ["own", "own"])
        subscription.end()
        #expect(!domain.feed.hasObservers)
    }

    /// A domain that is being saved says nothing of its entries.
    @Test func anObserverThatMovesDuringASaveHearsOfNoRemoval() throws {
        let observer = subscriber.observer()
        try domain.feed.subscribe(to: "own", observer).end()
        domain.set(\.saving, .milliseconds(1))
        let subscription = try domain.feed.subscribe(to: "other", observer)
        subscription.catchUp?()
        #expect(subscription.catchUp == nil && subscriber.changes.all == [])
        // The look that is due tells it that nothing is different.
        domain.waits.wait { $0.count >= 3 }
        domain.changeElsewhere(2)
        #expect(subscriber.changes.wait(for: 1) == ["[1] → [2] elsewhere"])
        subscription.end()
    }

    /// Two observers of one entry, one of another entry, and one of some keys.
    @Test func eachObserverIsToldThatThePathLeadsElsewhere() throws {
        let told = Heard<Int>()
        let shape = SeenMembers.Shape(version: nil, formerKeys: [])
        let observers =
            [
                ("own", nil), ("own", nil), ("other", nil), ("own", SeenMembers(["a"], of: shape)),
            ] as [(String, SeenMembers?)]
        let subscriptions = try observers.enumerated().map { number, place in
            try domain.feed.subscribe(to: place.0, EntryObserver(of: place.1, .waiting { nil })) { told.append(number) }
        }
        domain.set(\.error, .pathChanged)
        let looks = domain.waits.all.count
        domain.giveSign()
        domain.waits.wait { $0.count > looks }
        // The next look comes after all were told.
        domain.giveSign()
        domain.waits.wait { $0.count > looks + 1 }
        #expect(told.all.prefix(4).sorted() == [0, 1, 2, 3])
        for subscription in subscriptions { subscription.end() }
    }

    /// Both states of each step, as in a file that rounds dates. What was set is nowhere read.
    @Test func stepsAreToldInTheFormInWhichTheyAreStored() throws {
        let subscription = try domain.feed.subscribe(to: "own", subscriber)
        func content(_ number: Int) -> DomainContent { ["own": .array([StoredValue(number)])] }
        func rounded(_ content: DomainContent?) -> DomainContent? {
            content?.mapValues { value in
                .array((value.object as? [Int] ?? []).map { StoredValue($0 / 10 * 10 + 1) })
            }
        }
        domain.feed.willCommit()
        let steps = [(1, 12), (12, 34), (34, 35)].map { CommitStep(before: content($0), after: content($1)) }
        domain.feed.didCommit(steps, as: rounded).joined().forEach { $0() }
        #expect(subscriber.changes.all == ["[1] → [11]", "[11] → [31]"])
        subscription.end()
    }

    /// A server: others may write between the look of a commit and its end. What they have changed comes with the next look.
    @Test func aCommitHidesNothingThatOthersHaveWritten() throws {
        let domain = FeedDomain(mayOthersWrite: true), other = ChangeSubscriber()
        let subscriptions = try [
            domain.feed.subscribe(to: "own", subscriber), domain.feed.subscribe(to: "other", other),
        ]
        for number in 2...4 {
            domain.changeSilently(10 * number)
            try domain.write(number)
            #expect(other.changes.all.count == number - 2)
            domain.giveSign()
            #expect(other.changes.wait(for: number - 1).last?.hasSuffix("→ [\(10 * number)] elsewhere") == true)
        }
        #expect(subscriber.changes.all == ["[1] → [2]", "[2] → [3]", "[3] → [4]"])
        for subscription in subscriptions { subscription.end() }
    }

    /// It hears of the update once that is stored, and of nothing if it is not.
    @Test(arguments: [true, false])
    func anObserverThatJoinsInsideAnUpdateStartsFromTheCommittedState(_ isStored: Bool) throws {
        let folder = try TemporaryFolder()
        let root = folder.root()
        root["a"] = 1
        let observer = EntryObserver(.waiting { nil })
        var subscription: EntrySubscription?
        root.update {
            root["a"] = 2
            subscription = try root.location.subscribe(to: .root(FileRoot.key), observer)
            root["a"] = 3
            if !isStored { throw Self.refused }
        }
        #expect(subscription?.start.members == ["a": .integer(1)])
        root["a"] = 4
        let steps = sequence(state: observer) { $0.takeFirst() }.map { change in
            "\(change.before.members["a"]?.object ?? "-") → \(change.after.members["a"]?.object ?? "-") \(change.isForeign)"
        }
        #expect(steps == (isStored ? ["1 → 3 false", "3 → 4 false"] : ["1 → 4 false"]))
        subscription?.end()
    }

    private static let refused = FileError.notStored(StorageFailure(path: "", reason: "refused"))
}
