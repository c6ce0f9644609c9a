@testable import EngineSupport
@testable import PrefsSupport
import PrefsTesting
import TestSupport
import Testing
import WriteOperations

@testable import PersistentPreferences

/// An instance that was created without a store uses the innermost `withStore` at the time of each access.
@Suite(.limited) struct StoreOfAnAccessTests {
    final class OwnPrefs: Prefs, @unchecked Sendable {
        @Pref var number = 0
        @Pref var words = ["none"]
    }

    /// Has a store of its own in place of that of its class, because tests run at the same time.
    private let prefs = PersistentPrefs.withStore(.memory()) { OwnPrefs() }
    private let first = PrefsStore.memory()
    private let second = PrefsStore.memory()

    private func inBoth(_ body: (_ number: Int) throws -> Void) rethrows {
        try PersistentPrefs.withStore(first) { try body(1) }
        try PersistentPrefs.withStore(second) { try body(2) }
    }

    @Test func eachAccessUsesTheInnermostStore() {
        inBoth { prefs.number = $0 }
        prefs.number = 9
        // Cached values belong to one store: its revisions tell them apart.
        for _ in 0..<2 { inBoth { #expect(prefs.number == $0) } }
        #expect(prefs.number == 9)
        PersistentPrefs.withStore(first) { PersistentPrefs.withStore(second) { #expect(prefs.number == 2) } }
        // An instance with a store keeps it.
        let own = OwnPrefs(store: first)
        PersistentPrefs.withStore(second) { own.number += 2 }
        #expect(OwnPrefs(store: first).number == 3)
    }

    class MadePrefs: PersistentPrefs, @unchecked Sendable {
        static let made = Locked<[String]>([])

        @Pref var number = 0

        override class var store: PrefsStore {
            made.withLock { $0.append("\(self)") }
            return .memory()
        }
    }

    final class OtherMadePrefs: MadePrefs, @unchecked Sendable {}

    @Test func theStoreOfAClassIsMadeOnceForItAndOnceForASubclass() {
        MadePrefs().number = 1
        OtherMadePrefs(key: "MadePrefs").number = 2
        #expect(MadePrefs().number == 1 && OtherMadePrefs(key: "MadePrefs").number == 2)
        inBoth { #expect(MadePrefs().number == 0, "\($0)") }
        #expect(MadePrefs.made.withLock { $0 } == ["MadePrefs", "OtherMadePrefs"])
    }

    @Test func anInstanceKeepsTheStoreOfItsCreation() {
        let prefs = OwnPrefs.withStore(first) {
            OwnPrefs(store: second).number = 2
            return OwnPrefs()
        }
        prefs.number = 1
        #expect(OwnPrefs(store: first).number == 1 && OwnPrefs(store: second).number == 2)
    }

    @Test(arguments: WriteOperation.of(.property, .instance).filter { $0 != .initializer })
    func everyOperationUsesIt(_ operation: WriteOperation) async {
        inBoth { _ in prefs.values = ["number": 1, "words": ["a"]] }
        let target = WriteTarget(prefs, \.number, \.$number, to: 7)
        await PersistentPrefs.withStore(first) { #expect(await target.perform(operation) == nil) }
        #expect(OwnPrefs(store: first).number == (operation.effect == .puts ? 7 : 0))
        #expect(OwnPrefs(store: second).number == 1 && OwnPrefs(store: second).values.count == 2)
        #expect(prefs.values.isEmpty)
    }

    @Test func everyReadUsesIt() {
        inBoth { prefs.values = ["number": $0, "words": ["a"]] }
        inBoth { number in
            #expect(prefs.values["number"] as? Int == number && prefs["number"] as? Int == number)
            #expect(prefs.values.count == 2)
            #expect(prefs.$number.isStored)
        }
        #expect(prefs.values.count == 0)
    }

    @Test func aRejectedWriteRollsBackItsOwnStore() {
        inBoth { number in
            let error = prefs.update {
                prefs.number = number
                prefs["unknown"] = 1
            }.failure
            #expect(error?.description == PrefsError.incorrectKeys(invalidElements: ["unknown"]).description)
            #expect(prefs.number == 0)
        }
    }

    @Test func itFollowsTasks() async {
        await PersistentPrefs.withStore(first) { [prefs] in
            await withTaskGroup(of: Void.self) { $0.addTask { prefs.number = 1 } }
            await Task { prefs.number += 1 }.value
            // The value is not in this store. Its place depends on the tests with .inMemoryPrefs that run at the same
            // time.
            await Task.detached { prefs.number = 9 }.value
        }
        #expect(OwnPrefs(store: first).number == 2)
    }

    // MARK: - Observers

    @Test func anObserverStaysWithItsStoreAndRunsInIt() async {
        let (heard, closure) = AsyncStream<[Int]>.makeStream()
        let observation = PersistentPrefs.withStore(first) { [prefs] in
            prefs.onChange { change in
                closure.yield([change.newValues["number"] as? Int ?? 0, prefs.number, OwnPrefs(key: "OwnPrefs").number])
            }
        }
        PersistentPrefs.withStore(second) { prefs.number = 2 }
        prefs.number = 3
        PersistentPrefs.withStore(first) { prefs.number = 1 }
        var calls = heard.makeAsyncIterator()
        #expect(await calls.next() == [1, 1, 1])
        // The observer follows the instance to another root of its store.
        OwnPrefs(key: "Other", store: first).number = 5
        OwnPrefs(key: "Other", store: second).number = 6
        PersistentPrefs.withStore(second) { prefs.key = "Other" }
        #expect(await calls.next()?.first == 5)
        observation.cancel()
    }

    @Test func aSequenceStaysWithItsStore() async {
        var numbers = PersistentPrefs.withStore(first) { prefs.$number.updates.makeAsyncIterator() }
        #expect(await numbers.next() == 0)
        PersistentPrefs.withStore(second) { prefs.number = 2 }
        PersistentPrefs.withStore(first) { prefs.number = 1 }
        #expect(await numbers.next() == 1)
    }

    @Test func aTrackedReadHearsOfEachStore() {
        for store in [first, second] {
            let heard = PersistentPrefs.withStore(store) { tracking({ _ = prefs.number }, onChange: { true }) }
            OwnPrefs(store: store).number = 1
            #expect(heard.all == [true])
        }
    }

    @Test func readsThatAreTrackedInTwoStoresAtOnceHearOfBoth() {
        for stores in [[first, second], [second, first]] {
            let heard = stores.map { store in
                PersistentPrefs.withStore(store) { tracking({ _ = prefs.number }, onChange: { true }) }
            }
            // The first change may end the tracking in both stores.
            for (store, heard) in zip(stores, heard) {
                OwnPrefs(store: store).number += 1
                #expect(heard.all == [true])
            }
        }
    }

    // MARK: - Outside of a test's task

    @Test func theStoreOfTheOnlyRunningTestIsUsedElseASharedOne() {
        let process = TestProcess(isInTest: { false }, report: {})
        let own = PrefsStore.memory().roots
        #expect(process.roots(inPlaceOf: own) == nil)
        process.begin(first)
        #expect(process.roots(inPlaceOf: own) === first.roots)
        #expect(process.roots(inPlaceOf: first.roots) == nil)
        process.begin(second)
        let shared = process.roots(inPlaceOf: own)
        #expect(shared != nil && shared !== own && shared !== first.roots && shared !== second.roots)
        // A running test keeps its own store, a test that has ended does not.
        #expect(process.roots(inPlaceOf: first.roots) == nil)
        process.end(first)
        #expect(process.roots(inPlaceOf: first.roots) === second.roots)
        process.end(second)
        #expect(process.roots(inPlaceOf: own) === shared)
    }

    @Test func aTestWithoutTheTraitKeepsItsStore() {
        let process = TestProcess(isInTest: { true }, report: {})
        process.begin(first)
        #expect(process.roots(inPlaceOf: second.roots) == nil)
    }

    @Test func theDefaultDomainIsReportedOnce() async {
        await confirmation { reported in
            let process = TestProcess(isInTest: { true }, report: { reported() })
            for _ in 0..<3 { process.noteDefaultDomain() }
        }
    }
}
