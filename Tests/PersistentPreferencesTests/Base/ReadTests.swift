@testable import PrefsSupport
import Foundation
import PersistentPreferences
import PrefsJSON
import PrefsKeys
import PrefsLayers
import PrefsPropertyLists
import PrefsStoreKit
import TestSupport
import Testing
import WriteOperations

@testable import EngineSupport

/// Two values that a program always writes in one update.
private class PairPrefs: RecordingPrefs, @unchecked Sendable {
    @Pref var low = 0
    @Pref var high = 0

    var pair: [Int] { [low, high] }

    /// Writes both on another thread.
    func write(_ number: Int) {
        inThreads(1) { _ in self.update { (self.low, self.high) = (number, number) } }
    }
}

private final class RenamedPairPrefs: PairPrefs, @unchecked Sendable {
    override class var formerRootKeys: [String] { ["Root"] }
}

private struct High: PrefKey {
    static let stringKey = "high"
    static let defaultValue = 0
}

/// Several reads of one state.
@Suite(.limited) struct ReadTests {
    enum Kind: CaseIterable {
        case memory, file, json, flat, foreign, layered, twoStores, link
    }

    private let folder = TemporaryFolder.fresh

    private func store(_ kind: Kind) throws -> PrefsStore {
        switch kind {
        case .memory: return PrefsStore.memory()
        case .file, .twoStores: return PrefsStore.propertyList(url: folder.file())
        case .json: return PrefsStore.json(url: folder.file("a.json"), layout: .roots)
        case .flat: return PrefsStore.propertyList(url: folder.file(), layout: .flat)
        case .foreign: return ForeignBackend().store
        case .layered: return PrefsStore.layered(.memory(), below: [.values(["low": 5, "high": 5])])
        case .link:
            let link = folder.file("link.plist")
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.file())
            return PrefsStore.propertyList(url: link)
        }
    }

    /// Prefs on a store to read from, and others on one to write to: another store of the same roots for some kinds.
    private func pairs(_ kind: Kind) throws -> (PairPrefs, PairPrefs) {
        if kind == .foreign {
            let backend = ForeignBackend()
            return (PairPrefs(key: "Root", store: backend.store), PairPrefs(key: "Root", store: backend.store))
        }
        let reading = try store(kind)
        let writing = [.twoStores, .link].contains(kind) ? PrefsStore.propertyList(url: folder.file()) : reading
        return (PairPrefs(key: "Root", store: reading), PairPrefs(key: "Root", store: writing))
    }

    // MARK: - One state

    /// Another thread writes between the accesses, of whatever kind.
    @Test(arguments: Kind.allCases)
    func allAccessesSeeOneState(_ kind: Kind) throws {
        let (prefs, other) = try pairs(kind)
        let settings = AppSettingsValues(store: prefs.ownStore, root: "Root")
        other.write(1)
        for number in 1...3 {
            let seen = prefs.read {
                let low = prefs.low
                other.write(number + 1)
                return [
                    low, prefs.high, prefs.$high.value, prefs["high"], prefs.values["high"], other.high, other["high"],
                    settings[High.self],
                ].map { $0 as? Int }
            }
            #expect(seen == Array(repeating: number, count: 8))
            #expect(prefs.pair == [number + 1, number + 1] && settings[High.self] == number + 1)
            #expect(prefs.lastError == nil && other.lastError == nil)
        }
    }

    @Test(arguments: Kind.allCases)
    func aMissingRootStaysMissing(_ kind: Kind) throws {
        let (prefs, other) = try pairs(kind)
        let ofNothing = kind == .layered ? 5 : 0
        let seen = prefs.read {
            other.write(1)
            return prefs.pair + [other.high, prefs.$low.isStored ? 1 : 0]
        }
        #expect(seen == [ofNothing, ofNothing, ofNothing, 0] && prefs.pair == [1, 1])
    }

    @Test(arguments: [Kind.memory, .file, .foreign])
    func aRootThatMovesMeanwhileIsReadWhereItWas(_ kind: Kind) throws {
        let store = try store(kind)
        let (prefs, other) = (RenamedPairPrefs(store: store), RenamedPairPrefs(store: store))
        PairPrefs(key: "Root", store: store).write(1)
        let seen = prefs.read {
            let low = prefs.low
            other.write(2)
            return [low, prefs.high, other.high]
        }
        #expect(seen == [1, 1, 1] && prefs.pair == [2, 2])
        #expect(try store.read(root: "Root") == nil)
    }

    @Test func theLayersAreOfOneStateToo() throws {
        let file = folder.file("layer.json")
        func write(_ number: Int) throws {
            try Data(#"{"Root": {"low": \#(number), "high": \#(number)}}"#.utf8).write(to: file, options: .atomic)
        }
        try write(1)
        let store = PrefsStore.layered(.memory(), below: [.file(file)])
        let (prefs, other) = (PairPrefs(key: "Root", store: store), PairPrefs(key: "Root", store: store))
        for number in 1...3 {
            let seen = try prefs.read {
                let low = prefs.low
                try write(number + 1)
                return [low, prefs.high, prefs.values["high"] as? Int, other.high]
            }
            #expect(seen == [number, number, number, number] && prefs.pair == [number + 1, number + 1])
        }
    }

    @Test(arguments: Kind.allCases)
    func aReadInsideAReadSeesTheOuterState(_ kind: Kind) throws {
        let (prefs, other) = try pairs(kind)
        let elsewhere = PairPrefs(key: "Root", store: .memory())
        other.write(1)
        elsewhere.write(11)
        let seen = prefs.read {
            other.write(2)
            return elsewhere.read {
                other.write(3)
                elsewhere.write(12)
                return other.read { prefs.pair + elsewhere.pair } + prefs.read { elsewhere.pair }
            } + prefs.pair + elsewhere.pair
        }
        #expect(seen == [1, 1, 11, 11, 11, 11, 1, 1, 12, 12])
    }

    @Test(arguments: [Kind.memory, .file, .foreign])
    func otherRootsStoresAndThreadsReadAsUsual(_ kind: Kind) throws {
        let store = try store(kind)
        let (prefs, neighbor) = (PairPrefs(key: "Root", store: store), PairPrefs(key: "Neighbor", store: store))
        let elsewhere = PairPrefs(key: "Root", store: .memory())
        prefs.write(1)
        let heard = Heard<[Int]>()
        prefs.read {
            for prefs in [prefs, neighbor, elsewhere] { prefs.write(2) }
            #expect(prefs.pair == [1, 1] && neighbor.pair == [2, 2] && elsewhere.pair == [2, 2])
            inThreads(1) { _ in heard.append(prefs.pair) }
        }
        #expect(heard.all == [[2, 2]])
    }

    /// Each keeps the state of its own beginning.
    @Test(arguments: [Kind.memory, .file, .foreign, .flat]) func aReadOfAnotherRootInsideIsKeptToo(_ kind: Kind) throws
    {
        let store = try store(kind)
        let (prefs, neighbor) = (PairPrefs(key: "Root", store: store), PairPrefs(key: "Neighbor", store: store))
        for prefs in [prefs, neighbor] { prefs.write(1) }
        let seen = prefs.read {
            neighbor.write(2)
            return neighbor.read {
                let low = neighbor.low
                for (number, prefs) in [prefs, neighbor].enumerated() { prefs.write(3 + number) }
                return [low, neighbor.high] + prefs.pair
            } + prefs.pair
        }
        // A flat domain has one root.
        #expect(seen == (kind == .flat ? [1, 1, 1, 1, 1, 1] : [2, 2, 1, 1, 1, 1]))
        #expect(neighbor.pair == [4, 4])
    }

    @Test func aPathThatLeadsElsewhereMeanwhileStays() throws {
        let (a, b) = (folder.file("a.plist"), folder.file("b.plist"))
        for (number, url) in [(1, a), (2, b)] {
            PairPrefs(key: "Root", store: .propertyList(url: url)).write(number)
        }
        let link = folder.file("link.plist")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: a)
        let store = PrefsStore.propertyList(url: link)
        let (prefs, neighbor) = (PairPrefs(key: "Root", store: store), PairPrefs(key: "Neighbor", store: store))
        let seen = try prefs.read {
            let low = prefs.low
            try FileManager.default.removeItem(at: link)
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: b)
            _ = neighbor.pair
            return [low, prefs.high]
        }
        #expect(seen == [1, 1] && prefs.pair == [2, 2])
    }

    @Test func itReturnsAndThrowsWhatTheBodyDoes() throws {
        let prefs = PairPrefs(key: "Root", store: .memory())
        #expect(prefs.read { "a" } == "a")
        #expect(throws: Stop.self) { try prefs.read { throw Stop() } }
        prefs.low = 4
        #expect(prefs.pair == [4, 0] && prefs.lastError == nil, "it is over")
    }

    /// 0 torn pairs beside a thread that writes without a pause. `PREFS_STRESS` sets the number of reads, in hundreds.
    @Test(arguments: [Kind.memory, .file, .layered])
    func noPairIsTorn(_ kind: Kind) throws {
        let store = try store(kind)
        let (prefs, writer) = (PairPrefs(key: "Root", store: store), PairPrefs(key: "Root", store: store))
        prefs.write(1)
        let (torn, isOver) = (Locked(0), Locked(false))
        inThreads(2) { number in
            if number == 0 {
                for _ in 0..<100 * Hazard.count("PREFS_STRESS", default: Hazard.count(10, long: 20)) {
                    let pair = prefs.read { prefs.pair }
                    let values = prefs.ints
                    if pair[0] != pair[1] || values["low"] != values["high"] { torn.withLock { $0 += 1 } }
                }
                isOver.withLock { $0 = true }
            } else {
                var number = 1
                while !isOver.withLock({ $0 }) {
                    number += 1
                    writer.update { (writer.low, writer.high) = (number, number) }
                }
            }
        }
        #expect(torn.withLock { $0 } == 0)
    }

    // MARK: - Writes

    /// Also a write that would change nothing.
    @Test(arguments: WriteOperation.of(.property, .instance, .container, .store).filter { !$0.isAsync })
    func everyWriteInsideIsRejected(_ operation: WriteOperation) throws {
        let store = PrefsStore.memory()
        let prefs = AnyPrefs(values: ["a": 1, "b": 2], store: store)
        let typed = PairPrefs(key: "AnyPrefs", store: store)
        for value in [1, 5] {
            let target =
                operation.subject == .property
                ? WriteTarget(typed, in: store, \.low, \.$low, to: value)
                : WriteTarget(
                    prefs, in: store, key: "a", create: { AnyPrefs(values: $0, store: store) }, to: { value })
            // A key reports after the read.
            let error = ContainerKey.failure { prefs.read { target.performBlocking(operation) } }
            #expect(error == .writeInsideRead)
            #expect(prefs.ints == ["a": 1, "b": 2])
        }
    }

    /// The inner one is of the same root, of another one, or ends with an error.
    @Test(arguments: ["AnyPrefs", "Other"], [true, false])
    func afterAReadInsideWritesAreStillRejected(_ root: String, _ throwsInside: Bool) throws {
        let store = PrefsStore.memory()
        let prefs = AnyPrefs(values: ["a": 1], store: store)
        let inner = AnyPrefs(key: root, values: ["a": 1], store: store)
        prefs.read {
            _ = try? inner.read { if throwsInside { throw Stop() } }
            prefs["a"] = 2
            inner["a"] = 2
        }
        for instance in [prefs, inner] {
            #expect(instance.lastError == .writeInsideRead)
            #expect(instance.ints == ["a": 1])
        }
    }

    @Test(arguments: [Kind.memory, .file, .foreign, .layered])
    func aRejectionInsideUndoesNoUpdateAround(_ kind: Kind) throws {
        let (prefs, other) = try pairs(kind)
        let writing = other.ownStore
        let elsewhere = PairPrefs(store: ForeignBackend().store)
        prefs.write(1)
        let error = prefs.update {
            prefs.low = 2
            prefs.read {
                #expect(prefs.pair == [2, 1] && other.pair == [2, 1], "the state of the update")
                prefs.high = 3
                #expect(prefs.lastError == .writeInsideRead)
                #expect(prefs.$low.set(2) == .writeInsideRead)
                #expect(other.update { other.high = 4 }.failure == .writeInsideRead)
                #expect(prefs.$high.modify { $0 += 1 } == .writeInsideRead)
                #expect(elsewhere.$high.set(5) == .writeInsideRead)
                #expect(throws: PrefsError.writeInsideRead) { try writing.update(root: "Root") { $0 = nil } }
                #expect(prefs.pair == [2, 1] && prefs.lastError == nil)
            }
            prefs.high = 6
        }.failure
        #expect(error == nil && other.pair == [2, 6] && elsewhere.pair == [0, 0])
    }

    /// A handler may write.
    @Test func handlersAreCalledAfterTheBody() {
        final class Careful: PairPrefs, @unchecked Sendable {
            override func prefsDidFail(_ error: PrefsError) { low = 7 }
        }
        let prefs = Careful(key: "Root", store: .memory())
        prefs.read {
            prefs.high = 1
            #expect(prefs.low == 0)
        }
        #expect(prefs.pair == [7, 0])
        prefs.low = 0
        let other = Careful(key: "Other", store: .memory())
        prefs.read {
            other.read { other.high = 1 }
            #expect(other.low == 0, "after the outer body")
        }
        #expect(other.low == 7)
        prefs.update {
            prefs.read { prefs.high = 1 }
            prefs.low = 8
        }
        #expect(prefs.pair == [7, 0], "after the update")
    }

    // MARK: - Faults

    @Test func aFaultOfTheStoreIsReportedByEveryRead() throws {
        try FileManager.default.createDirectory(at: folder.file(), withIntermediateDirectories: false)
        let prefs = PairPrefs(key: "Root", store: .propertyList(url: folder.file()))
        prefs.read {
            for _ in 0..<2 {
                prefs.lastError = nil
                #expect(prefs.low == 0)
                #expect(prefs.lastError?.detail(of: PrefsError.unreadable) != nil, "\(prefs.outcome)")
            }
        }
    }

    /// With an observer of errors, which asks for all problems first, and without one.
    @Test(arguments: [true, false]) func aWarningOfAnEarlierWriteIsReportedOnce(_ hasHandler: Bool) throws {
        let store = PrefsStore.propertyList(url: folder.file())
        let prefs = PairPrefs(key: "Root", values: ["low": 1], store: store)
        try Data("damage".utf8).write(to: folder.file())
        try store.update(root: "Root") { $0?["high"] = 2 }
        let errors = Locked<[PrefsError]>([])
        let observation = hasHandler ? prefs.onError { error in errors.withLock { $0.append(error) } } : nil
        prefs.read { #expect(prefs.pair == [1, 2] && prefs.pair == [1, 2]) }
        let told = hasHandler ? errors.withLock { $0.map { "\($0)" } } : prefs.errors
        #expect(told.count == 1 && told[0].contains("quarantined"), "\(told)")
        withExtendedLifetime(observation) {}
    }

    @Test func anUnfitValueIsReportedByItsReadOnly() throws {
        let store = PrefsStore.memory()
        try store.update(root: "Root") { $0 = ["low": "x", "high": 2] }
        let prefs = PairPrefs(key: "Root", store: store)
        prefs.read {
            #expect(prefs.low == 0 && prefs.outcome == "low: expected Int, found a string")
            #expect(prefs.high == 2 && prefs.lastError == nil)
        }
    }
}
