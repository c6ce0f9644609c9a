@testable import PrefsSupport
import Foundation
import PersistentPreferences
import PrefsStoreKit
import PrefsTestSet
import TestSupport
import Testing

/// The behavior of RVS_PersistentPrefs that this package keeps.
@Suite struct SeedBehaviorTests {
    private let store = PrefsStore.memory()

    @Test func initMergesValuesOverWhatIsStoredOrRejectsThemWhole() {
        _ = AnyPrefs(values: ["a": 1, "b": 2], store: store)
        let second = AnyPrefs(values: ["b": 3, "c": 4], store: store)
        #expect(second.ints == ["a": 1, "b": 3, "c": 4])
        #expect(second.outcome == "ok")
        let third = AnyPrefs(values: ["a": 2, "z": 3], store: store)
        #expect(third.lastError == .incorrectKeys(invalidElements: ["z"]))
        #expect(third.ints == ["a": 1, "b": 3, "c": 4])
    }

    @Test func anOverriddenKeyIsUsedAndReadOnceByEveryAccess() {
        final class Counted: PersistentPrefs, @unchecked Sendable {
            nonisolated(unsafe) var reads = 0
            @Pref var number = 0
            override var allowedKeys: [String] { ["a"] }
            override var key: String {
                get {
                    reads += 1
                    return "counted"
                }
                set { _ = newValue }
            }
        }
        let prefs = Counted(store: store)
        let accesses: [(String, () -> Void)] = [
            ("values", { _ = prefs.values }), ("subscript", { _ = prefs["a"] }),
            ("count", { _ = prefs.visibleCount() }), ("effective values", { _ = prefs.effectiveValues }),
            ("effective value", { _ = prefs.effectiveValue(of: "a") }),
            ("property", { _ = prefs.number }), ("cached property", { _ = prefs.number }),
            ("assigned values", { prefs.values = ["a": 1] }), ("assigned subscript", { prefs["a"] = 2 }),
            ("in place", { prefs.values["a"] = 3 }), ("update", { prefs.update { $0["a"] = 4 } }),
            ("refused", { prefs["z"] = 4 }), ("reload", { prefs.reload() }), ("resetAll", { prefs.resetAll() }),
            ("deleteRoot", { prefs.deleteRoot() }),
        ]
        for (name, access) in accesses {
            if name == "resetAll" { #expect(AnyPrefs(key: "counted", store: store).ints == ["a": 4]) }
            prefs.reads = 0
            access()
            #expect(prefs.reads == 1, "\(name)")
        }
    }

    /// The change belongs to the root that it was read from.
    @Test func anInstanceMovedInTheMiddleOfAChangeInPlaceTakesNothingAlong() {
        _ = AnyPrefs(key: "second", values: ["a": 2], store: store)
        let prefs = AnyPrefs(key: "first", values: ["a": 1], store: store)
        func change(_ values: inout [String: Any]) {
            prefs.key = "second"
            values["b"] = 5
        }
        change(&prefs.values)
        #expect(AnyPrefs(key: "first", store: store).ints == ["a": 1, "b": 5])
        #expect(AnyPrefs(key: "second", store: store).ints == ["a": 2])
    }

    @Test func incorrectKeysAreNamedSortedAndNothingChanges() {
        let prefs = AnyPrefs(values: ["a": 1], store: store)
        prefs.values = ["z": 1, "y": 2, "a": 5]
        #expect(prefs.lastError == .incorrectKeys(invalidElements: ["y", "z"]))
        #expect(prefs.ints == ["a": 1])
        prefs["z"] = 1
        #expect(prefs.outcome == "expected a key that @Pref declares or allowedKeys lists, found \"z\"")
        #expect(prefs["z"] == nil)
        #expect(prefs.outcome == "expected a key that @Pref declares or allowedKeys lists, found \"z\"")
        let error = prefs.update { $0 = ["z": 1] }.failure
        #expect(error.map { "\($0)" } == "expected a key that @Pref declares or allowedKeys lists, found \"z\"")
        #expect(prefs.ints == ["a": 1])
    }

    @Test func valuesAndClearRemoveTheAllowedKeysOnlyAndDeleteAllTheRoot() throws {
        let narrow = AnyPrefs(["a"], key: "root", store: store)
        let wide = AnyPrefs(["a", "b"], key: "root", values: ["a": 1, "b": 2], store: store)
        narrow.values = [:]
        #expect(wide.ints == ["b": 2])
        narrow["a"] = 3
        narrow.resetAll()
        #expect(wide.ints == ["b": 2])
        #expect(narrow.values.isEmpty && narrow.visibleCount() == 0 && narrow.lastError == nil)
        try #expect(store.read(root: "root") != nil)
        narrow.deleteRoot()
        #expect(wide.values.isEmpty && wide.visibleCount() == 0 && wide.lastError == nil)
        try #expect(store.read(root: "root") == nil)
        narrow.deleteRoot()
        #expect(narrow.outcome == "ok")
    }

    @Test func onlyReloadReportsAnAbsentRoot() {
        let prefs = AnyPrefs(store: store)
        #expect(prefs.outcome == "ok")
        _ = prefs.values
        #expect(prefs.outcome == "ok")
        prefs.reload()
        #expect(prefs.lastError == .noStoredPrefsForKey(key: "AnyPrefs"))
        prefs["a"] = 1
        prefs.reload()
        #expect(prefs.outcome == "ok")
    }

    @Test func aKeyNoLongerAllowedIsKeptAndBlocksNothing() throws {
        _ = AnyPrefs(["old", "a"], key: "root", values: ["old": "kept", "a": 1], store: store)
        let prefs = AnyPrefs(["a", "b"], key: "root", store: store)
        #expect(prefs.visibleCount() == 1)
        prefs["a"] = 2
        prefs.values["b"] = 3
        prefs.values = ["a": 4]
        prefs.update { $0["b"] = 5 }
        #expect(prefs.outcome == "ok")
        #expect(prefs.ints == ["a": 4, "b": 5])
        #expect(try store.read(root: "root")?["old"] as? String == "kept")
    }

    @Test func usingTheBaseClassBareStopsWithAMessage() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = PersistentPrefs(store: .memory())
        }
        let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(message.contains("PersistentPrefs is an abstract class: subclass it"))
    }

    /// The members that a subclass may override.
    private final class OverridingPrefs: PersistentPrefs, @unchecked Sendable {
        nonisolated(unsafe) var calls: [String] = []
        override var allowedKeys: [String] { ["a"] }
        override var values: [String: Any] {
            get { super.values.merging(["b": 1]) { $1 } }
            set {
                calls.append("values")
                super.values = newValue.filter { $0.key != "b" }
            }
        }
        override subscript(key: String) -> Any? {
            get { key == "b" ? 1 : super[key] }
            set {
                calls.append("subscript")
                super[key] = newValue
            }
        }
    }

    @Test func overridesAreCalled() {
        let prefs: PersistentPrefs = OverridingPrefs(store: .memory())
        prefs["a"] = 1
        prefs.values["a"] = 2
        #expect(prefs.values["a"] as? Int == 2 && prefs["b"] as? Int == 1 && prefs.lastError == nil)
        #expect((prefs as? OverridingPrefs)?.calls == ["subscript", "values"])
    }

    /// The test that RVS_PersistentPrefs has commented out: two operation queues on one instance.
    @Test func theSeedsFailingScenarioPassesEachTime() throws {
        let folder = try TemporaryFolder()
        let prefs = PrefsTestSet(store: .propertyList(url: folder.file(), durability: .crash))
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
}
