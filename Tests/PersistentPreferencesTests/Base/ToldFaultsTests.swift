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

    // MARK: - The list of faults

    private static let unfit = PrefsError.typeMismatch([])

    /// Only the outcome of an access is `lastError`.
    @Test func aFaultBesidesTheOutcomeIsToldOnly() {
        var log = FaultLog()
        for access in [FaultLog.Access.fault(), .faultOfWrite] {
            let news = log.record(.rootIsNotDictionary(key: "R"), of: access)
            #expect(!news.isOutcome && news.isOnce && news.told != nil && log.lastError == nil)
        }
        #expect(!log.record(nil, of: .write).isOutcome, "no access has failed")
        #expect(log.record(Self.unfit, of: .write).isOutcome && log.record(nil, of: .read()).isOutcome)
    }

    @Test func aThreadThatComesLateTellsNothingAgain() {
        var log = FaultLog()
        let (older, newer) = (Revision(), Revision())
        let news = [newer, older, newer, older].map {
            log.record(Self.unfit, of: .fault(of: "size", at: $0)).told != nil
        }
        #expect(news == [true, false, false, false])
    }

    @Test func aFaultOfTheRootIsToldForAllKeysOnce() {
        var log = FaultLog()
        let (revision, fault) = (Revision(), PrefsError.rootIsNotDictionary(key: "R"))
        let news = ["size", "name", nil].map { log.record(fault, of: .fault(of: $0, at: revision)).told != nil }
        #expect(news == [true, false, false])
    }

    /// A store without revisions.
    @Test func aFaultOfTheRootEndsWithTheReadOfAnyKey() {
        var log = FaultLog()
        let fault = PrefsError.rootIsNotDictionary(key: "R")
        #expect(log.record(fault, of: .fault(of: "size", at: nil)).told != nil && log.mayEnd)
        _ = log.record(nil, of: .read(of: "name"))
        #expect(!log.mayEnd)
        #expect(log.record(fault, of: .fault(of: "size", at: nil)).told != nil)
    }

    @Test func aReadOfAnotherKeyEndsNoFaultOfALayer() {
        var log = FaultLog()
        let faults = ["size", "name"].map { PrefsProblem(layer: "file", place: $0, reason: "x") }
        let fault = PrefsError.ignoredInLayer([faults[0]])
        #expect(log.record(fault, of: .fault(of: "size", at: Revision())).told != nil)
        _ = log.record(nil, of: .read(of: "name"))
        #expect(log.mayEnd && log.record(fault, of: .fault(of: "size", at: Revision())).told == nil)
        _ = log.record(nil, of: .read(of: "size"))
        #expect(!log.mayEnd && log.record(fault, of: .fault(of: "size", at: Revision())).told != nil)
        // Of two faults, the new one is told.
        let news = log.record(.ignoredInLayer(faults), of: .fault(of: nil, at: Revision())).told
        #expect(news == .ignoredInLayer([faults[1]]))
    }

    @Test func aValueThatFitsEndsItsOwnFaultOnly() {
        var log = FaultLog()
        for key in ["size", "name"] { #expect(log.record(Self.unfit, of: .fault(of: key, at: nil)).told != nil) }
        log.endValue("name")
        #expect(log.mayEnd && log.record(Self.unfit, of: .fault(of: "size", at: nil)).told == nil)
        log.endValue("size")
        #expect(!log.mayEnd)
        #expect(log.record(Self.unfit, of: .fault(of: "size", at: nil)).told != nil)
    }

    @Test func anotherFaultOfAValueIsTold() {
        var log = FaultLog()
        let news = [Self.unfit, .constraintViolated([]), .constraintViolated([])].map {
            log.record($0, of: .fault(of: "size", at: nil)).told != nil
        }
        #expect(news == [true, true, false])
    }
}
