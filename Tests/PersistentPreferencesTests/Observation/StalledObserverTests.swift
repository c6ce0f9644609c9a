@testable import PrefsSupport
import Foundation
import TestSupport
import Testing

@testable import EngineSupport
@testable import PersistentPreferences
@testable import PrefsFileEngine
@testable import PrefsPropertyLists

/// A slow observer delays nobody and keeps a limited number of changes. The newest are merged.
@Suite struct StalledObserverTests {
    private static let capacity = WaitingChanges.capacity
    /// More than can wait.
    private static let commits = Hazard.count(1_200, long: 3_000)

    private final class NumberPrefs: PersistentPrefs, @unchecked Sendable {
        @Pref var number = 0
        override var allowedKeys: [String] { (0..<10).map { "k\($0)" } }

        /// Commit n sets the number to n, and one of ten keys.
        func commit(_ number: Int) {
            update { ($0["number"], $0["k\(number % 10)"]) = (number, number) }
        }
    }

    /// The bytes are limited, too.
    @Test func fortyLargeCommitsWhileOneIsStalled() {
        let prefs = AnyPrefs(["blob"], key: "Root", store: .memory())
        let stall = Stall()
        let heard = stall.observer(of: prefs)
        func blob(_ number: UInt8) -> Data { Data(repeating: number, count: 1 << 20) }
        prefs["blob"] = blob(1)
        stall.waitInside()
        for number in 2...40 { prefs["blob"] = blob(UInt8(number)) }
        stall.gate.open()
        let all = heard.wait { $0.last?.newValues["blob"] as? Data == blob(40) }
        // Each change holds two texts, and eight fit into the limit. So three changes wait, and all later ones are
        // merged into the last of them.
        #expect(all.map(\.count) == [1, 1, 1, 37])
        #expect(all.last?.oldValues["blob"] as? Data == blob(3))
    }

    /// The changes before and after a move to another root become one, from the first state to the last.
    @Test func changesAroundAMoveAreMerged() throws {
        let store = PrefsStore.memory()
        let prefs = AnyPrefs(["n", "other"], key: "A", store: store)
        let second = AnyPrefs(["n", "other"], key: "B", store: store)
        second.values = ["n": -1, "other": 5]
        let stall = Stall()
        let heard = stall.observer(of: prefs)
        prefs["n"] = 0
        stall.waitInside()
        for number in 1...Self.capacity { prefs["n"] = number }
        prefs.key = "B"
        second["n"] = 7
        stall.gate.open()
        let all = heard.wait(for: Self.capacity + 1)
        #expect(all.dropLast().allSatisfy { $0.root == "A" && $0.count == 1 })
        let merged = try #require(all.dropFirst(Self.capacity).first)
        #expect(merged.root == "B" && merged.count == 3 && merged.keys == ["n", "other"])
        #expect(merged.oldValues as? [String: Int] == ["n": Self.capacity - 1])
        #expect(merged.newValues as? [String: Int] == ["n": 7, "other": 5])
    }

    /// A slow observer of one key of a large root keeps only the changes of its key.
    @Test func changesOfOtherKeysTakeNoRoom() {
        let prefs = AnyPrefs(["n", "m", "blob"], key: "Root", store: .memory())
        let stall = Stall()
        func observer(of key: String) -> Observer<PrefsChange> {
            Observer { tell in
                prefs.onChange(of: key) {
                    stall.pass()
                    tell($0)
                }
            }
        }
        let (first, other) = (observer(of: "n"), observer(of: "m"))
        prefs.values = ["n": 0, "m": 0]
        stall.waitInside(2)
        for number in 1...Self.capacity {
            if number <= 3 { prefs["n"] = number }
            if number == 2 { prefs["m"] = number }
            prefs["blob"] = Data(repeating: UInt8(number & 0xFF), count: 1 << 16)
        }
        stall.gate.open()
        #expect(first.wait(for: 4).map { $0.newValues as? [String: Int] } == (0...3).map { ["n": $0] })
        #expect(other.wait(for: 2).map { $0.newValues as? [String: Int] } == [["m": 0], ["m": 2]])
        #expect((first.all + other.all).allSatisfy { $0.count == 1 })
    }

    /// Two instances with other keys on the entries of one file.
    @Test func eachInstanceOfAFlatFileHearsItsOwnKeys() throws {
        let folder = try TemporaryFolder()
        let store = PrefsStore.propertyList(url: folder.file(), layout: .flat)
        let (first, second) = (
            AnyPrefs(["a", "c"], key: "A", store: store), AnyPrefs(["b", "c"], key: "B", store: store)
        )
        let heard = Observer<PrefsChange> { tell in first.onChange { tell($0) } }
        let other = Observer<PrefsChange> { tell in second.onChange { tell($0) } }
        first["a"] = 1
        second["b"] = 2
        second["c"] = 3
        try writePropertyList(["a": 4, "b": 2, "c": 3], to: folder.file())
        #expect(heard.wait(for: 3).map { $0.newValues as? [String: Int] } == [["a": 1], ["c": 3], ["a": 4]])
        #expect(heard.all.map(\.root) == ["A", "A", "A"])
        #expect(heard.all.map { "\($0.origin)" } == ["thisProcess", "thisProcess", "elsewhere"])
        #expect(other.wait(for: 2).map { $0.newValues as? [String: Int] } == [["b": 2], ["c": 3]])
        #expect(other.all.map(\.root) == ["B", "B"])
    }

    /// Each read of a file makes its own copy of every value. Waiting changes keep an unchanged value once.
    @Test func whatDoesNotChangeIsKeptOnce() throws {
        let folder = try TemporaryFolder()
        let blob = Data(repeating: 7, count: 1 << 16)
        let prefs = AnyPrefs(["n", "blob"], key: "Root", store: .propertyList(url: folder.file()))
        prefs["blob"] = blob
        func listen(to keys: [String], _ heard: Heard<EntryChange>) throws -> EntrySubscription? {
            prefs.subscribe(to: try #require(prefs.observedRoot(of: keys)), .each { heard.append($0) })
        }
        let all = Heard<EntryChange>(), part = Heard<EntryChange>()
        let subscriptions = [try listen(to: [], all), try listen(to: ["n"], part)]
        for number in 1...6 {
            if number.isMultiple(of: 3) {
                prefs["n"] = number
            } else {
                try writePropertyList(["Root": ["n": number, "blob": blob] as [String: Any]], to: folder.file())
            }
            all.wait(for: number)
            part.wait(for: number)
        }
        let places = all.all.flatMap { [$0.before, $0.after] }.map { state -> UnsafeRawPointer? in
            guard case .data(let data)? = state.members["blob"] else { return nil }
            return data.withUnsafeBytes(\.baseAddress)
        }
        #expect(places.count == 12 && Set(places).count == 1 && places[0] != nil)
        #expect(part.all.map(\.after.members) == (1...6).map { ["n": .integer($0)] })
        subscriptions.forEach { $0?.end() }
    }

    @Test func thousandsOfCommitsWhileOneIsStalled() throws {
        let prefs = NumberPrefs(key: "Root", store: .memory())
        let stall = Stall()
        let heard = stall.observer(of: prefs), numbers = stall.observer(of: prefs.$number)
        let unhindered = prefs.observer(of: "number")
        prefs.commit(1)
        stall.waitInside(2)
        for number in 2...Self.commits { prefs.commit(number) }
        unhindered.wait { !$0.isEmpty }
        #expect(heard.all.isEmpty)
        stall.gate.open()

        // The change that was being delivered, all but one of the waiting changes, and the rest merged.
        let all = heard.wait(for: Self.capacity + 1)
        let tail = Self.commits - Self.capacity
        #expect(all.map(\.count) == Array(repeating: 1, count: Self.capacity) + [tail])
        #expect(all.map { $0.newValues["number"] as? Int } == Array(1...Self.capacity) + [Self.commits])
        for (one, next) in zip(all, all.dropFirst()) {
            #expect(one.newValues["number"] as? Int == next.oldValues["number"] as? Int)
        }
        let merged = try #require(all.dropFirst(Self.capacity).first)
        #expect(merged.keys == (0..<10).map { "k\($0)" } + ["number"])
        for key in 0..<10 {
            // The last change before the merge and the last change of all that set this key.
            let before = (Self.capacity - 9...Self.capacity).first { $0 % 10 == key }
            let after = (Self.commits - 9...Self.commits).first { $0 % 10 == key }
            #expect(merged.oldValues["k\(key)"] as? Int == before)
            #expect(merged.newValues["k\(key)"] as? Int == after)
        }
        let typed = numbers.wait(for: Self.capacity + 1)
        #expect(typed == (1...Self.capacity).map { [$0 - 1, $0] } + [[Self.capacity, Self.commits]])
        // The observer continues normally.
        prefs.commit(Self.commits + 1)
        #expect(heard.wait(for: Self.capacity + 2).last?.count == 1)
        #expect(numbers.wait(for: Self.capacity + 2).last == [Self.commits, Self.commits + 1])
    }

    /// Without a limit, hundreds of blocked closures would leave Dispatch no thread. Runs in its own process, because
    /// all observers share the threads.
    @Test func blockedClosuresLeaveTheQueuesOfTheProgramAlone() async {
        await #expect(processExitsWith: .success) {
            let prefs = NumberPrefs(key: "Root", store: .memory())
            let (gate, isInside) = (Gate(), Heard<Bool>())
            let heard = Heard<Int>(), others = Heard<String>()
            var observations = (0..<400).map { number in
                prefs.onChange { _ in
                    isInside.append(true)
                    gate.pass()
                    heard.append(number)
                }
            }
            prefs.commit(1)
            isInside.wait(for: WorkerThreads.count)
            DispatchQueue(label: "a queue of the program").async { others.append("serial") }
            DispatchQueue.global().async { others.append("global") }
            let queue = DispatchQueue(label: "an observer's")
            observations.append(prefs.onChange(on: queue) { _ in others.append("observer") })
            prefs.commit(2)
            #expect(others.wait(for: 3).sorted() == ["global", "observer", "serial"])
            #expect(prefs.number == 2)
            #expect(isInside.all.count == WorkerThreads.count)
            gate.open()
            #expect(heard.wait(for: 800).sorted() == (0..<400).flatMap { [$0, $0] })
            isInside.wait(for: 800)
            for observation in observations { observation.cancel() }
        }
    }

    /// A subscriber may have thousands of changes to receive, each of which schedules the next.
    @Test func withoutAThreadTheCallerRunsOneJobAfterTheOther() {
        let threads = WorkerThreads { _ in false }
        let order = Heard<String>()
        threads.run {
            threads.run { order.append("second") }
            order.append("first")
        }
        #expect(order.all == ["first", "second"])
        let rest = threads.begin { order.append("third") }
        #expect(order.all.count == 2)
        rest?()
        #expect(order.all == ["first", "second", "third"])
    }

    @Test func aSequenceWithoutAConsumerKeepsNoMore() async {
        let prefs = NumberPrefs(key: "Root", store: .memory())
        let changes = prefs.changes()
        let updates = prefs.$number.updates
        for number in 1...Self.commits { prefs.commit(number) }
        let counts = await changes.prefix(Self.capacity).reduce(into: []) { $0.append($1.count) }
        #expect(counts == Array(repeating: 1, count: Self.capacity - 1) + [Self.commits - Self.capacity + 1])
        let values = await updates.prefix(Self.capacity + 1).reduce(into: []) { $0.append($1) }
        #expect(values == Array(0..<Self.capacity) + [Self.commits])
    }

    /// The waiting changes are limited and no commit is lost, with every kind of access in between.
    @Test func whatWaitsIsBounded() throws {
        var waiting = WaitingChanges()
        var (put, taken, length, longest) = (0, 0, 0, 0)
        var last = 0
        var generator = SeededGenerator(seed: 6)
        for _ in 0..<Hazard.count(40, long: 200) {
            for _ in 0..<Int.random(in: 0...300, using: &generator) {
                let (before, after) = (
                    StoredValue.dictionary(["n": StoredValue(put)]), StoredValue.dictionary(["n": StoredValue(put + 1)])
                )
                let change = try #require(EntryChange(of: "", from: before, to: after, isForeign: put % 100 == 99))
                waiting.append(change)
                put += 1
                length = min(length + 1, Self.capacity)
                longest = max(longest, length)
            }
            for _ in 0..<Int.random(in: 0...200, using: &generator) {
                guard let change = waiting.popFirst() else { break }
                length -= 1
                #expect(change.difference.old["n"] == StoredValue(last))
                last += change.count
                #expect(change.difference.new["n"] == StoredValue(last))
                #expect(change.isForeign == (taken..<last).contains { $0 % 100 == 99 })
                taken = last
            }
            #expect(waiting.isEmpty == (length == 0))
        }
        while let change = waiting.popFirst() {
            length -= 1
            last += change.count
        }
        #expect((last, length, longest) == (put, 0, Self.capacity))
    }

    /// A key that has its former value again is named, with that value in old and new.
    @Test func aChangeThatIsUndoneWhileItWaitsIsStillNamed() {
        let prefs = NumberPrefs(key: "Root", store: .memory())
        prefs.commit(0)
        let stall = Stall()
        let heard = stall.observer(of: prefs), numbers = stall.observer(of: prefs.$number)
        for number in 1...Self.capacity { prefs["number"] = number }
        stall.waitInside(2)
        // The last waiting change, and the changes that are merged into it: a change and its reversal.
        prefs["number"] = -1
        prefs["number"] = -2
        prefs["number"] = -1
        prefs["number"] = Self.capacity
        stall.gate.open()
        let all = heard.wait { $0.reduce(0) { $0 + $1.count } == Self.capacity + 4 }
        #expect(all.last?.newValues["number"] as? Int == Self.capacity)
        #expect(all.last?.oldValues["number"] as? Int == Self.capacity)
        #expect(all.last?.keys == ["number"])
        prefs["number"] = 0
        #expect(heard.wait { $0.last?.newValues["number"] as? Int == 0 }.last?.count == 1)
        // For the property, nothing has changed.
        let typed = numbers.wait { $0.last?.last == 0 }
        #expect(typed.suffix(2) == [[Self.capacity - 1, Self.capacity], [Self.capacity, 0]])
    }
}
