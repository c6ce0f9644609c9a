@testable import PrefsSupport
import Foundation
import PersistentPreferences
import PrefsTestSet
import Testing

/// Many threads on one root, with exact oracles.
@Suite(.timeLimit(.minutes(10))) struct ThreadHazardTests {
    private let folder = TemporaryFolder.fresh

    private func makePrefs() -> PrefsTestSet {
        // A new store each time, so that the instances share only the file.
        PrefsTestSet(store: PropertyListFileStore(url: folder.file()))
    }

    @Test func theIncrementsOfEightThreadsAddUp() throws {
        let increments = Hazard.count(100, long: 1_000)
        inThreads(8) { _ in
            for _ in 0..<increments {
                let prefs = makePrefs()
                let error = prefs.update { $0[prefs.intKey] = ($0[prefs.intKey] as? Int ?? 0) + 1 }
                if let error { Issue.record("\(error)") }
            }
        }
        #expect(makePrefs().int == 8 * increments)
        let root = try propertyList(at: folder.file())["PrefsTestSet"] as? [String: Any]
        #expect(root?["Integer Value"] as? Int == 8 * increments)
    }

    @Test func eightThreadsSettingEightKeysLoseNone() {
        let names = (0..<8).map { "key \($0)" }
        let store = PropertyListFileStore(url: folder.file())
        inThreads(8) { number in
            let prefs = AnyPrefs(names, store: store)
            for value in 1...50 {
                switch number % 3 {
                case 0: prefs.values[names[number]] = value
                case 1: prefs[names[number]] = value
                default: prefs.update { $0[names[number]] = value }
                }
                if prefs[names[number]] as? Int != value { Issue.record("\(number): \(value) was not read back") }
            }
        }
        let expected = Dictionary(uniqueKeysWithValues: names.map { ($0, 50) })
        #expect(AnyPrefs(names, store: store).ints == expected)
    }

    /// The test that RVS_PersistentPrefs has commented out, because it crashes there: two operation queues on one
    /// instance.
    @Test func theSeedsFailingScenarioPassesEachTime() {
        let prefs = PrefsTestSet(store: PropertyListFileStore(url: folder.file(), durability: .process))
        for _ in 0..<Hazard.count(15, long: 100) {
            let queues = [OperationQueue(), OperationQueue()]
            for round in 0..<30 {
                for queue in queues {
                    queue.addOperation { prefs.int = round }
                    queue.addOperation { prefs.string = "\(round)" }
                }
            }
            queues.forEach { $0.waitUntilAllOperationsAreFinished() }
            if !(0..<30).contains(prefs.int) || Int(prefs.string) == nil || prefs.lastError != nil {
                Issue.record("\(prefs.values) \(prefs.outcome)")
            }
        }
    }

    @Test(arguments: [true, false])
    func readersAlwaysSeeWholeUpdates(_ onDisk: Bool) {
        let store: any PrefsStore =
            onDisk ? PropertyListFileStore(url: folder.file(), durability: .process) : InMemoryStore()
        let prefs = AnyPrefs(values: ["a": 0, "b": 0], store: store)
        inThreads(4) { number in
            for value in 1...200 {
                if number == 0 {
                    prefs.update {
                        prefs["a"] = value
                        prefs["b"] = -value
                    }
                } else {
                    let seen = prefs.ints
                    if (seen["a"] ?? 1) + (seen["b"] ?? 1) != 0 { Issue.record("half an update: \(seen)") }
                }
            }
        }
        #expect(prefs.ints == ["a": 200, "b": -200])
    }

    @Test func updateReturnsTheErrorOfThatVeryCall() {
        let prefs = AnyPrefs(store: InMemoryStore())
        inThreads(8) { number in
            for _ in 0..<200 {
                let isGood = number.isMultiple(of: 2)
                let error = prefs.update { $0[isGood ? "a" : "unknown"] = number }
                if (error == nil) != isGood { Issue.record("the error of another thread") }
            }
        }
    }

    @Test func instancesComeAndGoWhileRootsAreDeleted() {
        inThreads(6) { number in
            for _ in 0..<50 {
                let prefs = makePrefs()
                switch number {
                case 0: prefs.deleteAll()
                case 1: prefs.reset()
                case 2: prefs.clear()
                case 3: prefs.key = ["PrefsTestSet", "Other"].randomElement() ?? ""
                default: prefs.int += 1
                }
                if let error = prefs.lastError { Issue.record("\(error)") }
            }
        }
    }
}
