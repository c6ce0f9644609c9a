import Foundation
import PrefsLayers
import PrefsStoreKit
import Testing

@testable import EngineSupport
@testable import PersistentPreferences
@testable import PrefsSupport

/// Each fault that reads meet is told once; a fault that ends and returns is told again.
@Suite(.waits) struct ToldFaultsTests {
    final class ToolPrefs: PersistentPrefs, @unchecked Sendable {
        @Pref var size = 12
        @Pref var name = ""
        override var allowedKeys: [String] { ["free"] }
    }

    private let folder = TemporaryFolder.fresh

    private var url: URL { folder.file("tool.plist") }

    private func put(_ values: NSDictionary) throws { try writePropertyList(values, to: url) }

    private func prefs() -> ToolPrefs {
        ToolPrefs(store: .propertyList(url: url, durability: .crash, layout: .flat))
    }

    /// An instance on a file with these values, and its errors.
    private func observed(_ values: NSDictionary) throws -> (ToolPrefs, Observer<String>) {
        try put(values)
        let prefs = prefs()
        return (prefs, prefs.errorObserver())
    }

    @Test func aBadValueIsToldOnceForEachState() throws {
        let (prefs, heard) = try observed(["size": "x"])
        for _ in 0..<1_000 {
            #expect(prefs.size == 12 && prefs.lastError != nil, "lastError is the outcome of each access")
            #expect(prefs.name == "" && prefs.lastError == nil)
        }
        #expect(heard.all == ["size: expected Int, found a string"])
        // Another state with the same fault: it stands.
        try put(["size": "x", "name": "n"])
        _ = (prefs.size, prefs.size)
        #expect(heard.all.count == 1)
        // It ends and returns.
        try put(["size": 1])
        #expect(prefs.size == 1)
        expectEventually(prefs.state.errorHandlers?.hasTold, is: false)
        try put(["size": "x"])
        _ = (prefs.size, prefs.size)
        expectEventually(heard.all, "2 faults") { $0.count == 2 }
        // Another instance has its own handlers.
        let other = self.prefs()
        let others = other.errorObserver()
        _ = (other.size, other.size)
        #expect(others.all.count == 1)
    }

    @Test func eightThreadsTellItOnce() throws {
        let (prefs, heard) = try observed(["size": "x"])
        DispatchQueue.concurrentPerform(iterations: 8) { _ in for _ in 0..<500 { _ = prefs.size } }
        #expect(heard.all.count == 1)
    }

    @Test func everyRejectedAccessIsTold() throws {
        let (prefs, heard) = try observed(["size": 1])
        for _ in 0..<3 { prefs["free"] = NSObject() }
        for _ in 0..<2 { prefs["unknown"] = 1 }
        for _ in 0..<2 { _ = prefs["unknown"] }
        #expect(heard.all.count == 7)
    }

    /// Whatever key is read, until a read succeeds.
    @Test func aFileThatCannotBeReadIsToldOnce() throws {
        let (prefs, heard) = try observed(["size": 1])
        for round in 1...2 {
            try Data("hello".utf8).write(to: url)
            #expect(prefs.problems().count == 1)
            for _ in 0..<100 { _ = (prefs.size, prefs.name, prefs.values, prefs["free"], prefs.visibleCount()) }
            expectEventually(heard.all, "\(2 * round - 1) faults") { $0.count == 2 * round - 1 }
            try Data("hello, world".utf8 + [0]).write(to: url)
            #expect(prefs.problems().count == 1)
            _ = (prefs.size, prefs.name)
            // It may have the same reason.
            #expect(heard.all.count <= 2 * round)
            try put(["size": round])
            #expect(prefs.size == round && prefs.lastError == nil)
            expectEventually(prefs.state.errorHandlers?.hasTold, is: false)
            if heard.all.count < 2 * round { heard.heard.append("the same reason") }
        }
    }

    /// The observers of each root of a file are told of its fault, and of its end.
    @Test func aFaultOfAFileIsToldInEachRoot() throws {
        let store = PrefsStore.propertyList(url: url, durability: .crash)
        let all = ["A", "B", "C"].map { ToolPrefs(key: $0, store: store) }
        for (number, prefs) in all.enumerated() { prefs.size = number }
        let heard = all.map { $0.errorObserver() }
        try Data("hello".utf8).write(to: url)
        for (number, one) in heard.enumerated() {
            #expect(Patience.until { one.all.count == 1 }, "\(all[number].key): \(one.all)")
        }
        try put(["A": ["size": 7]])
        for prefs in all { #expect(Patience.until { prefs.state.errorHandlers?.hasTold == false }) }
        #expect(all.map(\.size) == [7, 12, 12] && heard.allSatisfy { $0.all.count == 1 })
    }

    /// A store without revisions.
    @Test func aBadValueInAStoreOfAnotherModuleIsToldUntilItFits() throws {
        let store = ForeignBackend().store
        try store.update(root: "R") { $0 = ["size": "x"] }
        let prefs = ToolPrefs(key: "R", store: store)
        let heard = prefs.errorObserver()
        for _ in 0..<100 { _ = (prefs.size, prefs.name) }
        #expect(heard.all.count == 1)
        try store.update(root: "R") { $0 = ["size": 5] }
        #expect(prefs.size == 5)
        try store.update(root: "R") { $0 = ["size": "x"] }
        _ = (prefs.size, prefs.size)
        #expect(heard.all.count == 2)
    }

    /// Of two closures, the second one begins while the value does not fit, and the first one knows nothing of it. Nor does the
    /// instance, unless a read has met the value before.
    @Test(arguments: [true, false]) func aFaultEndsForEachClosureThatKnowsIt(isMet: Bool) throws {
        let store = ForeignBackend().store
        func put(_ size: Any) throws { try store.update(root: "R") { $0 = ["size": size] } }
        try put("x")
        let prefs = ToolPrefs(key: "R", store: store)
        if isMet { #expect(prefs.size == 12) }
        try put(1)
        let first = prefs.errorObserver()
        try put("x")
        let second = prefs.errorObserver()
        #expect((first.all.count, second.all.count) == (0, 1))
        try put(2)
        #expect(prefs.size == 2)
        try put("x")
        #expect(prefs.size == 12)
        #expect((first.all.count, second.all.count) == (1, 2))
    }

    private final class SteppedPrefs: PersistentPrefs, @unchecked Sendable {
        @Pref var size = 12
        override class var migrations: [PrefsMigration] {
            [PrefsMigration(to: 1) { if $0["size"] as? String == "x" { throw Stop() } }]
        }
    }

    /// Of a store without revisions, no look shows the end. Two closures, of which the second begins with the fault.
    @Test(arguments: [true, false]) func aFaultOfAStoreThatNoAccessHasMetEndsWithARead(isOfRoot: Bool) throws {
        let isBroken = Locked(false)
        let store = ForeignBackend(beforeRead: { _ in if !isOfRoot, isBroken.withLock(\.self) { throw Stop() } }).store
        func put(_ size: Any, breaks: Bool) throws {
            isBroken.withLock { $0 = false }
            try store.update(root: "R") { $0 = ["size": size] }
            isBroken.withLock { $0 = breaks }
        }
        let prefs = SteppedPrefs(key: "R", store: store)
        let first = prefs.errorObserver()
        for round in 1...3 {
            try put("x", breaks: true)
            // Met by the look of the closure, and not by an access.
            let second = prefs.errorObserver()
            #expect((first.all.count, second.all.count) == (round - 1, 1))
            try put(2, breaks: false)
            #expect(prefs.size == 2 && prefs.lastError == nil)
            try put("x", breaks: true)
            for _ in 0..<2 { #expect(prefs.size == 12) }
            #expect((first.all.count, second.all.count) == (round, 2), "round \(round)")
            try put(2, breaks: false)
            #expect(prefs.size == 2)
        }
    }

    /// A read of all values ends the faults of each.
    @Test func aReadOfEffectiveValuesEndsTheFaultsOfAllThatFit() throws {
        let store = ForeignBackend().store
        let prefs = ToolPrefs(key: "R", store: store)
        let heard = prefs.errorObserver()
        let bad: [String: any Sendable] = ["size": "x", "name": 5],
            good: [String: any Sendable] = ["size": 1, "name": "n"]
        for round in 1...2 {
            try store.update(root: "R") { $0 = bad }
            for _ in 0..<2 { #expect(prefs.effectiveValues as NSDictionary == ["size": 12, "name": ""]) }
            #expect(heard.all.count == 2 * round, "\(heard.all)")
            try store.update(root: "R") { $0 = good }
            #expect(prefs.effectiveValues as NSDictionary == good as NSDictionary)
        }
    }

    /// The warning tells of two classes, and not of what is stored.
    @Test func aReadEndsNoWarning() {
        final class Whole: PersistentPrefs, @unchecked Sendable { @Pref var width = 1 }
        final class Half: PersistentPrefs, @unchecked Sendable { @Pref var width = "1" }
        let store = ForeignBackend().store
        let (whole, half) = (Whole(key: "R", store: store), Half(key: "R", store: store))
        let heard = half.errorObserver()
        #expect(heard.all.count == 1 && half.lastError?.isWarning == true)
        for _ in 0..<2 { #expect(half.width == "1" && half.lastError == nil && half.values.isEmpty) }
        #expect(half.state.errorHandlers?.hasTold == true && heard.all.count == 1)
        _ = whole
    }

    @Test func aFaultOfALayerIsToldOnce() throws {
        let layer = folder.file("layer.plist")
        try writePropertyList(["size": "x"], to: layer)
        let prefs = ToolPrefs(
            store: .layered(.propertyList(url: url, layout: .flat), above: [.file(layer)]))
        let heard = prefs.errorObserver()
        for _ in 0..<100 { _ = (prefs.size, prefs.name) }
        #expect(heard.all.count <= 1, "the first read of the instance may have told it")
        try writePropertyList(["size": 3], to: layer)
        #expect(prefs.size == 3 && prefs.visibleCount() == 1)
        expectEventually(prefs.state.errorHandlers?.hasTold, is: false)
        let before = heard.all.count
        try writePropertyList(["size": "x"], to: layer)
        for _ in 0..<100 { _ = (prefs.size, prefs.values) }
        expectEventually(heard.all, "\(before + 1) faults") { $0.count == before + 1 }
    }

    /// Observers of one instance share its handlers.
    @Test func observersTellAFaultOnce() throws {
        let (prefs, heard) = try observed(["size": 1])
        let sizes = Heard<Int>()
        let observations = (0..<5).map { _ in prefs.$size.onChange { sizes.append($1) } }
        let writer = self.prefs()
        writer["size"] = 2
        #expect(sizes.wait(for: 5) == [2, 2, 2, 2, 2])
        try put(["size": "x"])
        #expect(sizes.wait(for: 10).suffix(5) == [12, 12, 12, 12, 12])
        expectEventually(heard.all, is: ["size: expected Int, found a string"])
        _ = observations
    }

    // MARK: - Looks beside accesses

    /// Runs what a test plants, once, when one of its values is read or an access fails.
    private static let planted = Locked<(@Sendable () -> Void)?>(nil)

    private static func runPlanted() {
        let action = planted.withLock { planted in
            defer { planted = nil }
            return planted
        }
        action?()
    }

    private struct Watched: Codable, Equatable {
        var value = 0

        init() {}

        init(from decoder: any Decoder) throws {
            value = try decoder.singleValueContainer().decode(Int.self)
            if value == 5 { runPlanted() }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(value)
        }
    }

    private final class WatchedPrefs: PersistentPrefs, @unchecked Sendable {
        @Pref var size = 0
        @Pref var watched = Watched()

        override func prefsDidFail(_ error: PrefsError) { runPlanted() }
    }

    /// A read meets a fault that begins, or that ends, while a look is under way. The look is out of date.
    @Test(.serialized, arguments: [true, false]) func aLookBesideAReadTellsNothingAgain(begins: Bool) throws {
        let aside = folder.file("aside")
        try put(["size": 1])
        let prefs = WatchedPrefs(store: .propertyList(url: url, durability: .crash, layout: .flat))
        let heard = prefs.errorObserver()
        let breaks: @Sendable () -> Void = { [url] in
            _ = try? FileManager.default.removeItem(at: aside)
            _ = rename(url.path, aside.path)
            try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
            inThreads(1) { _ in _ = prefs.size }
        }
        let mends: @Sendable (Int) -> Void = { [self] size in
            _ = rmdir(url.path)
            try? put(["size": size] as NSDictionary)
            inThreads(1) { _ in _ = prefs.size }
        }
        if begins {
            // The values that the look has read are those before the fault.
            Self.planted.withLock { $0 = breaks }
            try put(["size": 1, "watched": 5])
        } else {
            // The access has failed, and is told after a look and after the read of another thread.
            Self.planted.withLock {
                $0 = {
                    _ = Patience.until { heard.all.count == 1 }
                    mends(2)
                }
            }
            breaks()
        }
        expectEventually(heard.all, "1 fault") { $0.count == 1 }
        func hasTold() -> Bool { prefs.state.errorHandlers?.hasTold ?? false }
        // The fault ends and returns.
        mends(3)
        expectEventually((prefs.size, hasTold()), "3, and no fault told") { $0 == (3, false) }
        breaks()
        expectEventually((heard.all, hasTold()), "2 faults, told") { $0.0.count >= 2 && $0.1 }
        mends(4)
        expectEventually((prefs.size, hasTold()), "4, and no fault told") { $0 == (4, false) }
        #expect(heard.all.map { $0.contains("is a folder") } == [true, true], "\(heard.all)")
    }

    /// Removes the stored values of a root, once, when the number 5 is read.
    private struct Removing: Codable {
        static let removal = Locked<(@Sendable () -> Void)?>(nil)

        init() {}

        init(from decoder: any Decoder) throws {
            guard try decoder.singleValueContainer().decode(Int.self) == 5 else { return }
            let removal = Self.removal.withLock { removal in
                defer { removal = nil }
                return removal
            }
            removal?()
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(1)
        }
    }

    private final class NeedyPrefs: PersistentPrefs, @unchecked Sendable {
        @Pref(.required) var address: String?
        @Pref var removing = Removing()
    }

    private static let missing = "address: is required, and has no value"

    /// The look has read the state before it.
    @Test func aChangeDuringALookIsLookedAt() throws {
        let store = PrefsStore.memory()
        try store.update(root: "R") { $0 = ["address": "a", "removing": 1] }
        let prefs = NeedyPrefs(key: "R", store: store)
        let heard = prefs.errorObserver()
        Removing.removal.withLock {
            $0 = { inThreads(1) { _ in try? store.update(root: "R") { $0 = ["removing": 1] } } }
        }
        try store.update(root: "R") { $0?["removing"] = 5 }
        #expect(heard.wait(for: 1) == [Self.missing])
    }

    @Test func theEndOfTheLastClosureEndsTheWatch() {
        let store = PrefsStore.memory()
        let prefs = ToolPrefs(key: "R", store: store)
        let closures = (0..<2).map { _ in prefs.errorObserver() }
        #expect(store.isFollowed)
        closures[0].cancel()
        #expect(store.isFollowed)
        closures[1].cancel()
        #expect(!store.isFollowed)
    }

    /// Of two stores, a closure looks at the one in which it began, also later.
    @Test func aClosureLooksAtTheStoreInWhichItBegan() throws {
        let stores = (0..<2).map { _ in PrefsStore.memory() }
        for store in stores { try store.update(root: "NeedyPrefs") { $0 = ["address": "a"] } }
        let prefs = PersistentPrefs.withStore(stores[0]) { NeedyPrefs() }
        let heard = PersistentPrefs.withStore(stores[1]) { prefs.errorObserver() }
        try stores[0].update(root: "NeedyPrefs") { $0 = nil }
        try stores[1].update(root: "NeedyPrefs") { $0?["other"] = 1 }
        try stores[1].update(root: "NeedyPrefs") { $0?["address"] = nil }
        #expect(heard.wait(for: 1) == [Self.missing])
        try stores[1].update(root: "NeedyPrefs") { $0?["address"] = "b" }
        expectEventually(prefs.state.errorHandlers?.hasTold, is: false)
    }
}
