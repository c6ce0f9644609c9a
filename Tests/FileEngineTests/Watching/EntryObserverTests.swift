import Foundation
import PrefsPropertyLists
import TestSupport
import Testing

@testable import EngineSupport
@testable import PrefsFileEngine

/// What an observer gets of a change, in which order, and after a move to another entry.
@Suite(.waits) struct EntryObserverTests {
    private let domain = FeedDomain()
    private let subscriber = ChangeSubscriber()

    private static func seen(_ keys: Set<String>) -> SeenMembers {
        SeenMembers(keys, of: SeenMembers.Shape(version: nil, formerKeys: []))
    }

    /// Each observer gets the changes that it sees. Those of one change are told in the order in which they were added.
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
                    of: keys.map(Self.seen),
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
            of: keys.map(Self.seen),
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
        domain.set(\.error, FeedDomain.full)
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

    /// What is made of an entry, as between layers, changes in as many steps as the entry.
    @Test func whatIsMadeOfMergedChangesKeepsTheirKeysAndNumber() throws {
        func entry(_ a: Int?, _ b: Int) -> StoredValue {
            .dictionary(
                ["a": a.map { StoredValue($0) }, "b": StoredValue(b), "c": StoredValue(0)].compactMapValues(\.self))
        }
        func change(_ before: StoredValue, _ after: StoredValue) throws -> EntryChange {
            try #require(EntryChange(of: "R", from: before, to: after, isForeign: false))
        }
        var merged = try change(entry(1, 1), entry(2, 1))
        merged.append(try change(entry(2, 1), entry(1, 2)))
        let made = try #require(merged.mapped(\.value))
        #expect(made.count == 2 && made.difference.keys == ["a", "b"])
        #expect(made.difference.old == ["a": .integer(1), "b": .integer(1)])
        #expect(made.difference.new == ["a": .integer(1), "b": .integer(2)])
        // Nothing is left of what a layer hides.
        #expect(merged.mapped { _ in .dictionary(["c": .integer(0)]) } == nil)
        #expect(try change(entry(1, 1), entry(2, 1)).mapped { _ in entry(1, 1) } == nil)
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
        domain.set(\.error, FeedDomain.full)
        let first = try domain.feed.subscribe(to: "own", observer)
        domain.clear(\.error)
        domain.changeSilently(2)
        let second = try domain.feed.subscribe(to: "own", ChangeSubscriber())
        #expect(second.catchUp == nil)
        #expect(subscriber.changes.wait(for: 1) == ["[1] → [2] elsewhere"])
        first.end()
        second.end()
    }

    /// A root of the shape of this version shows each member by itself; so does that of a later version. Otherwise the whole
    /// root is seen, before a change and after it.
    @Test func theShapeBeforeAndAfterAChangeDecides() throws {
        let shape = SeenMembers.Shape(version: ("v", 2), formerKeys: ["former", "older"])
        func root(_ version: Int?, _ members: [String: StoredValue]) -> StoredValue {
            .dictionary(version.map { members.merging(["v": StoredValue($0)]) { $1 } } ?? members)
        }
        let one = StoredValue(1), two = StoredValue(2)
        let cases: [(before: StoredValue, after: StoredValue, told: Set<String>)] = [
            (root(2, ["b": one]), root(2, ["b": two]), []), (root(3, ["b": one]), root(3, ["b": two]), []),
            (root(2, ["b": one]), root(3, ["b": two]), ["v"]), (root(1, ["b": one]), root(1, ["b": two]), ["b"]),
            (root(nil, ["b": one]), root(nil, ["b": two]), ["b"]),
            (root(2, ["b": one]), root(1, ["b": two]), ["b", "v"]),
            (root(1, ["b": one]), root(2, ["b": two]), ["b", "v"]), (root(2, ["b": one]), root(2, [:]), []),
            (root(2, ["b": one]), root(2, ["older": one]), ["b", "older"]),
            (root(2, ["former": one]), root(2, ["b": two]), ["b", "former"]),
            (root(2, ["a": one]), root(2, ["a": two, "b": two]), ["a"]),
        ]
        for (number, (before, after, told)) in cases.enumerated() {
            let heard = Heard<EntryChange>()
            var table = ObserverTable()
            table.append(EntryObserver(of: SeenMembers(["a"], of: shape), .each(heard.append))) {}
            let change = try #require(EntryChange(of: "R", from: before, to: after, isForeign: false))
            for action in table.put(change).inOrder { action() }
            #expect(heard.all.map(\.difference.keys) == (told.isEmpty ? [] : [told]), "\(number)")
        }
    }

    /// Changes of two roots that an observer takes as one have the key of the second.
    @Test func aMergedChangeIsOneOfTheLastRoot() throws {
        func change(_ key: String, _ before: Int, _ after: Int) throws -> EntryChange {
            try #require(EntryChange(of: key, from: StoredValue(before), to: StoredValue(after), isForeign: false))
        }
        var waiting = WaitingChanges()
        for number in 0..<WaitingChanges.capacity { waiting.append(try change("first", number, number + 1)) }
        let number = WaitingChanges.capacity
        waiting.append(try change("second", number, number + 1))
        var last: EntryChange?
        while let next = waiting.popFirst() { last = next }
        #expect(last?.key == "second" && last?.count == 2)
        #expect(last?.before.value == StoredValue(number - 1) && last?.after.value == StoredValue(number + 1))
    }
}
