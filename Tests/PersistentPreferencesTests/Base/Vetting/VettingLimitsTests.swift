@testable import PrefsSupport
import Foundation
import PrefsTestSet
import TestSupport
import Testing

@testable import PersistentPreferences

/// The limits of depth, number and size, on both sides.
@Suite struct VettingLimitsTests {
    private let prefs = AnyPrefs(
        Array(PrefsTestSet.defaultValues.keys), values: PrefsTestSet.defaultValues, store: .memory())
    private let before: String
    private let tooDeep = "nested deeper than 64 levels"

    init() {
        before = exactForm(prefs.values)
    }

    @Test(arguments: [1, 2, 63, 64]) func soManyLevelsAreStored(_ levels: Int) {
        let lists = lists(levels)
        prefs["Array Value"] = lists
        #expect(prefs.outcome == "ok")
        #expect(prefs["Array Value"].map(exactForm) == exactForm(lists))
        let dictionaries = dictionaries(levels)
        prefs["Dictionary Value"] = dictionaries
        #expect(prefs.outcome == "ok")
        #expect(prefs["Dictionary Value"].map(exactForm) == exactForm(dictionaries))
    }

    @Test(arguments: [65, 513, 1_000]) func moreLevelsAreRejected(_ levels: Int) {
        prefs["Array Value"] = lists(levels)
        #expect(prefs.outcome == "Array Value" + String(repeating: "[0]", count: 64) + ": " + tooDeep)
        prefs["Dictionary Value"] = dictionaries(levels)
        #expect(prefs.outcome == "Dictionary Value" + String(repeating: ".k", count: 64) + ": " + tooDeep)
        #expect(exactForm(prefs.values) == before)
    }

    @Test(.timeLimit(.minutes(10))) func aCycleOfManyWaysIsRejected() throws {
        let list = NSMutableArray()
        for _ in 0..<10 { list.add(list) }
        defer { list.removeAllObjects() }
        prefs["Array Value"] = list
        let failures = try #require(prefs.lastError).failures
        #expect(failures.count == 100)
        #expect(failures.allSatisfy { $0.reason == tooDeep && $0.topLevelKey == "Array Value" })
        #expect(exactForm(prefs.values) == before)
    }

    @Test(.timeLimit(.minutes(10)), arguments: Hazard.isLong ? [9, 60] : [60])
    func sharedContainersThatMultiplyAreRejected(_ levels: Int) throws {
        // Objects are slow to examine. Data reaches the limit with fewer objects than the text of the list.
        let data = NSData(data: Data(count: 200))
        var list: [Any] = ["x"]
        var objects = NSArray(object: data)
        var dictionary = NSDictionary(object: data, forKey: "k" as NSString)
        for _ in 0..<levels {
            list = Array(repeating: list, count: 10)
            objects = NSArray(array: Array(repeating: objects, count: 10))
            dictionary = NSDictionary(
                objects: Array(repeating: dictionary, count: 10), forKeys: (0..<10).map { "\($0)" as NSString })
        }
        for value in [list, objects, dictionary] as [Any] {
            prefs["Array Value"] = value
            let failures = try #require(prefs.lastError).failures
            #expect(failures.map(\.reason) == [UnstorableValue.tooLarge])
            #expect(failures.map(\.topLevelKey) == ["Array Value"])
            #expect(exactForm(prefs.values) == before)
        }
    }

    @Test func aThousandSharedListsAreStored() throws {
        var list: [Any] = ["x"]
        for _ in 0..<3 { list = Array(repeating: list, count: 10) }
        prefs["Array Value"] = list
        #expect(prefs.outcome == "ok")
        #expect(prefs["Array Value"].map(exactForm) == exactForm(list))
    }

    @Test func fourMebibytesAreTheLimitOfAValue() throws {
        let largest = (4 << 20) - 9
        #expect(refusals(of: Data(count: largest)) == [])
        #expect(refusals(of: Data(count: largest + 1)) == ["a: \(UnstorableValue.tooLarge)"])
    }

    @Test func fourMebibytesAreTheLimitOfARoot() throws {
        prefs.values = ["String Value": String(repeating: "x", count: 3 << 20)]
        #expect(prefs.outcome == "ok")
        let stored = exactForm(prefs.values).count
        prefs["Array Value"] = [Data(count: 1 << 20)]
        #expect(prefs.outcome == "Array Value: the root would be larger than 4 MiB")
        #expect(exactForm(prefs.values).count == stored)
        prefs.values = ["Array Value": [Data(count: 1 << 20)]]
        #expect(prefs.outcome == "ok")
        #expect(Array(prefs.values.keys) == ["Array Value"])
    }

    /// An update measures its root once, and from then on counts what its writes add and take away.
    @Test func theWritesOfAnUpdateShareTheLimitOfTheRoot() {
        let (names, mebibyte) = (["a", "b", "c", "d", "e"], Data(count: 1 << 20))
        let prefs = AnyPrefs(names, store: .memory())
        var outcomes: [String] = []
        func write(_ key: String, _ value: Any?) {
            prefs[key] = value
            outcomes.append(prefs.outcome)
        }
        #expect(
            prefs.update {
                for key in ["a", "b", "c"] { write(key, mebibyte) }
                write("c", nil)
                for key in ["d", "e"] { write(key, "x") }
                for key in ["d", "e"] { write(key, key == "d" ? mebibyte : "y") }
            }.failure == nil)
        #expect(outcomes == Array(repeating: "ok", count: 8))
        outcomes = []
        let failure = prefs.update {
            for key in ["a", "b", "d"] { write(key, nil) }
            for key in ["a", "b", "c", "e"] { write(key, mebibyte) }
        }.failure
        let tooLarge = "e: the root would be larger than 4 MiB"
        #expect(outcomes == Array(repeating: "ok", count: 6) + [tooLarge] && failure.map { "\($0)" } == tooLarge)
        #expect(prefs["d"] as? Data == mebibyte && prefs["e"] as? String == "y")
    }

    /// What a write removes makes room for what it adds, and for the next write.
    @Test func aRemovalMakesRoomForTheNextWrite() {
        let prefs = AnyPrefs(values: ["a": Data(count: 3 << 20)], store: .memory())
        let error = prefs.update {
            prefs.values = ["b": Data(count: 3 << 20)]
            prefs["c"] = ["x"]
        }.failure
        #expect(error == nil && prefs.values.count == 2)
    }

    /// Another program has made it larger. The file is of our own writer, because Foundation takes a second for so much data.
    @Test func aRootThatIsTooLargeMayShrinkStepByStep() throws {
        let folder = try TemporaryFolder()
        let large = ["a": StoredValue.data(Data(count: 4 << 20)), "b": .data(Data(count: 2 << 20))]
        try PropertyListCoder.encode(.dictionary(["Root": .dictionary(large)]), as: .binary).write(to: folder.file())
        let prefs = AnyPrefs(key: "Root", store: .propertyList(url: folder.file(), durability: .crash))
        let error = prefs.update { for size in [20, 19] { prefs["b"] = [Data(count: 1 << size)] } }.failure
        #expect(error == nil && prefs.outcome == "ok")
        prefs["b"] = [Data(count: 1 << 20)]
        #expect(prefs.outcome == "b: the root would be larger than 4 MiB")
    }

    /// What an update has replaced takes no room any more.
    @Test(arguments: [DomainLayout.roots, .flat]) func aReplacedRootMakesRoom(_ layout: DomainLayout) throws {
        let folder = try TemporaryFolder()
        let store = PrefsStore.propertyList(url: folder.file(), durability: .crash, layout: layout)
        let prefs = AnyPrefs(["a", "b"], key: "root", store: store)
        let large = Data(count: PropertyListLimits.rootBytes / 4 * 3)
        let error = prefs.update {
            prefs["a"] = large
            prefs["b"] = 1
            prefs.deleteRoot()
            prefs["a"] = large
        }.failure
        #expect(error == nil && prefs.values.count == 1)
    }

    /// The keys of all classes are entries of one domain.
    @Test func classesShareTheLimitOfAFlatDomain() throws {
        let folder = try TemporaryFolder()
        let store = PrefsStore.propertyList(url: folder.file(), layout: .flat)
        let one = AnyPrefs(["a", "b"], key: "One", store: store)
        let other = AnyPrefs(["c", "d"], key: "Two", store: store)
        let mebibyte = Data(count: 1 << 20)
        let failure = one.update {
            one["a"] = mebibyte
            other["c"] = mebibyte
            one["b"] = mebibyte
            #expect(one.outcome == "ok" && other.outcome == "ok")
            other["d"] = mebibyte
        }.failure
        #expect(failure.map { "\($0)" } == "d: the root would be larger than 4 MiB")
        #expect(one.values.isEmpty)
    }

    private func lists(_ levels: Int) -> Any {
        (1..<levels).reduce([Any]()) { list, _ in [list] }
    }

    private func dictionaries(_ levels: Int) -> Any {
        (1..<levels).reduce([String: Any]()) { dictionary, _ in ["k": dictionary] }
    }
}
