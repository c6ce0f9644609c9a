import EngineSupport
import Foundation
import PersistentPreferences
import PrefsEtcd
import PrefsLayers
import PrefsStoreKit
import Testing
import TestSupport

/// The base class over a fleet: what it promises over a file, in both ways to read.
@Suite(.waits, .enabled(if: EtcdCluster.isThere)) final class EtcdPrefsTests: FleetSuite {
    /// The second version of a class with another root key.
    private final class MovedPrefs: PersistentPrefs, @unchecked Sendable {
        override class var formerRootKeys: [String] { ["before"] }

        @Pref var level = 3
    }

    /// Two values with a rule.
    private final class GapPrefs: PersistentPrefs, @unchecked Sendable {
        @Pref var low = 1
        @Pref var high = 9

        override class var rules: [PrefsRule] {
            [PrefsRule { (prefs: GapPrefs) in prefs.low > prefs.high ? "low must be at most high" : nil }]
        }
    }

    private static let modes: [EtcdStore.ReadMode] = [.followed, .current]

    /// Two clients of one namespace: another deadline is another client.
    private func stores(_ reads: EtcdStore.ReadMode) -> (EtcdStore, EtcdStore) {
        (cluster.store(prefix, .patient(reads: reads)), cluster.store(prefix, .patient(1, reads: .current)))
    }

    /// The first instance waits for the cluster until the deadline. It and all others read their defaults, until the cluster is there.
    @Test func instancesThatAreCreatedWhileTheClusterIsDown() throws {
        proxy.block()
        let store = proxy.store(prefix, .init(deadline: shortWait(2)))
        let begin = ContinuousClock.now
        let instances = (0..<20).map { _ in TeamPrefs(key: "team", store: store.store) }
        for prefs in instances {
            #expect(prefs.level == 3)
            #expect(prefs.lastError.unreadable != nil)
        }
        // Not 2 seconds for each of the 40 reads.
        #expect(ContinuousClock.now - begin < .seconds(20 * Patience.slowness))
        proxy.unblock()
        func errorOfAWrite() -> PrefsError? {
            instances[0].level = 4
            return instances[0].lastError
        }
        expectEventually(errorOfAWrite(), is: nil)
        for prefs in instances {
            expectEventually((prefs.level, prefs.lastError), "4, and no error") { $0 == (4, nil) }
        }
    }

    /// Two values for one namespace, as two classes have them.
    @Test func aReadHoldsForEveryStoreOfTheNamespace() throws {
        func prefsOfNewStore() -> TeamPrefs { TeamPrefs(key: "team", store: cluster.store(prefix, .patient()).store) }
        let (prefs, second) = (prefsOfNewStore(), prefsOfNewStore())
        prefs.level = 4
        prefs.read {
            #expect(prefs.level == 4)
            inThreads(1) { _ in #expect(prefs.$level.set(5) == nil) }
            #expect(prefs.level == 4 && second.level == 4)
        }
        #expect(prefs.level == 5 && second.level == 5)
    }

    /// Guarantee 1. A rejection undoes no update around the read.
    @Test func aWriteInsideAReadIsRejected() throws {
        let (prefs, local) = (TeamPrefs(key: "team", store: one.store), TeamPrefs(key: "team", store: .memory()))
        func expectRejections(_ level: Int) {
            #expect(prefs.$level.set(8) == .writeInsideRead && prefs.level == level)
            #expect(prefs.update { prefs.level = 8 }.failure == .writeInsideRead)
            #expect(throws: PrefsError.writeInsideRead) { try one.update(root: "team") { $0 = nil } }
            #expect(throws: PrefsError.writeInsideRead) {
                try one.update(root: "other", alsoLocking: ["team"]) { $0 = [:] }
            }
            #expect(prefs.level == level)
        }
        prefs.level = 4
        prefs.read { expectRejections(4) }
        local.read { expectRejections(4) }
        let error = prefs.update {
            prefs.level = 5
            prefs.read { expectRejections(5) }
            prefs.name = "after"
        }.failure
        #expect(error == nil && prefs.lastError == nil)
        #expect(try one.read(root: "team") as NSDictionary? == ["level": 5, "name": "after"])
        #expect(try one.read(root: "other") == nil)
    }

    @Test(arguments: modes)
    func typedValuesAreExactElsewhere(_ reads: EtcdStore.ReadMode) throws {
        let (here, there) = stores(reads)
        let (prefs, others) = (TeamPrefs(key: "team", store: here.store), TeamPrefs(key: "team", store: there.store))
        let owner = TeamPrefs.Person(name: "Ann \u{1F469}", birthday: Date(timeIntervalSinceReferenceDate: 1.25))
        prefs.owner = owner
        prefs.tags = ["a", "b"]
        prefs.blob = Data((0...255).map { UInt8($0) })
        prefs.level += 4
        #expect(others.owner == owner && others.tags == ["a", "b"] && others.blob.count == 256 && others.level == 7)
        #expect(prefs.owner == owner && prefs.level == 7)
        #expect(prefs.lastError == nil && others.lastError == nil)
        // A rejected value changes nothing.
        prefs.level = 100_001
        guard case .constraintViolated? = prefs.lastError else { return #expect(Bool(false)) }
        #expect(others.level == 7)
        prefs.deleteRoot()
        #expect(others.level == 3 && prefs.level == 3)
        #expect(try there.read(root: "team") == nil)
    }

    /// A rule judges what the servers have, and not what the client knows.
    @Test(arguments: modes)
    func aRuleHoldsAmongClients(_ reads: EtcdStore.ReadMode) throws {
        let (here, there) = stores(reads)
        let (prefs, others) = (GapPrefs(key: "gap", store: here.store), GapPrefs(key: "gap", store: there.store))
        let violated = PrefsError.ruleViolated(["low must be at most high"])
        for high in [5, 4, 3] {
            prefs.low = 1
            others.high = high
            #expect(prefs.$low.set(high + 1) == violated)
            #expect(prefs.update { prefs.low = high + 1 }.failure == violated)
            #expect(prefs.update { $0["low"] = high + 1 }.failure == violated)
            #expect(prefs.$low.set(high) == nil)
            #expect(others.$high.set(high - 1) == violated)
        }
        #expect(
            prefs.update {
                prefs.low = 20
                prefs.high = 30
            }.failure == nil)
        #expect(others.$high.reset() == violated)
        #expect(try there.read(root: "gap") as NSDictionary? == ["low": 20, "high": 30])
    }

    @Test(arguments: modes, [true, false])
    func aRootOfAnotherTypeStaysUntilItIsRemoved(_ reads: EtcdStore.ReadMode, _ isRemovedByTheStore: Bool) throws {
        try cluster.control("put", "\(prefix)r/team", "[7]")
        let store = cluster.store(prefix, .patient(reads: reads))
        let prefs = TeamPrefs(key: "team", store: store.store)
        let expected = PrefsError.rootIsNotDictionary(key: "team")
        #expect(prefs.lastError == expected && prefs.level == 3)
        prefs.level = 4
        #expect(prefs.lastError == expected)
        prefs.resetAll()
        #expect(prefs.lastError == expected)
        #expect(error { _ = try store.read(root: "team") } == expected)
        #expect(error { try store.update(root: "team") { $0?["level"] = 4 } } == expected)
        #expect(try cluster.control("get", "--print-value-only", "\(prefix)r/team") == "[7]\n")
        if isRemovedByTheStore { try store.update(root: "team") { $0 = nil } } else { prefs.deleteRoot() }
        #expect(prefs.level == 3 && prefs.lastError == nil)
        #expect(try cluster.control("get", "\(prefix)r/team").isEmpty)
        prefs.level = 5
        #expect(prefs.level == 5 && prefs.lastError == nil)
    }

    @Test func allValuesReplaceARootOfAnotherType() throws {
        try cluster.control("put", "\(prefix)r/team", "[7]")
        let prefs = TeamPrefs(key: "team", store: one.store)
        prefs.values = ["level": 4]
        #expect(prefs.lastError == nil)
        #expect(try two.current(root: "team") as? [String: Int] == ["level": 4])
    }

    @Test(arguments: modes)
    func aRootMovesToItsNewKey(_ reads: EtcdStore.ReadMode) throws {
        let (here, there) = stores(reads)
        try there.update(root: "before") { $0 = ["level": 7] }
        let prefs = MovedPrefs(store: here.store)
        #expect(prefs.level == 7)
        prefs.level = 8
        #expect(try there.read(root: "before") == nil)
        #expect(try there.read(root: "MovedPrefs")?["level"] as? Int == 8)
        #expect(prefs.lastError == nil)
    }

    /// What another program has put under a former key is no root of ours.
    @Test(arguments: modes)
    func anotherEntryUnderAFormerKeyIsLeftAlone(_ reads: EtcdStore.ReadMode) throws {
        try cluster.control("put", "\(prefix)r/before", "[1]")
        let prefs = MovedPrefs(store: cluster.store(prefix, .patient(reads: reads)).store)
        #expect(prefs.level == 3 && prefs.lastError == nil)
        prefs.level = 8
        #expect(prefs.level == 8 && prefs.lastError == nil)
        prefs.deleteRoot()
        #expect(prefs.level == 3 && prefs.lastError == nil)
        #expect(try cluster.control("get", "--print-value-only", "\(prefix)r/before") == "[1]\n")
    }

    /// The first look at the former root may be old, and must not decide a write either.
    @Test func aWriteThatEqualsAnOldFormerRootIsStored() throws {
        let (here, there) = stores(.followed)
        for number in 1...20 {
            try there.update(root: "before") { $0 = ["level": number] }
            let prefs = MovedPrefs(store: here.store)
            expectEventually(prefs.level, is: number)
            try there.update(root: "before") { $0 = nil }
            prefs.level = number
            #expect(prefs.lastError == nil)
            try there.update(root: "MovedPrefs") {
                #expect($0?["level"] as? Int == number)
                $0 = nil
            }
        }
    }

    /// The difference between the roots is a change, and so is what comes later.
    @Test func anObserverMovesWithItsInstance() throws {
        for (root, level) in [("A", 4), ("B", 5)] { try one.update(root: root) { $0 = ["level": level] } }
        let prefs = TeamPrefs(key: "A", store: one.store)
        let levels = Locked<[Int?]>([])
        let told = Signal()
        let observation = prefs.onChange { change in
            levels.withLock { $0.append(change.newValues["level"] as? Int) }
            told.signal()
        }
        prefs.key = "B"
        told.wait()
        try two.update(root: "B") { $0 = ["level": 6] }
        told.wait()
        observation.cancel()
        #expect(levels.withLock { $0 } == [5, 6])
    }

    @Test func layersAreAboveAFleet() throws {
        let (here, there) = stores(.followed)
        let layered = PrefsStore.layered(here.store, above: [.values(["level": 9])])
        let prefs = TeamPrefs(key: "team", store: layered)
        TeamPrefs(key: "team", store: there.store).tags = ["x"]
        prefs.blob = Data([1])
        #expect(prefs.level == 9)
        #expect(TeamPrefs(key: "team", store: there.store).blob == Data([1]))
        prefs.level = 4
        guard case .coveredByLayer? = prefs.lastError else { return #expect(Bool(false)) }
    }
}
